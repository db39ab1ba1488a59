// Our classes where the SDK's own types are asked for, and the SDK's values where ours are.

import type { ExtractionConfig, MemoryStore, Storage } from '@strands-agents/sdk'
import { Agent, IntervalTrigger, MemoryManager, ModelExtractor, SessionManager } from '@strands-agents/sdk'
import type { Sandbox as SdkSandbox } from '@strands-agents/sdk/sandbox'
import {
  type S3StorageConfig,
  InMemoryStorage as SdkInMemoryStorage,
  LocalFileStorage as SdkLocalFileStorage,
  S3Storage as SdkS3Storage,
} from '@strands-agents/sdk/storage'
import {
  KeywordSearchStrategy as SdkKeywordSearchStrategy,
  type SearchStrategy,
  type StorageSearchResult,
} from '@strands-agents/sdk/storage/search'
import { FileMemoryStore } from '@strands-agents/sdk/vended-memory-stores/file-memory-store'
import type {
  TestMemoryAddResult as SdkAddResult,
  TestMemoryStoreConfig as SdkConfig,
} from '@strands-agents/sdk/vended-memory-stores/test-memory-store'
import { TestMemoryStore as SdkTestMemoryStore } from '@strands-agents/sdk/vended-memory-stores/test-memory-store'
import { ContextOffloader } from '@strands-agents/sdk/vended-plugins/context-offloader'
import type * as native from 'strands-native'
import { InMemoryStorage, LocalFileStorage, namespace, S3Storage } from 'strands-native/storage'
import {
  Bm25SearchStrategy,
  KeywordSearchStrategy,
  STOP_WORDS,
  tokenize,
  tokenOverlapScore,
} from 'strands-native/storage/search'
import type { TestMemoryAddResult, TestMemoryStoreConfig } from 'strands-native/vended-memory-stores/test-memory-store'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'

// A memory store for the agent, with every form of extraction.
const extraction: ExtractionConfig = {
  trigger: [new IntervalTrigger({ turns: 2 })],
  extractor: new ModelExtractor(),
  filter: { exclude: ['toolUse', 'toolResult'] },
}
const store: MemoryStore = new TestMemoryStore({ name: 'notes', extraction })
new Agent({ memoryManager: { stores: [store, new TestMemoryStore({ name: 'more', extraction: true })] } })
new Agent({ memoryManager: { stores: [new TestMemoryStore({ name: 'notes' })], addToolConfig: { stores: [store] } } })

// Storages, whole and as views.
const storages: Storage[] = [
  new InMemoryStorage(),
  new LocalFileStorage(),
  new LocalFileStorage('./memory/'),
  new S3Storage('bucket', { prefix: 'agents', region: 'eu-central-1' }),
  new S3Storage('bucket').namespace('a'),
  new InMemoryStorage().namespace('a'),
  new LocalFileStorage('./memory/').namespace('a'),
]
new Agent({ storage: new LocalFileStorage('./memory/') })

// Each interface in both directions.
declare function takesOurs<T>(value: T): void
declare const sdkConfig: SdkConfig
declare const sdkStrategy: SearchStrategy
declare const sdkResult: StorageSearchResult
declare const ourConfig: TestMemoryStoreConfig
declare const ourStrategy: native.SearchStrategy
declare const ourResult: native.StorageSearchResult
declare const ourStorage: native.Storage
declare const ourEntry: native.MemoryEntry
declare const ourSearchOptions: native.SearchOptions
takesOurs<native.Storage>(new SdkInMemoryStorage())
takesOurs<native.SearchStrategy>(sdkStrategy)
takesOurs<native.StorageSearchResult>(sdkResult)
takesOurs<TestMemoryStoreConfig>(sdkConfig)
new TestMemoryStore(sdkConfig)
new SdkTestMemoryStore(ourConfig)
storages.push(ourStorage)
const strategies: SearchStrategy[] = [ourStrategy]
const results: StorageSearchResult[] = [ourResult]
const entries: Awaited<ReturnType<MemoryStore['search']>> = [ourEntry]
const found: Promise<unknown> = new SdkTestMemoryStore({ name: 'sdk' }).search('query', ourSearchOptions)

