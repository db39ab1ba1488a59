// Four loops add facts to one file and print the id of each as it is acknowledged, until the program is killed: <path> <label>.
import { writeSync } from 'node:fs'
import { load } from './implementation.mjs'

const [path, label] = process.argv.slice(2)
const { TestMemoryStore } = await load('native')
const store = new TestMemoryStore({ name: label, path })
let number = 0

async function addForever() {
  for (;;) {
    number += 1
    const { id } = await store.add(`${label}_${number} ${'padding '.repeat(20)}`, { number })
    writeSync(1, `${id}\n`)
  }
}

await Promise.all([addForever(), addForever(), addForever(), addForever()])
