// Replaces one value by others of the same size, each filled with one byte, until it is killed: <base directory> <key> <size>.
import { writeSync } from 'node:fs'
import { load } from './implementation.mjs'

const [baseDir, key, size] = process.argv.slice(2)
const { LocalFileStorage } = await load('native')
const storage = new LocalFileStorage(baseDir)
for (let round = 0; ; round += 1) {
  await storage.write(key, new Uint8Array(Number(size)).fill(round))
  if (round === 2) writeSync(1, 'three writes done\n')
}
