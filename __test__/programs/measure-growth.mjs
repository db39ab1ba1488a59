// Calls one operation very often and prints by how many bytes the process has grown: <operation> <calls>. Needs --expose-gc.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from './implementation.mjs'

const { InMemoryStorage, LocalFileStorage, TestMemoryStore } = await load('native')
const { tokenize } = await import('strands-native/storage/search')
const directory = mkdtempSync(join(tmpdir(), 'strands-native-growth-'))
const memory = new InMemoryStorage()
const files = new LocalFileStorage(directory)
const store = new TestMemoryStore({ name: 'n', persist: false })
const fileStore = new TestMemoryStore({ name: 'n', path: join(directory, 'notes.json') })
const value = new Uint8Array(1_000).fill(120)
await memory.write('k', value)
await memory.write('large', new Uint8Array(50_000_000))
await files.write('k', value)
for (let n = 0; n < 20; n += 1) {
  await store.add(`fact ${n}`, { n, list: [1, 2, 3], text: 'x'.repeat(200) })
  await fileStore.add(`fact ${n}`, { n, list: [1, 2, 3], text: 'x'.repeat(200) })
}
const ignore = () => {}

const operations = {
  'memory write': () => memory.write('k', value),
  'memory read': () => memory.read('k'),
  'memory search': () => memory.namespace('n').search('text'),
  'large read': () => memory.read('large'),
  'file write': () => files.write('k', value),
  'file read': () => files.read('k'),
  'file list': () => files.list(''),
  'store search': () => store.search('fact'),
  'store known add': () => store.add('fact 7', { text: 'y'.repeat(200) }),
  'file store search': () => fileStore.search('fact 3'),
  'rejected calls': () =>
    Promise.all([
      memory.read('..').catch(ignore),
      files.read('..').catch(ignore),
      files.write('k', 'text').catch(ignore),
      store.add(' ').catch(ignore),
      store.add('new', { n: 1n }).catch(ignore),
      store.search('fact', { maxSearchResults: 0 }).catch(ignore),
    ]),
  constructors: async () => {
    new InMemoryStorage().namespace('n')
    new LocalFileStorage(directory).namespace('n')
    new TestMemoryStore({ name: 'n', description: 'x'.repeat(200), path: join(directory, 'notes.json') })
  },
  tokenize: async () => tokenize('The quick brown fox jumps over the lazy dog'),
}

const [operation, calls] = process.argv.slice(2)
const call = operations[operation]

async function repeat(times) {
  const batch = times < 100 ? 2 : 50
  for (let done = 0; done < times; done += batch) {
    await Promise.all(Array.from({ length: batch }, call))
  }
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
