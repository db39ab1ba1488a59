// Writes entries into a folder with a BM25 index and prints the key of each as it is acknowledged, until it is killed: <folder> <label>.
import { writeSync } from 'node:fs'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const [folder, label] = process.argv.slice(2)
const { LocalFileStorage } = await load('native')
const storage = new LocalFileStorage(folder, { searchStrategy: new Bm25SearchStrategy() })
let number = 0

async function writeForever() {
  for (;;) {
    number += 1
    const key = `${label}-${number}.md`
    await storage.write(key, new TextEncoder().encode(`zebra ${label}word${number}x ${'padding '.repeat(20)}`))
    writeSync(1, `${key}\n`)
  }
}

await Promise.all([writeForever(), writeForever(), writeForever(), writeForever()])
