// `npm run bench`: this package and the SDK side by side. `npm run bench -- recall add` runs those groups only.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { add } from './add.mjs'
import { bm25 } from './bm25.mjs'
import { keywordSearch } from './keyword-search.mjs'
import { recall } from './recall.mjs'
import { residentSet } from './resident-set.mjs'
import { storage } from './storage.mjs'
import { printTitle } from './table.mjs'
import { tokens } from './tokens.mjs'

const groups = { recall, add, tokens, memory: residentSet, storage, search: keywordSearch, bm25 }

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !(name in groups))
if (unknown.length > 0) {
  console.error(`unknown groups: ${unknown.join(', ')}. There are: ${Object.keys(groups).join(', ')}`)
  process.exit(1)
}

const scratch = mkdtempSync(join(tmpdir(), 'strands-native-bench-'))
try {
  console.log(
    `Node ${process.versions.node}, ${availableParallelism()} CPUs. Figures are medians of interleaved rounds:`,
  )
  console.log('compare the ratios, the times are those of this machine.')
  for (const [name, run] of Object.entries(groups)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    printTitle(name)
    const folder = join(scratch, name)
    mkdirSync(folder)
    await run(folder)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
