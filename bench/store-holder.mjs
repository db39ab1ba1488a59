// A process that holds one store, and prints by how many bytes it has grown. Arguments: whose store, its path, and
// what to ask of it. It makes no texts itself: what they leave in the heap would blur the figures.

import { ours, sdk } from './contenders.mjs'
import { settledResidentSet } from './settled-resident-set.mjs'

const [name, path, ...questions] = process.argv.slice(2)
const { TestMemoryStore } = name === 'ours' ? ours : sdk

const before = await settledResidentSet()
const store = new TestMemoryStore({ name: 'bench', path })
for (const text of questions) await store.search(text)
const afterRecalls = (await settledResidentSet()) - before
await store.add(`Added by process ${process.pid}.`)
await store.search(questions[0])
const afterAdd = (await settledResidentSet()) - before
// Node gives kibibytes here.
const peak = process.resourceUsage().maxRSS * 1024 - before
console.log(JSON.stringify({ afterRecalls, afterAdd, peak }))
