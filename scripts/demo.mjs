// `npm run demo`: one agent stores a memory; a second agent, in a process of its own, recalls it.

import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { succeed } from './commands.mjs'
import { buildAddon, installNodePackages } from './setup.mjs'

await installNodePackages()
await buildAddon()

const file = join(mkdtempSync(join(tmpdir(), 'strands-native-demo-')), 'notes.json')
// Different each time, so that the second agent cannot know it from anywhere but the file.
const seat = `${randomInt(1, 40)}${'ABCDEF'[randomInt(6)]}`

console.log('\n== The first process: an agent is told a fact\n')
await succeed(process.execPath, ['examples/remember.mjs', file, `My favourite seat is ${seat}.`])

console.log(`\n== What it left in ${file}\n`)
console.log(readFileSync(file, 'utf8'))

console.log('\n== The second process: a new agent is asked about it\n')
const conversation = await succeed(process.execPath, ['examples/recall.mjs', file, 'Which seat is my favourite?'])

const answer = conversation.trimEnd().split('\n').at(-1)
if (!answer.startsWith('agent: ') || !answer.includes(seat)) throw new Error(`The second agent did not recall ${seat}.`)
rmSync(dirname(file), { recursive: true })
console.log(`\nThe second agent knew the seat (${seat}) from the file alone.`)
