// Our classes where the SDK's own types are asked for, and the SDK's values where ours are.

import type { ExtractionConfig, MemoryStore, Storage } from '@strands-agents/sdk'
import { Agent, IntervalTrigger, ModelExtractor } from '@strands-agents/sdk'
import { InMemoryStorage as SdkInMemoryStorage } from '@strands-agents/sdk/storage'
import type { SearchStrategy, StorageSearchResult } from '@strands-agents/sdk/storage/search'
import type {
  TestMemoryAddResult as SdkAddResult,
  TestMemoryStoreConfig as SdkConfig,
} from '@strands-agents/sdk/vended-memory-stores/test-memory-store'
import { TestMemoryStore as SdkTestMemoryStore } from '@strands-agents/sdk/vended-memory-stores/test-memory-store'
import type * as native from 'strands-native'
import { InMemoryStorage, LocalFileStorage } from 'strands-native/storage'
import { STOP_WORDS, tokenize, tokenOverlapScore } from 'strands-native/storage/search'
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

// What comes back has the types that the SDK's class gives.
const added: Promise<SdkAddResult> = new TestMemoryStore({ name: 'notes' }).add('text', { a: [1, null, { b: true }] })
const addedBySdk: Promise<TestMemoryAddResult> = new SdkTestMemoryStore({ name: 'sdk' }).add('text')
const score: number = tokenOverlapScore(tokenize('some words'), 'words')
const stopWords: ReadonlySet<string> = STOP_WORDS

export { added, addedBySdk, entries, found, results, score, stopWords, storages, strategies }