// Our storages and strategies wherever the SDK takes its own.
const ownStrategies: SearchStrategy[] = [KeywordSearchStrategy, new KeywordSearchStrategy({ normalize: 'NFC' })]
new FileMemoryStore({ name: 'facts', storage: new LocalFileStorage('./memory/') })
new FileMemoryStore({ name: 'facts', storage: new InMemoryStorage().namespace('a'), search: KeywordSearchStrategy })
new FileMemoryStore({ name: 'facts', storage: ourStorage, search: new KeywordSearchStrategy() })
new FileMemoryStore({ name: 'facts', search: ourStrategy })
new SessionManager({ sessionId: 'trip', storage: new LocalFileStorage('./sessions/') })
new ContextOffloader({ storage: new InMemoryStorage() })
new MemoryManager({ stores: [new FileMemoryStore({ name: 'facts', storage: ourStorage })] })
new SdkInMemoryStorage(KeywordSearchStrategy)
new SdkInMemoryStorage(new KeywordSearchStrategy())
storages.push(
  namespace(new SdkInMemoryStorage(), 'a'),
  namespace(new LocalFileStorage(), 'b'),
  namespace(ourStorage, 'c'),
)

// The strategy with an index, wherever the SDK takes one of its own or of the user's.
const bm25 = new Bm25SearchStrategy({ limit: 20 })
ownStrategies.push(bm25)
const forFiles: SearchStrategy<SdkLocalFileStorage> = bm25
new SdkLocalFileStorage('./memory/', undefined, bm25)
new SdkInMemoryStorage(bm25)
new FileMemoryStore({
  name: 'facts',
  storage: new LocalFileStorage('./memory/', { searchStrategy: bm25 }),
  search: bm25,
})
const backfilled: Promise<native.Bm25BackfillResult>[] = [
  bm25.backfill(new SdkLocalFileStorage('./memory/')),
  bm25.backfill(new SdkInMemoryStorage(), { onProgress: () => {} }),
]

// The SDK's strategies and sandboxes, and those that users wrote against its types, in our constructors.
declare const sdkSandbox: SdkSandbox
declare const sdkLocalStrategy: SearchStrategy<SdkLocalFileStorage>
new InMemoryStorage(SdkKeywordSearchStrategy)
new InMemoryStorage(sdkStrategy)
new InMemoryStorage({ searchStrategy: sdkStrategy })
new LocalFileStorage('./memory/', sdkSandbox)
new LocalFileStorage('./memory/', sdkSandbox, sdkStrategy)
new LocalFileStorage('./memory/', undefined, sdkStrategy)
new LocalFileStorage('./memory/', { sandbox: sdkSandbox, searchStrategy: sdkStrategy, searchCacheBytes: 0 })
declare const sdkS3Config: S3StorageConfig
declare const sdkClient: NonNullable<S3StorageConfig['s3Client']>
new S3Storage('bucket', sdkS3Config)
new S3Storage('bucket', { s3Client: sdkClient, searchStrategy: sdkStrategy })
new SdkS3Storage('bucket', { searchStrategy: KeywordSearchStrategy })
new SessionManager({ sessionId: 'trip', storage: new S3Storage('bucket') })
const boxed: Storage = new LocalFileStorage('./memory/').forSandbox(sdkSandbox)

/** Written with the SDK's types. */
class SdkTyped implements SearchStrategy {
  async search(storage: Storage, query: string): Promise<StorageSearchResult[]> {
    return (await storage.list('')).map((key) => ({ key, score: key.length - query.length }))
  }
}
/** Written with ours. */
class OurTyped implements native.SearchStrategy {
  readonly requiresHostFs = false
  async index(storage: native.Storage, key: string, data: Uint8Array): Promise<void> {
    await storage.write(`index/${key}`, data)
  }
  async remove(storage: native.Storage, key: string): Promise<void> {
    await storage.delete(`index/${key}`)
  }
  async search(storage: native.Storage, query: string): Promise<native.StorageSearchResult[]> {
    return (await storage.list('')).map((key) => ({ key, score: key.length - query.length }))
  }
}
for (const strategy of [new SdkTyped(), new OurTyped()]) {
  new InMemoryStorage(strategy)
  new LocalFileStorage('./memory/', { searchStrategy: strategy })
  new SdkInMemoryStorage(strategy)
  new SdkLocalFileStorage('./memory/', undefined, strategy)
  new FileMemoryStore({ name: 'facts', storage: new LocalFileStorage(), search: strategy })
}

// What comes back has the types that the SDK's class gives.
const added: Promise<SdkAddResult> = new TestMemoryStore({ name: 'notes' }).add('text', { a: [1, null, { b: true }] })
const addedBySdk: Promise<TestMemoryAddResult> = new SdkTestMemoryStore({ name: 'sdk' }).add('text')
const score: number = tokenOverlapScore(tokenize('some words'), 'words')
const stopWords: ReadonlySet<string> = STOP_WORDS

export {
  added,
  addedBySdk,
  backfilled,
  boxed,
  entries,
  forFiles,
  found,
  ownStrategies,
  results,
  score,
  sdkLocalStrategy,
  stopWords,
  storages,
  strategies,
}
