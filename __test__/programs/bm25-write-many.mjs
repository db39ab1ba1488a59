// Writes numbered entries into a folder with a BM25 index, and prints the key of each as it is acknowledged:
// <folder> <label> <count> <burst|one-by-one>. Each is searched for before it is acknowledged.
import { writeSync } from 'node:fs'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const [folder, label, count, pace] = process.argv.slice(2)
const { LocalFileStorage } = await load('native')
const storage = new LocalFileStorage(folder, { searchStrategy: new Bm25SearchStrategy() })

async function write(number) {
  const key = `${label}-${number}.md`
  await storage.write(key, new TextEncoder().encode(`zebra ${label}word${number}x`))
  const found = await storage.search(`${label}word${number}x`)
  if (found.length !== 1) throw new Error(`${key} was acknowledged and is found ${found.length} times`)
  writeSync(1, `${key}\n`)
}

const numbers = Array.from({ length: Number(count) }, (_, number) => number)
if (pace === 'burst') await Promise.all(numbers.map(write))
else for (const number of numbers) await write(number)
