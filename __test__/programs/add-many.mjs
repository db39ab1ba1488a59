// Adds numbered facts to one file and prints each as it is acknowledged: <sdk|native> <path> <label> <count> <burst|one-by-one>.
import { writeSync } from 'node:fs'
import { load } from './implementation.mjs'

const [who, path, label, count, pace] = process.argv.slice(2)
const { TestMemoryStore } = await load(who)
const store = new TestMemoryStore({ name: label, path })

async function add(number) {
  const content = `${label}_${number}`
  const { id } = await store.add(content)
  writeSync(1, `${JSON.stringify({ id, content })}\n`)
}

const numbers = Array.from({ length: Number(count) }, (_, number) => number)
if (pace === 'burst') await Promise.all(numbers.map(add))
else for (const number of numbers) await add(number)
