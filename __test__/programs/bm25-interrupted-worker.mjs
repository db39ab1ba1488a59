// A worker thread that writes, deletes, searches and backfills without end, until it is terminated.
import { parentPort, workerData } from 'node:worker_threads'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const { InMemoryStorage, LocalFileStorage } = await load('native')
const { directory, number } = workerData
const strategy = new Bm25SearchStrategy()
const storage = new LocalFileStorage(`${directory}/memory`, { searchStrategy: strategy })
const memory = new InMemoryStorage()
const ofMemory = new Bm25SearchStrategy({ dbPath: `${directory}/memory-${number % 4}.sqlite` })
// A storage in JavaScript, which the index's thread has to ask for everything.
const plain = {
  list: () => memory.list(''),
  read: (key) => memory.read(key),
  write: async () => {},
  delete: async () => {},
}
const encode = (text) => new TextEncoder().encode(text)

parentPort.postMessage('started')
for (let round = 0; ; round += 1) {
  const text = encode(`zebra worker${number}round${round}x`)
  storage.write(`key-${number % 10}-${round % 5}.md`, text)
  storage.delete(`key-${number % 10}-${(round + 2) % 5}.md`)
  strategy.backfill(storage, { onProgress: () => {} }).catch(() => {})
  memory.write(`k${round % 20}`, text)
  ofMemory.backfill(plain, { onProgress: () => {} }).catch(() => {})
  if (round % 7 === 0) strategy.close()
  await Promise.race([storage.search('zebra'), ofMemory.search(plain, 'zebra')])
}
