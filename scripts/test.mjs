// Runs suites and counts their tests: `node scripts/test.mjs lint rust fuzz vitest types package s3 declarations`.
// The order is always the one below. Installs and builds what is missing first, so a fresh clone needs nothing else.

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, run, succeed } from './commands.mjs'
import { fuzz } from './fuzz-suite.mjs'
import { testPackage } from './package-suite.mjs'
import { testS3 } from './s3-suite.mjs'
import { buildAddon, installNodePackages, installPythonSdk } from './setup.mjs'
import { check, count, report } from './tally.mjs'

const CORE = ['--no-default-features']
const bin = (name) => join(root, 'node_modules/.bin', name)
const command = (program, ...args) => check([program, ...args].join(' '), () => succeed(program, args))

async function lint() {
  await command('cargo', 'fmt', '--check')
  await command('cargo', 'clippy', '--all-targets', ...CORE, '--', '-D', 'warnings')
  await command('cargo', 'clippy', '--all-targets', '--', '-D', 'warnings')
  await check('biome', () => succeed(bin('biome'), ['check', '--error-on-warnings', '--diagnostic-level=warn', '.']))
}

async function rust() {
  await check('the core has no napi in its dependencies', async () => {
    const tree = await succeed('cargo', ['tree', ...CORE, '-e', 'normal'], { quiet: true })
    if (/\bnapi/.test(tree)) throw new Error(tree)
  })
  await cargoTest(...CORE)
  await cargoTest()
}

async function cargoTest(...args) {
  const { code, stdout } = await run('cargo', ['test', ...args])
  const results = [...stdout.matchAll(/^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored/gm)]
  const [passed, failed, ignored] = [1, 2, 3].map((group) => results.reduce((sum, result) => sum + +result[group], 0))
  countSuite(['cargo test', ...args].join(' '), code, passed, failed + ignored)
}

async function vitest() {
  await installPythonSdk()
  await runVitest([])
}

/** Runs the suites whose paths hold one of these, or all. */
async function runVitest(paths, env = {}) {
  const results = join(root, 'target/vitest.json')
  rmSync(results, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${results}`]
  const { code } = await run(bin('vitest'), ['run', ...reporters, ...paths], { env: { ...process.env, ...env } })
  const { numTotalTests = 0, numPassedTests = 0 } = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {}
  countSuite(['vitest', ...paths].join(' '), code, numPassedTests, numTotalTests - numPassedTests)
}

/** A test that was skipped counts as failed, and so does a suite that breaks without naming a test. */
function countSuite(name, code, passed, failed) {
  count(name, passed, code === 0 ? failed : Math.max(failed, 1))
}

async function types() {
  const projects = readdirSync(join(root, '__test__/types')).filter((file) => /^tsconfig\..+\.json$/.test(file))
  if (projects.length === 0) throw new Error('there are no type tests')
  for (const project of ['__test__', ...projects.map((file) => `__test__/types/${file}`)]) {
    await check(`tsc -p ${project}`, () => succeed(bin('tsc'), ['-p', project]))
  }
}

const suites = {
  lint,
  rust,
  fuzz,
  vitest,
  types,
  package: testPackage,
  s3: () => testS3(runVitest),
  declarations: () =>
    check('index.d.ts is what the sources make', () => {
      if (build.declarationsChanged) throw new Error('the build changed index.d.ts: commit it')
    }),
}

const wanted = process.argv.slice(2)
let build

try {
  const unknown = wanted.filter((name) => !(name in suites))
  if (unknown.length > 0) throw new Error(`unknown suites: ${unknown.join(', ')}`)
  await installNodePackages()
  for (const [name, suite] of Object.entries(suites)) {
    if (!wanted.includes(name)) continue
    console.log(`\n== ${name}`)
    if (!['lint', 'rust', 'fuzz'].includes(name)) build ??= await buildAddon()
    await suite()
  }
} catch (error) {
  console.log(error.stack)
  count('set-up', 0, 1)
}
report()
