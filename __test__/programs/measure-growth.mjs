// Calls one operation very often and prints by how many bytes the process has grown: <operation> <calls>. Needs --expose-gc.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from './implementation.mjs'

const { InMemoryStorage, LocalFileStorage, S3Storage, TestMemoryStore } = await load('native')
const { KeywordSearchStrategy, tokenize } = await import('strands-native/storage/search')
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

// What the user writes: strategies, sandboxes, storages, and those of them that fail.
const strategy = { index: async () => {}, remove: async () => {}, search: async () => [{ key: 'k', score: 1 }] }
const fail = () => Promise.reject(new Error('x'.repeat(200)))
const failing = { index: fail, remove: fail, search: fail }
const searched = new InMemoryStorage(strategy)
const failingSearched = new InMemoryStorage(failing)
const view = searched.namespace('n')
const plain = { list: async () => ['a', 'b', 'c'], read: async () => value }
const failingPlain = { list: async () => ['a', 'b'], read: fail }
const words = new InMemoryStorage()
const wordBytes = new TextEncoder().encode('cafe\u0301 words and more words')
for (let n = 0; n < 10; n += 1) await words.write(`k${n}`, wordBytes)
const normalising = new KeywordSearchStrategy({ normalize: 'NFKC' })
class Overriding extends InMemoryStorage {
  async read(key) {
    return super.read(key)
  }
}
const overriding = new Overriding()
for (let n = 0; n < 5; n += 1) await overriding.write(`k${n}`, wordBytes)
const sandbox = {
  readFile: async () => value,
  writeFile: async () => {},
  removeFile: async () => {},
  listFiles: async () => [{ name: 'a' }, { name: 'b' }],
}
const boxed = new LocalFileStorage('/box', sandbox)
const failingBoxed = new LocalFileStorage('/box', {
  readFile: fail,
  writeFile: fail,
  removeFile: fail,
  listFiles: fail,
})

// A client of the user's, which answers at once.
const answer = { Body: { transformToByteArray: async () => value }, Contents: [{ Key: 'k', ETag: 'e' }] }
const s3Client = { send: async () => answer }
const s3 = new S3Storage('bucket', { s3Client })
const failingS3 = new S3Storage('bucket', { s3Client: { send: fail } })

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
  's3 write': () => s3.write('k', value),
  's3 read': () => s3.read('k'),
  's3 search': () => s3.search('text'),
  's3 faults': () => Promise.all([failingS3.read('k').catch(ignore), failingS3.search('text').catch(ignore)]),
  's3 constructors': async () => {
    new S3Storage('bucket', { region: 'r', credentials: async () => ({}) }).namespace('n')
    new S3Storage('bucket', { s3Client: { send: async () => answer } }).namespace('n')
  },
  'strategy write': () => searched.write('k', value),
  'strategy search': () => searched.search('text'),
  'strategy delete': () => searched.delete('k'),
  'strategy faults': () =>
    Promise.all([
      failingSearched.write('k', value).catch(ignore),
      failingSearched.delete('k').catch(ignore),
      failingSearched.search('text').catch(ignore),
    ]),
  'strategy view': async () => {
    await view.write('k', value)
    return Promise.all([view.search('text'), view.read('k'), view.list('')])
  },
  'strategy cycles': async () => {
    const own = { index: async () => {}, search: async () => [] }
    own.storage = new InMemoryStorage(own)
    own.boxed = new LocalFileStorage('/box', { ...sandbox, own }, own)
    own.views = [own.storage.namespace('n'), own.boxed.namespace('n')]
    await own.views[0].write('k', value)
    await own.views[0].search('text')
  },
  'plain search': () => KeywordSearchStrategy.search(plain, 'text'),
  'plain search faults': () => KeywordSearchStrategy.search(failingPlain, 'text').catch(ignore),
  'keyword search in memory': () => words.search('words'),
  'normalised search': () => normalising.search(words, 'caf\u00e9'),
  'subclass search': () => overriding.search('words'),
  'sandbox write': () => boxed.write('k', value),
  'sandbox read': () => boxed.read('k'),
  'sandbox list': () => boxed.list(''),
  'sandbox search': () => boxed.search('text a'),
  'sandbox faults': () =>
    Promise.all([
      failingBoxed.write('k', value).catch(ignore),
      failingBoxed.read('k').catch(ignore),
      failingBoxed.delete('k').catch(ignore),
      failingBoxed.list('').catch(ignore),
      failingBoxed.search('text').catch(ignore),
    ]),
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
