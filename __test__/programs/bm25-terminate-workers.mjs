// Starts 60 worker threads, six at a time, and terminates each in the midst of its work: <directory> <seed>.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const [directory, seed] = process.argv.slice(2)
const { LocalFileStorage } = await load('native')
// Park and Miller's generator: the same pauses for the same seed.
let state = Number(seed)
const random = () => {
  state = (state * 48_271) % 0x7fff_ffff
  return state / 0x7fff_ffff
}

async function runOne(number) {
  const program = new URL('bm25-interrupted-worker.mjs', import.meta.url)
  const worker = new Worker(program, { workerData: { directory, number } })
  const failed = once(worker, 'error').then(([error]) => {
    throw error
  })
  failed.catch(() => {})
  // Some end while they load the addon, most while they work.
  if (number % 10 !== 0) await Promise.race([once(worker, 'message'), failed])
  await sleep(random() * 20)
  await worker.terminate()
}

let next = 0
await Promise.all(
  Array.from({ length: 6 }, async () => {
    while (next < 60) {
      next += 1
      await runOne(next)
    }
  }),
)
// No lock may be left behind: this would wait for ever.
const strategy = new Bm25SearchStrategy()
const storage = new LocalFileStorage(`${directory}/memory`, { searchStrategy: strategy })
await storage.write('last.md', new TextEncoder().encode('zebra after all of them'))
await strategy.backfill(storage)
const found = (await storage.search('zebra')).map(({ key }) => key).sort()
console.log(JSON.stringify({ workers: next, found, keys: await storage.list('') }))
