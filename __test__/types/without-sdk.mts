// Every name of every entry point, in a program that has no SDK, no Node types and no DOM.

import type * as everything from 'strands-native'
import type { JSONValue, MemoryEntry, SearchOptions, SearchStrategy, StorageSearchResult } from 'strands-native'
import type { Storage } from 'strands-native/storage'
import { InMemoryStorage, LocalFileStorage, type NamespacedStorage, StorageError } from 'strands-native/storage'
import { STOP_WORDS, tokenize, tokenOverlapScore } from 'strands-native/storage/search'
import * as stores from 'strands-native/vended-memory-stores'
import type { TestMemoryAddResult, TestMemoryStoreConfig } from 'strands-native/vended-memory-stores/test-memory-store'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'

export async function useStorages(): Promise<StorageSearchResult[]> {
  const memory = new InMemoryStorage()
  const view: NamespacedStorage = memory.namespace('a').namespace('b')
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
