// The examples of README.md, as programs.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './commands.mjs'

const FENCE = /^```(?:ts|js)\n(.*?)^```$/gms
const IMPORT = /^import (\{.*?\}) from ('.*?')$/gm
const OUTPUT = /^\s*console\.log\(.*\) \/\/ (.*)$/gm

/**
 * Every example: its code as an ES module and as CommonJS, the output that its comments promise, and whether it needs
 * the SDK.
 */
export function readmeExamples() {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  return [...readme.matchAll(FENCE)].map(([fence, code]) => ({
    line: readme.slice(0, readme.indexOf(fence)).split('\n').length,
    esm: code,
    commonJs: commonJs(code),
    output: [...code.matchAll(OUTPUT)].map(([, expected]) => `${expected}\n`).join(''),
    needsSdk: code.includes("'@strands-agents/sdk"),
  }))
}

/** The same program with `require`, and with `import()` for the SDK, which has no CommonJS form. */
function commonJs(code) {
  const load = (from) => (from.includes('@strands-agents/sdk') ? `await import(${from})` : `require(${from})`)
  const body = code.replace(IMPORT, (_, names, from) => `const ${names} = ${load(from)}`)
  return `async function main() {\n${body}}\nmain()\n`
}
