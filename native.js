'use strict'

// Loads the addon: the file beside this one in a source checkout, the platform package everywhere else.

const { closeSync, openSync, readSync } = require('node:fs')
const { version } = require('./package.json')

const PREBUILT = ['linux-x64-gnu']
const FROM_SOURCE = 'build one in a checkout of strands-native with `npm run build`'

/** The platform's name as it stands in file and package names, such as `linux-x64-gnu`. */
function platformName() {
  const { arch, platform } = process
  if (platform === 'linux') return `linux-${arch}-${isMusl() ? 'musl' : 'gnu'}`
  if (platform === 'win32') return `win32-${arch}-msvc`
  return `${platform}-${arch}`
}

/** Node's own ELF header names the dynamic loader, and so the C library that an addon has to be linked to. */
function isMusl() {
  const header = Buffer.alloc(2048)
  try {
    const node = openSync(process.execPath, 'r')
    readSync(node, header, 0, header.length, 0)
    closeSync(node)
  } catch {
    return false // An executable that cannot be read says nothing; glibc is the likelier library.
  }
  return header.includes('/ld-musl-')
}

function load() {
  const platform = platformName()
  const packageName = `strands-native-${platform}`
  try {
    return require(`./strands-native.${platform}.node`)
  } catch (cause) {
    if (cause.code !== 'MODULE_NOT_FOUND') throw broken(platform, `./strands-native.${platform}.node`, cause)
  }
  try {
    return require(packageName)
  } catch (cause) {
    throw cause.code === 'MODULE_NOT_FOUND'
      ? missing(platform, packageName, cause)
      : broken(platform, packageName, cause)
  }
}

function missing(platform, packageName, cause) {
  const remedy = PREBUILT.includes(platform)
    ? `install it with \`npm install ${packageName}@${version}\`, and keep optional dependencies (no \`--omit=optional\`)`
    : `there is no prebuilt addon for this platform (only for ${PREBUILT.join(', ')}): ${FROM_SOURCE}`
  return new Error(
    `strands-native: the package ${packageName} for this platform (${platform}) is missing; ${remedy}.`,
    { cause },
  )
}

function broken(platform, what, cause) {
  const remedy = `reinstall strands-native, or ${FROM_SOURCE}`
  return new Error(
    `strands-native: ${what} does not load on this platform (${platform}): ${cause.message}; ${remedy}.`,
    { cause },
  )
}

const addon = load()

// Where an optional package is depends on where this file is; the addon may be elsewhere.
Object.defineProperty(addon, 'requireS3', { value: () => require('@aws-sdk/client-s3'), configurable: true })

module.exports = addon
