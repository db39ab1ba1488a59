// A worker thread that writes, searches and lists in S3 without end, until it is terminated.
import { parentPort, workerData } from 'node:worker_threads'
import { S3Client } from '@aws-sdk/client-s3'
import { load } from './implementation.mjs'

const { S3Storage } = await load('native')
const { endpoint, region, bucket, credentials, prefix, number } = workerData
const settings = { endpoint, region, credentials, forcePathStyle: true }
const storages = [
  new S3Storage(bucket, { prefix, ...settings, credentials: async () => credentials }),
  new S3Storage(bucket, { prefix, s3Client: new S3Client(settings) }),
]

parentPort.postMessage('started')
for (let round = 0; ; round += 1) {
  for (const [index, storage] of storages.entries()) {
    storage.write(`key_${index}`, new Uint8Array(10_000).fill(number)).catch(() => {})
    storage.list('..').catch(() => {})
    storage.list('').catch(() => {})
  }
  await Promise.race(storages.map((storage) => storage.search(`round_${round}`)))
}
