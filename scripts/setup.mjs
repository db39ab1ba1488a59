// What a fresh clone lacks. Each part is made when it is missing, and again when what it is made from has changed.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, succeed } from './commands.mjs'

const read = (file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '')

/** The Node packages of the lock file, in node_modules. */
export async function installNodePackages() {
  const wanted = read('package-lock.json')
  const stamp = 'node_modules/.installed-from'
  if (read(stamp) === wanted) return
  await succeed('npm', ['ci', '--no-audit', '--no-fund'])
  writeFileSync(join(root, stamp), wanted)
}

/** The addon beside native.js, and index.d.ts. Cargo knows what is up to date. Tells whether index.d.ts changed. */
export async function buildAddon() {
  const before = read('index.d.ts')
  await succeed('npm', ['run', '--silent', 'build'])
  return { declarationsChanged: read('index.d.ts') !== before }
}

/** The Python SDK that the suites compare with, in a virtual environment of this repository. */
export async function installPythonSdk() {
  const wanted = read('__test__/python/requirements.txt')
  const stamp = '.venv/installed-from'
  if (read(stamp) === wanted) return
  rmSync(join(root, '.venv'), { recursive: true, force: true })
  await succeed('python3', ['-m', 'venv', '.venv'])
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
  await succeed(join(root, '.venv/bin/python'), [...pip, '-r', '__test__/python/requirements.txt'])
  writeFileSync(join(root, stamp), wanted)
}
