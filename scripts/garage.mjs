// A distributed S3 store on this machine: a Garage cluster of three nodes on the loopback address, each object on all
// three. Its files are in the system's folder for scratch files, and go when it is stopped.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run, succeed } from './commands.mjs'
import { freePort, until } from './moto.mjs'

const VERSION = '2.5.0'
const NODES = 3
const BUCKET = 'strands-test'

/** The program: the one that the environment names, one of that version on the PATH, or one that is built once. */
export async function findGarage() {
  const cache = join(root, 'target/garage')
  const built = join(cache, 'bin/garage')
  for (const program of [process.env.GARAGE, 'garage', built]) {
    if (program && (await versionOf(program)) === VERSION) return program
  }
  if (process.env.GARAGE) throw new Error(`GARAGE is not the path of a garage ${VERSION}`)
  console.log(`building garage ${VERSION}, which takes some minutes, once`)
  await succeed('cargo', ['install', 'garage', '--version', VERSION, '--locked', '--root', cache])
  return built
}

async function versionOf(program) {
  try {
    const { stdout } = await run(program, ['--version'], { quiet: true })
    return /(\d+\.\d+\.\d+)/.exec(stdout)?.[1]
  } catch {
    return undefined
  }
}

/**
 * Starts a cluster with one bucket: how tests reach each node, and functions that kill, restart and stop.
 */
export async function startGarage() {
  const program = await findGarage()
  const folder = mkdtempSync(join(tmpdir(), 'strands-native-garage-'))
  const secret = randomBytes(32).toString('hex')
  const keyId = `GK${randomBytes(12).toString('hex')}`
  const secretKey = randomBytes(32).toString('hex')
  const nodes = []
  for (let number = 0; number < NODES; number++) nodes.push(await configure(join(folder, String(number)), secret))
  const garage = (node, ...args) => succeed(program, ['-c', node.config, ...args], { quiet: true, env: quietEnv })

  const start = async (node) => {
    node.process = spawn(program, ['-c', node.config, 'server'], { stdio: 'ignore', env: quietEnv })
    await until(async () => Boolean(await fetch(node.endpoint)), 'garage')
  }
  const kill = async (node) => {
    if (!node.process || node.process.exitCode !== null || node.process.signalCode !== null) return
    const ended = once(node.process, 'exit')
    node.process.kill('SIGKILL')
    await ended
  }
  const stop = async () => {
    await Promise.all(nodes.map(kill))
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    await Promise.all(nodes.map(start))
    const [first, ...others] = nodes
    for (const node of others) await garage(first, 'node', 'connect', (await garage(node, 'node', 'id', '-q')).trim())
    for (const node of nodes) {
      const id = (await garage(node, 'node', 'id', '-q')).split('@')[0]
      await garage(first, 'layout', 'assign', '-z', 'here', '-c', '1G', id)
    }
    await garage(first, 'layout', 'apply', '--version', '1')
    const create = () => garage(first, 'bucket', 'create', BUCKET).then(() => true)
    await until(create, 'the layout of the cluster')
    await garage(first, 'key', 'import', '--yes', '-n', 'tests', keyId, secretKey)
    await garage(first, 'bucket', 'allow', '--read', '--write', '--owner', BUCKET, '--key', keyId)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    nodes,
    env: {
      STRANDS_TEST_S3_ENDPOINT: nodes[0].endpoint,
      STRANDS_TEST_S3_REGION: 'garage',
      STRANDS_TEST_S3_BUCKET: BUCKET,
      STRANDS_TEST_S3_ACCESS_KEY_ID: keyId,
      STRANDS_TEST_S3_SECRET_ACCESS_KEY: secretKey,
    },
    kill,
    restart: start,
    stop,
  }
}

const quietEnv = { ...process.env, RUST_LOG: 'garage=error' }

async function configure(folder, secret) {
  mkdirSync(folder)
  const [rpc, s3, admin] = [await freePort(), await freePort(), await freePort()]
  const config = join(folder, 'garage.toml')
  const lines = [
    `metadata_dir = "${folder}/meta"`,
    `data_dir = "${folder}/data"`,
    'db_engine = "sqlite"',
    `replication_factor = ${NODES}`,
    `rpc_bind_addr = "127.0.0.1:${rpc}"`,
    `rpc_public_addr = "127.0.0.1:${rpc}"`,
    `rpc_secret = "${secret}"`,
    '[s3_api]',
    's3_region = "garage"',
    `api_bind_addr = "127.0.0.1:${s3}"`,
    '[admin]',
    `api_bind_addr = "127.0.0.1:${admin}"`,
  ]
  writeFileSync(config, `${lines.join('\n')}\n`, { mode: 0o600 })
  return { config, endpoint: `http://127.0.0.1:${s3}` }
}
