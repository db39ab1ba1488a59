// The memory that a process takes to hold a large store, beside the size of the store's file.

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeMemoryFile } from './memory-file.mjs'
import { median } from './race.mjs'
import { printSize } from './table.mjs'
import { question } from './texts.mjs'

const RECORDS = 100_000
const CHILDREN = 3
const questions = Array.from({ length: 5 }, question)
const HOLDER = fileURLToPath(new URL('store-holder.mjs', import.meta.url))

export async function residentSet(folder) {
  const path = join(folder, 'memory.json')
  for (const [name, ceiling] of [['ours', 4], ['sdk']]) {
    await writeMemoryFile(path, RECORDS)
    const bytes = statSync(path).size
    const children = Array.from({ length: CHILDREN }, () =>
      JSON.parse(execFileSync(process.execPath, ['--expose-gc', HOLDER, name, path, ...questions])),
    )
    const of = (figure) => median(children.map((child) => child[figure]))
    const what = `${RECORDS.toLocaleString('en')} records in memory${name === 'sdk' ? ', the SDK' : ''}`
    printSize(`${what}, after recalls`, of('afterRecalls'), ['file', bytes], ceiling)
    printSize(`${what}, after an add too`, of('afterAdd'), ['file', bytes], ceiling)
    printSize(`${what}, at the peak`, of('peak'), ['file', bytes])
  }
}
