// A process that indexes the files of a folder, and prints by how many bytes it has grown. Arguments: whose index, the
// folder, and what to search for.

import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ours } from './contenders.mjs'
import { minisearch, orama } from './other-indexes.mjs'
import { settledResidentSet } from './settled-resident-set.mjs'

const [name, folder, query] = process.argv.slice(2)

const before = await settledResidentSet()
const search = await { ours: fill, MiniSearch: () => add(minisearch()), Orama: () => add(orama()) }[name]()
const indexed = (await settledResidentSet()) - before
for (let times = 0; times < 5; times++) await search()
const searched = (await settledResidentSet()) - before
// Node gives kibibytes here.
const peak = process.resourceUsage().maxRSS * 1024 - before
console.log(JSON.stringify({ indexed, searched, peak }))

async function fill() {
  const dbPath = join(dirname(folder), `${process.pid}.sqlite`)
  process.on('exit', () => {
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${dbPath}${suffix}`, { force: true })
  })
  const strategy = new ours.Bm25SearchStrategy({ dbPath })
  const storage = new ours.LocalFileStorage(folder)
  await strategy.backfill(storage)
  return () => strategy.search(storage, query)
}

async function add(index) {
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.md'))
  for (const file of files) await index.add(file, readFileSync(join(folder, file), 'utf8'))
  return () => index.search(query, files.length)
}
