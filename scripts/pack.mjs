// Makes the two packages that are published: strands-native, and the addon for this platform.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { root, succeed } from './commands.mjs'

const PLATFORM = 'npm/linux-x64-gnu'

const manifestOf = (directory) => JSON.parse(readFileSync(join(root, directory, 'package.json'), 'utf8'))

/** Packs both packages into `directory`, and resolves to the two files. */
export async function pack(directory) {
  const { private: _, devDependencies, napi, scripts, ...main } = manifestOf('.')
  const platform = manifestOf(PLATFORM)
  if (platform.version !== main.version) throw new Error(`${PLATFORM}/package.json is not of version ${main.version}`)

  // Only the published manifest names it: `npm ci` would look for it in the registry before it is there.
  main.optionalDependencies = { [platform.name]: platform.version }
  mkdirSync(directory, { recursive: true })
  return [
    await packFiles(directory, main, ['README.md', 'LICENSE', ...main.files]),
    await packFiles(directory, platform, [`${PLATFORM}/README.md`, 'LICENSE', platform.main]),
  ]
}

async function packFiles(directory, manifest, files) {
  const stage = mkdtempSync(join(tmpdir(), 'strands-native-pack-'))
  try {
    for (const file of files) cpSync(join(root, file), join(stage, basename(file)), { recursive: true })
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    const packed = await succeed('npm', ['pack', '--json', '--pack-destination', directory], {
      cwd: stage,
      quiet: true,
    })
    return join(directory, JSON.parse(packed)[0].filename)
  } finally {
    rmSync(stage, { recursive: true })
  }
}
