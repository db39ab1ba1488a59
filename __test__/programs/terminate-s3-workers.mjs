// Starts 24 worker threads that use S3, four at a time, and terminates each in the midst of its work: <data>.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'

const data = JSON.parse(process.argv[2])

async function runOne(number) {
  const workerData = { ...data, number }
  const worker = new Worker(new URL('interrupted-s3-worker.mjs', import.meta.url), { workerData })
  const failed = once(worker, 'error').then(([error]) => {
    throw error
  })
  failed.catch(() => {})
  await Promise.race([once(worker, 'message'), failed])
  // Pauses of different lengths end them at different points.
  await sleep((number * 37) % 90)
  await worker.terminate()
}

let next = 0
const runners = Array.from({ length: 4 }, async () => {
  while (next < 24) {
    next += 1
    await runOne(next)
  }
})
await Promise.all(runners)
console.log(JSON.stringify({ workers: next }))
