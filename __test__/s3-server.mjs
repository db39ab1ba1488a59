// Starts an S3 server for the suites, unless the environment names one, and gives what stops it.
import { startMoto } from '../scripts/moto.mjs'

export default async function setup() {
  if (process.env.STRANDS_TEST_S3_ENDPOINT !== undefined) return undefined
  const { env, stop } = await startMoto()
  Object.assign(process.env, env)
  return stop
}
