// `npm run bench:s3`: our S3Storage and the SDK's on one server of this machine, a Garage cluster of three nodes.
// `npm run bench:s3 -- moto` takes moto in its place.

import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { startGarage } from '../scripts/garage.mjs'
import { startMoto } from '../scripts/moto.mjs'
import { buildAddon, installNodePackages, installPythonSdk } from '../scripts/setup.mjs'
import { race } from './race.mjs'
import { printSpeedUp, printTitle } from './table.mjs'
import { longText, question } from './texts.mjs'

const ENTRIES = 1_000
const IN_FLIGHT = 64
const value = new TextEncoder().encode(longText(400))
const questions = Array.from({ length: 16 }, question)

await installNodePackages()
await buildAddon()
const { ours, sdk } = await import('./contenders.mjs')
const { S3Client } = await import('@aws-sdk/client-s3')

const isMoto = process.argv[2] === 'moto'
if (isMoto) await installPythonSdk()
const server = await (isMoto ? startMoto() : startGarage())
try {
  await compare(server.env)
} finally {
  await server.stop()
}

async function compare(env) {
  console.log(
    `Node ${process.versions.node}, ${availableParallelism()} CPUs, ${isMoto ? 'moto' : 'three nodes of Garage'}.`,
  )
  console.log('Medians of interleaved rounds: compare the ratios. The server takes its share of all times.')
  const bucket = env.STRANDS_TEST_S3_BUCKET
  const settings = {
    endpoint: env.STRANDS_TEST_S3_ENDPOINT,
    region: env.STRANDS_TEST_S3_REGION,
    forcePathStyle: true,
    credentials: {
      accessKeyId: env.STRANDS_TEST_S3_ACCESS_KEY_ID,
      secretAccessKey: env.STRANDS_TEST_S3_SECRET_ACCESS_KEY,
    },
  }
  // One client for all storages of the SDK, as a program would have it: connections are made once.
  const s3Client = new S3Client(settings)
  const open = {
    ours: (prefix) => new ours.S3Storage(bucket, { prefix, ...settings }),
    client: (prefix) => new ours.S3Storage(bucket, { prefix, s3Client }),
    sdk: (prefix) => new sdk.S3Storage(bucket, { prefix, s3Client }),
  }
  const prefix = `bench/${randomUUID()}`
  const storages = Object.fromEntries(Object.entries(open).map(([name, at]) => [name, at(`${prefix}/${name}`)]))
  const each = (contender) => Object.fromEntries(Object.keys(open).map((name) => [name, contender(name)]))
  const print = (what, times, floor) => {
    printSpeedUp(what, times.ours, ['SDK', times.sdk], floor)
    printSpeedUp('... through an s3Client', times.client, ['SDK', times.sdk])
  }
  const keyOf = (index) => `notes/${index % ENTRIES}.md`
  const thousand = { calls: ENTRIES, rounds: 5, inFlight: IN_FLIGHT }

  printTitle('s3')
  const write = (name) => ({ call: (index) => storages[name].write(keyOf(index), value) })
  print(`write, 400 bytes, 1,000 with ${IN_FLIGHT} in flight`, await race(each(write), thousand), 1)
  const read = (name) => ({ call: (index) => storages[name].read(keyOf(index)) })
  print(`read, 1,000 with ${IN_FLIGHT} in flight`, await race(each(read), thousand), 1)
  const alone = (name) => ({ call: (index) => storages[name].read(keyOf(index)) })
  print('read, one at a time', await race(each(alone), { calls: 100, rounds: 5 }))

  const searched = `${prefix}/ours`
  // A storage searches for the first time once.
  const first = (name) => {
    let storage
    const before = async () => {
      storage = open[name](searched)
      await storage.read('absent')
    }
    return { before, call: (index) => storage.search(questions[index % questions.length]) }
  }
  print('keyword search over 1,000 objects, first', await race(each(first), { calls: 1, rounds: 3 }), 3)
  const again = Object.fromEntries(Object.entries(open).map(([name, at]) => [name, at(searched)]))
  for (const storage of Object.values(again)) await storage.search(questions[0])
  const repeated = (name) => ({ call: (index) => again[name].search(questions[index % questions.length]) })
  print('keyword search over 1,000 objects, repeated', await race(each(repeated), { calls: 1, rounds: 3 }), 20)
}
