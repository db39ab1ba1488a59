// A worker thread that writes `count` entries into `folder` with a BM25 index, and then reports how many it finds.
import { parentPort, workerData } from 'node:worker_threads'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const { LocalFileStorage } = await load('native')
const { folder, label, count } = workerData
const storage = new LocalFileStorage(folder, { searchStrategy: new Bm25SearchStrategy() })
const numbers = Array.from({ length: count }, (_, number) => number)
const write = (n) => storage.write(`${label}-${n}.md`, new TextEncoder().encode(`zebra ${label}word${n}x`))
await Promise.all(numbers.map(write))
const found = await Promise.all(numbers.map((n) => storage.search(`${label}word${n}x`)))
parentPort.postMessage(found.filter((results) => results.length === 1).length)
