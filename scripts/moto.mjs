// A quick S3 server on this machine: moto, from the tests' virtual environment.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { root } from './commands.mjs'

/** A server that has not answered after this time never will. */
const START_MS = 60_000

/** A port of the loopback address that nobody listens on. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Waits until `probe` resolves to something true. */
export async function until(probe, what) {
  const end = Date.now() + START_MS
  while (!(await probe().catch(() => false))) {
    if (Date.now() > end) throw new Error(`${what} did not come up within ${START_MS / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Starts the server with one bucket: how tests reach it, and a function that stops it. */
export async function startMoto(bucket = 'strands-test') {
  const port = await freePort()
  const program = join(root, '__test__/python/s3_server.py')
  const server = spawn(join(root, '.venv/bin/python'), [program, String(port)], { stdio: 'ignore' })
  const failed = once(server, 'exit').then(() => {
    throw new Error(`${program} ended: \`npm test\` installs what it needs`)
  })
  failed.catch(() => {})
  const endpoint = `http://127.0.0.1:${port}`
  const create = async () => (await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).ok
  await Promise.race([until(create, 'moto'), failed])
  return {
    env: {
      STRANDS_TEST_S3_ENDPOINT: endpoint,
      STRANDS_TEST_S3_REGION: 'us-east-1',
      STRANDS_TEST_S3_BUCKET: bucket,
      STRANDS_TEST_S3_ACCESS_KEY_ID: 'test',
      STRANDS_TEST_S3_SECRET_ACCESS_KEY: 'test',
    },
    async stop() {
      if (server.exitCode !== null) return
      server.kill('SIGKILL')
      await once(server, 'exit')
    },
  }
}
