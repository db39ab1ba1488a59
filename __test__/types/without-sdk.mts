// Every name of every entry point, in a program that has no SDK, no Node types and no DOM.

import type * as everything from 'strands-native'
import type {
  Bm25BackfillOptions,
  Bm25BackfillResult,
  Bm25SearchStrategyOptions,
  JSONValue,
  MemoryEntry,
  NormalizeOptions,
  SearchOptions,
} from 'strands-native'
import type {
  InMemoryStorageOptions,
  LocalFileStorageOptions,
  S3ClientLike,
  S3Credentials,
  S3StorageOptions,
  Sandbox,
  SearchStrategy,
  Storage,
  StorageSearchResult,
} from 'strands-native/storage'
import {
  InMemoryStorage,
  LocalFileStorage,
  NamespacedStorage,
  namespace,
  S3Storage,
  StorageError,
} from 'strands-native/storage'
import {
  Bm25SearchStrategy,
  KeywordSearchStrategy,
  STOP_WORDS,
  tokenize,
  tokenOverlapScore,
} from 'strands-native/storage/search'
import * as stores from 'strands-native/vended-memory-stores'
import type { TestMemoryAddResult, TestMemoryStoreConfig } from 'strands-native/vended-memory-stores/test-memory-store'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'

export async function useStorages(): Promise<StorageSearchResult[]> {
  const memory = new InMemoryStorage()
  const view: Storage = namespace(memory.namespace('a'), 'b')
  memory.clear()
  const baseDir: string = new LocalFileStorage('./memory/').baseDir
  const storages: Storage[] = [memory, view, new LocalFileStorage(baseDir), new LocalFileStorage().namespace('notes')]
  const hits: StorageSearchResult[] = []
  for (const storage of storages) {
    await storage.write('a.txt', new Uint8Array([1, 2, 3]))
    const bytes: Uint8Array | null = await storage.read('a.txt')
    const keys: string[] = await storage.list('')
    await storage.delete(keys[0] ?? 'a.txt')
    // @ts-expect-error: the value may be missing
    bytes.length
    // @ts-expect-error: a value is bytes, not text
    await storage.write('a.txt', 'text')
  }
  hits.push(...(await memory.search('query')))
  return hits
}

export async function useTestMemoryStore(config: TestMemoryStoreConfig): Promise<MemoryEntry[]> {
  const store = new TestMemoryStore({ ...config, name: 'notes', path: './notes.json' })
  const name: string = store.name
  const writable: boolean = store.writable
  const maxSearchResults: number | undefined = store.maxSearchResults
  const metadata: Record<string, JSONValue> = { name, writable, limit: maxSearchResults ?? null, nested: { list: [1] } }
  const { id }: TestMemoryAddResult = await store.add('text', metadata)
  const options: SearchOptions = { maxSearchResults: 3 }
  // @ts-expect-error: a store needs a name
  new TestMemoryStore({})
  // @ts-expect-error: what a store says about itself does not change
  store.name = id
  // @ts-expect-error: content is text
  await store.add(1)
  return store.search('query', options)
}

export const byLength: SearchStrategy<InMemoryStorage> = {
  async search(storage, query) {
    const keys = await storage.list('')
    return keys.map((key) => ({ key, score: key.length - query.length }))
  },
}

/** Every form of both constructors. */
export function useOptions(sandbox: Sandbox, strategy: SearchStrategy, onFiles: SearchStrategy<LocalFileStorage>) {
  const normalize: NormalizeOptions = { normalize: 'NFKC' }
  const inMemory: InMemoryStorageOptions = { searchStrategy: strategy, searchCacheBytes: Number.POSITIVE_INFINITY }
  const onDisk: LocalFileStorageOptions = { sandbox, searchStrategy: onFiles, fsync: true, searchCacheBytes: 0 }
  const nothing: LocalFileStorageOptions = { sandbox: undefined, searchStrategy: undefined, fsync: undefined }
  // @ts-expect-error: what searches files may ask for a folder, which a storage in memory does not have
  new InMemoryStorage(onFiles)
  // @ts-expect-error: no such form
  new KeywordSearchStrategy({ normalize: 'NFD' })
  // @ts-expect-error: bytes are a number
  new InMemoryStorage({ searchCacheBytes: '64M' })
  // @ts-expect-error: a strategy has a search
  new LocalFileStorage('./memory/', { searchStrategy: {} })
  // @ts-expect-error: there is no such option
  new LocalFileStorage('./memory/', { searchStrategie: strategy })
  // @ts-expect-error: views are made by storages
  new NamespacedStorage(new InMemoryStorage(), 'a')
  const boxed: LocalFileStorage = new LocalFileStorage('./memory/').forSandbox(sandbox).namespace('notes')
  return [
    new InMemoryStorage(),
    new InMemoryStorage(undefined),
    new InMemoryStorage(strategy),
    new InMemoryStorage(inMemory),
    new InMemoryStorage(new KeywordSearchStrategy(normalize)),
    new InMemoryStorage(KeywordSearchStrategy),
    new InMemoryStorage(byLength),
    new LocalFileStorage(undefined, onDisk),
    new LocalFileStorage('./memory/', nothing, onFiles),
    new LocalFileStorage('./memory/', sandbox, strategy),
    new LocalFileStorage('./memory/', undefined, undefined),
    new LocalFileStorage('./memory/', { searchStrategy: byFolder }),
    boxed,
  ]
}

