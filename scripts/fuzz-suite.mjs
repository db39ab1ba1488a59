// Runs each fuzz target of fuzz/: `npm run fuzz`, or for so many seconds each, `FUZZ_SECONDS=600 npm run fuzz`.
// `cargo fuzz run <target>` does the same where a nightly toolchain and cargo-fuzz are installed.

import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root, succeed } from './commands.mjs'
import { check } from './tally.mjs'

/** What cargo-fuzz has the compiler put in, so that libFuzzer sees which inputs lead to new places. */
const INSTRUMENTED = [
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
  // A contradiction is a fault here too, in an optimised build.
  '-Cdebug-assertions',
].join(' ')

const { FUZZ_SECONDS } = process.env
const LIMIT = FUZZ_SECONDS ? `-max_total_time=${FUZZ_SECONDS}` : '-runs=50000'

export async function fuzz() {
  const host = /^host: (\S+)$/m.exec(await succeed('rustc', ['-vV'], { quiet: true }))[1]
  const targetDir = join(root, 'target/fuzz')
  // With a target given, build scripts and macros are left as they are.
  const cargo = ['build', '--release', '--manifest-path', 'fuzz/Cargo.toml', '--target', host]
  const env = { ...process.env, RUSTFLAGS: INSTRUMENTED, CARGO_TARGET_DIR: targetDir }
  if (!(await check(`cargo ${cargo.join(' ')}`, () => succeed('cargo', cargo, { env })))) return
  for (const file of readdirSync(join(root, 'fuzz/fuzz_targets'))) {
    const name = file.replace(/\.rs$/, '')
    const corpus = join(targetDir, 'corpus', name)
    mkdirSync(corpus, { recursive: true })
    const options = [LIMIT, '-seed=1', '-max_len=4096', '-timeout=60', `-artifact_prefix=${targetDir}/`, corpus]
    await check(`fuzz ${name}`, () => succeed(join(targetDir, host, 'release', name), options, { quiet: true }))
  }
}
