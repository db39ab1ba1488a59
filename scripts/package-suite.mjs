// Uses the package as its users do: packs it, installs it into an empty project, and runs README.md's examples there.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { root, succeed } from './commands.mjs'
import { startMoto } from './moto.mjs'
import { pack } from './pack.mjs'
import { readmeExamples } from './readme.mjs'
import { installPythonSdk } from './setup.mjs'
import { check } from './tally.mjs'

const ADDON_PACKAGE = 'strands-native-linux-x64-gnu'
const { exports: entryPoints } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const subpaths = Object.keys(entryPoints).filter((subpath) => subpath !== './package.json')
const specifiers = subpaths.map((subpath) => subpath.replace('.', 'strands-native'))

/** Where README.md's examples find S3. */
const s3Env = { AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }

/** All checks of the packed package. */
export async function testPackage() {
  await installPythonSdk()
  const s3 = await startMoto('my-agents')
  s3Env.AWS_ENDPOINT_URL_S3 = s3.env.STRANDS_TEST_S3_ENDPOINT
  const scratch = mkdtempSync(join(tmpdir(), 'strands-native-package-'))
  const project = join(scratch, 'project')
  try {
    await check('both packages install into an empty project, without a registry', () => install(scratch, project))
    for (const sdk of ['without the SDK', 'with the SDK']) {
      if (sdk === 'with the SDK') addSdk(project)
      await testExamples(project, sdk)
    }
    await testEntryPoints(project)
    await testBundles(project)
    await testMissingAddon(project)
  } finally {
    rmSync(scratch, { recursive: true })
    await s3.stop()
  }
}

async function install(scratch, project) {
  const tarballs = await pack(join(scratch, 'packed'))
  mkdirSync(join(scratch, 'home'))
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }))
  await succeed('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: project, quiet: true })
  match(await node(project, ['-p', `require('strands-native/package.json').version`]), /^\d+\.\d+\.\d+\n$/)
}

/** Puts the SDK beside the package: a link to this repository's copy, which brings its own dependencies along. */
function addSdk(project) {
  mkdirSync(join(project, 'node_modules/@strands-agents'))
  symlinkSync(join(root, 'node_modules/@strands-agents/sdk'), join(project, 'node_modules/@strands-agents/sdk'))
}

async function testExamples(project, sdk) {
  const examples = readmeExamples().filter(({ needsSdk }) => !needsSdk || sdk === 'with the SDK')
  await check(`README.md has examples to run ${sdk}`, () => ok(examples.length > 0))
  for (const { line, esm, commonJs, output } of examples) {
    const example = `README.md:${line} ${sdk}`
    await check(`${example}, as an ES module`, async () => equal(await runFile(project, 'example.mjs', esm), output))
    await check(`${example}, as CommonJS`, async () => equal(await runFile(project, 'example.cjs', commonJs), output))
    await check(`${example}, as TypeScript`, () => compile(project, esm))
  }
}

/** Type-checks a program, resolved as Node does and as bundlers do. */
async function compile(project, code, options = {}) {
  writeFileSync(join(project, 'program.ts'), code)
  const defaults = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022', 'dom'], types: [] }
  // The SDK's declarations need packages that it does not install; ours need nothing.
  const skipLibCheck = code.includes('@strands-agents/sdk')
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ]) {
    const compilerOptions = { ...defaults, module, moduleResolution, skipLibCheck, ...options }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }))
    await succeed(join(root, 'node_modules/.bin/tsc'), ['-p', project], { quiet: true })
  }
}

async function testEntryPoints(project) {
  for (const specifier of specifiers) {
    const names = async () =>
      JSON.parse(await node(project, ['-p', `JSON.stringify(Object.keys(require('${specifier}')))`]))
    await check(`${specifier}: import gives what require gives`, async () => {
      const program = `import { createRequire } from 'node:module'
        import * as imported from '${specifier}'
        const required = createRequire(import.meta.url)('${specifier}')
        const same = Object.keys(required).filter((name) => required[name] && required[name] === imported[name])
        console.log(JSON.stringify(same))`
      deepEqual(JSON.parse(await runFile(project, 'program.mjs', program)), await names())
    })
    await check(`${specifier}: the declarations name what is there, and nothing else`, async () => {
      const present = (await names()).map((name) => `'${name}'`).join(' | ')
      const program = `import * as declared from '${specifier}'
        type Declared = Exclude<keyof typeof declared, 'default' | 'module.exports'>
        const same: [Declared, ${present}] extends [${present}, Declared] ? true : false = true
        console.log(same)`
      await compile(project, program)
    })
  }
}

