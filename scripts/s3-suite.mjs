// S3Storage on a real distributed store: the suites of all storages and of S3, and what becomes of a load of writes and
// searches while one of the nodes is killed.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { startGarage } from './garage.mjs'
import { check } from './tally.mjs'

const SUITES = ['storage.test', 'storage-search.test', 'sdk-subsystems.test', '__test__/s3-', '__test__/cluster/']
const WRITES = 600
const IN_FLIGHT = 16

/** All of it. `vitest` runs suites in an environment. */
export async function testS3(vitest) {
  const cluster = await startGarage()
  try {
    await vitest(SUITES, { ...cluster.env, STRANDS_TEST_BACKEND: 'S3Storage', STRANDS_TEST_CLUSTER: 'yes' })
    for (const [name, open] of Object.entries(await contenders(cluster))) {
      await check(`${name}: what was written while a node was killed and came back is there, once and whole`, () =>
        loseNode(cluster, open),
      )
    }
  } finally {
    await cluster.stop()
  }
}

/** Each way to open a storage at a node. */
async function contenders({ env }) {
  const { S3Client } = await import('@aws-sdk/client-s3')
  const sdk = await import('@strands-agents/sdk/storage')
  const ours = await import('strands-native/storage')
  const bucket = env.STRANDS_TEST_S3_BUCKET
  const settings = (node) => ({
    endpoint: node.endpoint,
    region: env.STRANDS_TEST_S3_REGION,
    forcePathStyle: true,
    credentials: {
      accessKeyId: env.STRANDS_TEST_S3_ACCESS_KEY_ID,
      secretAccessKey: env.STRANDS_TEST_S3_SECRET_ACCESS_KEY,
    },
  })
  const withClient = ({ S3Storage }) => {
    return (node, prefix) => new S3Storage(bucket, { prefix, s3Client: new S3Client(settings(node)) })
  }
  return {
    'the S3Storage of the SDK': withClient(sdk),
    'our S3Storage': (node, prefix) => new ours.S3Storage(bucket, { prefix, ...settings(node) }),
    'our S3Storage with an s3Client': withClient(ours),
  }
}

const keyOf = (number) => `entries/${number}.md`
// From a few bytes, which Garage keeps beside the name, to several blocks.
const textOf = (number) => `entry ${number} ${'x'.repeat(number % 7 === 0 ? 2_500_000 : (number % 5) * 3_000)} end`

async function loseNode(cluster, open) {
  const prefix = `load/${randomUUID()}`
  const [asked, lost] = cluster.nodes
  const storage = open(asked, prefix)
  const acknowledged = new Set()
  const events = { [WRITES / 4]: () => cluster.kill(lost), [WRITES / 2]: () => cluster.restart(lost) }
  const running = []
  let next = 0
  const write = async () => {
    while (next < WRITES) {
      const number = next++
      // What is not acknowledged may or may not be there. The store is there without one of three nodes: few are.
      await storage.write(keyOf(number), Buffer.from(textOf(number))).then(
        () => acknowledged.add(number),
        () => {},
      )
      if (events[number]) running.push(events[number]())
    }
  }
  let searches = 0
  const search = async () => {
    while (next < WRITES) {
      const hits = await storage.search('entry')
      searches += 1
      equal(new Set(hits.map(({ key }) => key)).size, hits.length)
      for (const { key, data } of hits) if (data) ok(Buffer.from(data).equals(Buffer.from(textOf(numberOf(key)))), key)
    }
  }
  await Promise.all([...Array.from({ length: IN_FLIGHT }, write), search()])
  await Promise.all(running)
  ok(acknowledged.size > WRITES * 0.9, `only ${acknowledged.size} of ${WRITES} writes were acknowledged`)
  ok(searches > 0)
  for (const node of cluster.nodes) {
    const there = open(node, prefix)
    const keys = await there.list('')
    deepEqual(keys, [...new Set(keys)].sort())
    const missing = [...acknowledged].filter((number) => !keys.includes(keyOf(number)))
    deepEqual(missing, [])
    for (let start = 0; start < keys.length; start += IN_FLIGHT) {
      await Promise.all(
        keys.slice(start, start + IN_FLIGHT).map(async (key) => {
          ok(Buffer.from(await there.read(key)).equals(Buffer.from(textOf(numberOf(key)))), `${key} is not whole`)
        }),
      )
    }
  }
}

const numberOf = (key) => Number(/\d+/.exec(key)[0])