/** Every option of a storage in S3. */
export function useS3(s3Client: S3ClientLike, keys: S3Credentials, strategy: SearchStrategy<S3Storage>): Storage[] {
  const elsewhere: S3StorageOptions = { endpoint: 'http://127.0.0.1:3900', region: 'garage', forcePathStyle: true }
  const patient: S3StorageOptions = { maxAttempts: 5, requestTimeoutMs: 1_000, connectTimeoutMs: 500 }
  // @ts-expect-error: a storage needs a bucket
  new S3Storage()
  // @ts-expect-error: a client makes requests
  new S3Storage('bucket', { s3Client: {} })
  // @ts-expect-error: credentials are two
  new S3Storage('bucket', { credentials: { accessKeyId: 'id' } })
  return [
    new S3Storage('bucket'),
    new S3Storage('bucket', { prefix: 'agents', s3Client, searchStrategy: strategy, searchCacheBytes: 0 }),
    new S3Storage('bucket', { ...elsewhere, ...patient, credentials: keys }),
    new S3Storage('bucket', { ...elsewhere, credentials: async () => keys }).namespace('notes'),
  ]
}

/** A strategy may ask for what its kind of storage has. */
export const byFolder: SearchStrategy<LocalFileStorage> = {
  requiresHostFs: true,
  async index(storage, key, data) {
    const path: string = `${storage.baseDir}/${key}`
    await storage.write(`${path}.size`, new Uint8Array([data.length]))
  },
  async remove(storage, key) {
    await storage.delete(`${key}.size`)
  },
  async search(storage, query) {
    return storage.baseDir.includes(query) ? [{ key: storage.baseDir, score: 1 }] : []
  },
}

/** The least that a sandbox has to be. */
export const emptySandbox: Sandbox = {
  readFile: async (path) => new Uint8Array(path.length),
  writeFile: async (path, content) => void [path, content.length],
  removeFile: async () => {},
  listFiles: async () => [{ name: 'k' }, { name: 'folder', isDir: true }],
}

export async function useSearch(storage: Storage): Promise<Uint8Array | undefined> {
  const strategy: SearchStrategy = new KeywordSearchStrategy({ normalize: undefined })
  const results: StorageSearchResult[] = [
    ...(await strategy.search(storage, 'query')),
    ...(await KeywordSearchStrategy.search(storage, 'query')),
    ...((await storage.search?.('query')) ?? []),
  ]
  // @ts-expect-error: keyword search needs to be told where
  await KeywordSearchStrategy.search('query')
  const store = new TestMemoryStore({ name: 'notes', persist: false, normalize: 'NFC' })
  return tokenize(store.name, { normalize: 'NFC' }).size > 0 ? results[0]?.data : undefined
}

/** Every option and every method of the strategy with an index. */
export async function useBm25(storage: Storage, strategies: SearchStrategy[]): Promise<StorageSearchResult[]> {
  const options: Bm25SearchStrategyOptions = { dbPath: './index.sqlite', match: 'all', limit: 10, normalize: 'NFKC' }
  const nothing: Bm25SearchStrategyOptions = { dbPath: undefined, match: undefined, limit: undefined }
  const strategy = new Bm25SearchStrategy(options)
  strategies.push(
    strategy,
    new Bm25SearchStrategy(),
    new Bm25SearchStrategy(undefined),
    new Bm25SearchStrategy(nothing),
  )
  const needsHost: true = strategy.requiresHostFs
  const storages: Storage[] = [
    new LocalFileStorage('./memory/', { searchStrategy: strategy }),
    new LocalFileStorage('./memory/', undefined, strategy),
    new InMemoryStorage(strategy),
    new InMemoryStorage({ searchStrategy: strategy }),
  ]
  const progress: Bm25BackfillOptions = { onProgress: ({ done, total }) => void (done / total) }
  const result: Bm25BackfillResult = await strategy.backfill(storage, progress)
  const changed: number = result.indexed + result.removed + result.unchanged
  await strategy.backfill(storages[0] ?? storage)
  await strategy.index(storage, 'a.md', new Uint8Array([changed]))
  await strategy.remove(storage, 'a.md')
  const hits: StorageSearchResult[] = await strategy.search(storage, String(needsHost))
  const closed: Promise<void> = strategy.close()
  await closed
  await strategy[Symbol.asyncDispose]()
  // @ts-expect-error: there is no such rule
  new Bm25SearchStrategy({ match: 'some' })
  // @ts-expect-error: a limit is a number
  new Bm25SearchStrategy({ limit: '10' })
  // @ts-expect-error: there is no such option
  new Bm25SearchStrategy({ path: './index.sqlite' })
  // @ts-expect-error: it is asked where to search
  await strategy.search('query')
  // @ts-expect-error: a value is bytes, not text
  await strategy.index(storage, 'a.md', 'text')
  // @ts-expect-error: there is no such thing on the class
  await Bm25SearchStrategy.search(storage, 'query')
  // @ts-expect-error: what it needs does not change
  strategy.requiresHostFs = false
  return hits
}

export function useWords(): number {
  const words: Set<string> = tokenize('some words')
  return STOP_WORDS.has('the') ? tokenOverlapScore(words, 'words') : 0
}

export function explain(error: unknown): string {
  if (!(error instanceof StorageError)) return String(error)
  return `${error.name}: ${error.message} (${String(error.cause)})`
}

// The entry points share their classes.
export const same: (typeof everything.TestMemoryStore)[] = [TestMemoryStore, stores.TestMemoryStore]
export const storages: (typeof everything.InMemoryStorage)[] = [InMemoryStorage, stores.InMemoryStorage]
export const strategies: (typeof everything.Bm25SearchStrategy)[] = [Bm25SearchStrategy]
