// Starts 200 worker threads, eight at a time, and terminates each in the midst of its work: <directory> <seed>.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { load } from './implementation.mjs'

const [directory, seed] = process.argv.slice(2)
const { TestMemoryStore } = await load('native')
// Park and Miller's generator: the same pauses for the same seed.
let state = Number(seed)
const random = () => {
  state = (state * 48_271) % 0x7fff_ffff
  return state / 0x7fff_ffff
}

async function runOne(number) {
  const worker = new Worker(new URL('interrupted-worker.mjs', import.meta.url), { workerData: { directory, number } })
  const failed = once(worker, 'error').then(([error]) => {
    throw error
  })
  failed.catch(() => {})
  // Some end while they load the addon, most while they work.
  if (number % 10 !== 0) await Promise.race([once(worker, 'message'), failed])
  await sleep(random() * 8)
  await worker.terminate()
}

let next = 0
await Promise.all(
  Array.from({ length: 8 }, async () => {
    while (next < 200) {
      next += 1
      await runOne(next)
    }
  }),
)
// No lock may be left behind: this would wait for ever.
await new TestMemoryStore({ name: 'n', path: `${directory}/notes.json` }).add('after all of them')
console.log(JSON.stringify({ workers: next }))
