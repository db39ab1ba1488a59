// A worker thread that starts adds, searches and writes without end, until it is terminated.
import { parentPort, workerData } from 'node:worker_threads'
import { load } from './implementation.mjs'

const { InMemoryStorage, LocalFileStorage, TestMemoryStore } = await load('native')
const { directory, number } = workerData
const store = new TestMemoryStore({ name: 'n', path: `${directory}/notes.json` })
const files = new LocalFileStorage(`${directory}/files`)
const memory = new InMemoryStorage()

parentPort.postMessage('started')
for (let round = 0; ; round += 1) {
  const content = `worker_${number}_${round % 5} `
  memory.write('k', new Uint8Array(10))
  store.add(' ').catch(() => {})
  store.add(`${content}text`)
  files.write(`key_${round % 3}`, new Uint8Array(100_000).fill(round))
  await Promise.race([store.search(content), files.search(content)])
}
