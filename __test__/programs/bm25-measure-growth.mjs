// Calls one operation of a BM25 strategy very often and prints by how many bytes the process has grown: <operation> <calls>. Needs --expose-gc.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const { InMemoryStorage, LocalFileStorage } = await load('native')
const directory = mkdtempSync(join(tmpdir(), 'strands-native-growth-'))
const folder = join(directory, 'memory')
const strategy = new Bm25SearchStrategy()
const storage = new LocalFileStorage(folder, { searchStrategy: strategy })
const text = (n) => new TextEncoder().encode(`zebra word${n}x ${'padding '.repeat(30)}`)
for (let n = 0; n < 20; n += 1) await storage.write(`k${n}.md`, text(n))
const memory = new InMemoryStorage()
for (let n = 0; n < 20; n += 1) await memory.write(`k${n}.md`, text(n))
const plain = {
  list: () => memory.list(''),
  read: (key) => memory.read(key),
  write: async () => {},
  delete: async () => {},
}
const ofPlain = new Bm25SearchStrategy({ dbPath: join(directory, 'plain.sqlite') })
const fail = () => Promise.reject(new Error('x'.repeat(200)))
const failing = { list: fail, read: fail, write: fail, delete: fail }
const ofFailing = new Bm25SearchStrategy({ dbPath: join(directory, 'failing.sqlite') })
const ignore = () => {}
let count = 0

const operations = {
  search: () => storage.search('zebra words'),
  'search that finds nothing': () => storage.search('walrus'),
  'write of the same': () => storage.write('k1.md', text(1)),
  write: () => {
    count += 1
    return storage.write(`k${count % 20}.md`, text(count))
  },
  'index and remove': async () => {
    await strategy.index(storage, 'k.md', text(1))
    await strategy.remove(storage, 'k.md')
  },
  backfill: () => strategy.backfill(storage, { onProgress: ignore }),
  "backfill of a user's storage": () => ofPlain.backfill(plain, { onProgress: ignore }),
  "search of a user's storage": () => ofPlain.search(plain, 'zebra'),
  close: async () => {
    await storage.search('zebra')
    await strategy.close()
  },
  strategies: async () => {
    const own = new Bm25SearchStrategy({ normalize: 'NFC' })
    await new LocalFileStorage(folder, { searchStrategy: own }).search('zebra')
  },
  faults: () =>
    Promise.all([
      strategy.search(memory, 'zebra').catch(ignore),
      strategy.index(storage, '..', text(1)).catch(ignore),
      ofFailing.backfill(failing).catch(ignore),
      ofPlain.backfill(plain, { onProgress: fail }).catch(ignore),
    ]),
}

const [operation, calls] = process.argv.slice(2)
const call = operations[operation]

async function repeat(times) {
  for (let done = 0; done < times; done += 10) await Promise.all(Array.from({ length: 10 }, call))
  for (let pass = 0; pass < 5; pass += 1) {
    globalThis.gc()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

// The first half fills what is filled once: caches, arenas, pools.
await repeat(Number(calls))
const before = process.memoryUsage().rss
await repeat(Number(calls))
console.log(JSON.stringify(process.memoryUsage().rss - before))
rmSync(directory, { recursive: true, force: true })