/** Bundles README.md's examples with the package kept out of the bundle, as an addon has to be. */
async function testBundles(project) {
  const bundlers = {
    async esbuild(entry, outfile) {
      const { build } = await import('esbuild')
      const target = { bundle: true, platform: 'node', format: 'esm', external: ['strands-native'] }
      await build({ entryPoints: [entry], outfile, ...target })
    },
    async 'Vite SSR'(entry, outfile) {
      const { build } = await import('vite')
      const rolldownOptions = { output: { entryFileNames: basename(outfile) } }
      const target = { ssr: entry, outDir: dirname(outfile), emptyOutDir: false, rolldownOptions }
      await build({ root: project, configFile: false, logLevel: 'error', build: target })
    },
  }
  for (const [name, bundle] of Object.entries(bundlers)) {
    for (const { line, esm, output, needsSdk } of readmeExamples()) {
      if (needsSdk) continue
      await check(`README.md:${line}, bundled by ${name}`, async () => {
        writeFileSync(join(project, 'program.mjs'), esm)
        await bundle(join(project, 'program.mjs'), join(project, 'bundle.mjs'))
        equal(await node(project, ['bundle.mjs']), output)
      })
    }
  }
}

async function testMissingAddon(project) {
  const addon = join(project, 'node_modules', ADDON_PACKAGE)
  rmSync(addon, { recursive: true })
  const load = async (preparation = '') => {
    const code = `${preparation}
      try { require('strands-native') } catch ({ message, cause }) { console.log(JSON.stringify([message, cause.message])) }`
    return JSON.parse(await node(project, ['-e', code]))
  }
  await check('a missing platform package: the error names the platform, the package and the remedy', async () => {
    const [message, cause] = await load()
    match(message, /this platform \(linux-x64-gnu\)/)
    match(message, new RegExp(`package ${ADDON_PACKAGE} .* is missing`))
    match(message, new RegExp(`npm install ${ADDON_PACKAGE}@\\d`))
    match(cause, new RegExp(`Cannot find module '${ADDON_PACKAGE}'`))
  })
  await check('an unsupported platform: the error says so and names the remedy', async () => {
    const [message, cause] = await load(`Object.defineProperty(process, 'platform', { value: 'sunos' })`)
    match(message, /package strands-native-sunos-x64 for this platform \(sunos-x64\) is missing/)
    match(message, /no prebuilt addon for this platform .* build one .* `npm run build`/)
    match(cause, /Cannot find module 'strands-native-sunos-x64'/)
  })
  await check('a program that imports nothing but types runs without the addon', async () => {
    const code = `import { MemoryEntry, Storage, TestMemoryStoreConfig } from 'strands-native'
      import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'
      const entry: MemoryEntry = { content: 'ran' }
      export type All = [Storage, TestMemoryStore, TestMemoryStoreConfig]
      console.log(entry.content)`
    await compile(project, code, { noEmit: false })
    equal(await node(project, ['program.js']), 'ran\n')
  })
  await check('an addon that does not load: the error tells why', async () => {
    mkdirSync(addon)
    writeFileSync(join(addon, 'index.node'), 'not an addon')
    writeFileSync(join(addon, 'package.json'), JSON.stringify({ main: 'index.node' }))
    const [message, cause] = await load()
    match(message, new RegExp(`${ADDON_PACKAGE} does not load .* reinstall`))
    ok(message.includes(cause))
  })
}

async function runFile(project, file, code) {
  writeFileSync(join(project, file), code)
  return node(project, [file])
}

/** Runs Node in the project, with a home directory of its own, and resolves to what it wrote to standard output. */
function node(project, args) {
  const env = { ...process.env, ...s3Env, HOME: join(project, '../home') }
  return succeed(process.execPath, args, { cwd: project, env, quiet: true })
}
