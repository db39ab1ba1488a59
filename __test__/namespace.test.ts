// Views: the SDK's own over our storages, and ours over the storages of anybody.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Storage, StorageSearchResult } from 'strands-native'
import { KeywordSearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { type Entries, fill, keysAndScores } from './entries.js'
import { nativeStorage, sdkStorage } from './implementations.js'
import { MapSandbox } from './map-sandbox.js'
import { scratchDirectory } from './scratch-directory.js'
import { settled } from './settled.js'
import { decode, encode } from './text-bytes.js'

interface SdkStorageModule {
  namespace(storage: Storage, prefix: string): Storage
  resolveNamespace(storage: Storage, prefix: string): Storage
}

// The SDK's functions are not among its exports: they are loaded from the file beside the module that is.
const sdkIndex = createRequire(import.meta.url).resolve('@strands-agents/sdk/storage')
const sdk = (await import(pathToFileURL(join(dirname(sdkIndex), 'storage.js')).href)) as SdkStorageModule

const NAMESPACED = Symbol.for('strands.storage.namespaced')
const EPHEMERAL = Symbol.for('strands.storage.ephemeral')

/** A storage that is nobody's class, with rules of its own for keys, and a search. */
function plainStorage(extra: object = {}): Storage & { entries: Map<string, Uint8Array> } {
  const entries = new Map<string, Uint8Array>()
  return {
    entries,
    write: async (key, data) => void entries.set(key, data),
    read: async (key) => entries.get(key) ?? null,
    delete: async (key) => void entries.delete(key),
    list: async (prefix) => [...entries.keys()].filter((key) => key.startsWith(prefix)).sort(),
    ...extra,
  }
}

const searchByLength = (entries: Map<string, Uint8Array>) => async (query: string) =>
  [...entries.keys()].map((key, n) => ({ key, score: query.length, data: encode(`${n}`), more: true }))

/** A plain storage whose own search gives every entry. */
function searchable(): Storage {
  const storage = plainStorage()
  return Object.assign(storage, { search: searchByLength(storage.entries) })
}

const ours: [string, () => Storage][] = [
  ['our InMemoryStorage', () => new nativeStorage.InMemoryStorage()],
  ['our LocalFileStorage', () => new nativeStorage.LocalFileStorage(scratchDirectory())],
  ['our LocalFileStorage in a sandbox', () => new nativeStorage.LocalFileStorage('/box', new MapSandbox())],
  ['a view of ours', () => new nativeStorage.InMemoryStorage().namespace('outer')],
]
const theirs: [string, () => Storage][] = [
  ["the SDK's InMemoryStorage", () => new sdkStorage.InMemoryStorage()],
  ["the SDK's LocalFileStorage", () => new sdkStorage.LocalFileStorage(scratchDirectory())],
  ["a view of the SDK's InMemoryStorage", () => new sdkStorage.InMemoryStorage().namespace('outer')],
  ['a plain object', () => plainStorage()],
  ['a plain object with a search', searchable],
]

const prefixes = ['mem', '//mem', 'mem//a', 'a b', 'é/\u{1f600}', '', '/', '.', '..', 'a/../b', 'a\\b']

/** All that a view does, as plain data. */
async function use(storage: Storage, view: (storage: Storage, prefix: string) => Storage, prefix: string) {
  const outcomes: unknown[] = []
  const note = async (call: () => unknown) => outcomes.push(await settled(async () => call()))
  await fill(storage, { 'mem/outside.md': 'dark', 'memory/k': 'dark', k: 'dark mode', 'a b/x': 'dark' })
  await note(() => Object.keys(view(storage, prefix)).length > 0)
  if ('rejected' in (outcomes[0] as object)) return outcomes
  const it = view(storage, prefix)
  outcomes.push(NAMESPACED in it, EPHEMERAL in it)
  await note(() => it.write('k.md', encode('dark mode')))
  await note(() => it.write('sub/k', encode('mode')))
  await note(async () => decode(await it.read('k.md')))
  await note(() => it.read('absent'))
  for (const query of ['', 'k', 'sub/', 'sub', 'absent']) await note(() => it.list(query))
  await note(() => it.namespace!('sub').list(''))
  // The SDK's message names the whole prefix, ours of our own storages what the caller wrote.
  expect(() => it.namespace!('..')).toThrow("'..' path segments are not allowed")
  await note(async () => decode(await it.namespace!('sub').namespace!('deep').read('k')))
  await note(() => it.delete('sub/k'))
  await note(() => it.list(''))
  await note(() => storage.list(''))
  return outcomes
}

describe.each([...ours, ...theirs])('over %s', (_, open) => {
  it.each(prefixes)('our namespace does what that of the SDK does, for the prefix %j', async (prefix) => {
    const outcomes = await use(open(), nativeStorage.namespace, prefix)
    expect(outcomes.length).toBeGreaterThan(0)
    // Object.keys of a view is about its shape: ours of our own storages are instances of classes.
    const expected = await use(open(), sdk.namespace, prefix)
    const fold = (all: unknown[]) => ['rejected' in (all[0] as object) ? all[0] : 'a view', ...all.slice(1)]
    expect(fold(outcomes)).toEqual(fold(expected))
  })

  // The SDK keeps the slash, adds another, and cuts a letter off each key that it lists.
  it.each(['mem/', '/mem//', 'mem/a/'])('our namespace takes no harm from a slash at the end: %j', async (prefix) => {
    const storage = open()
    const view = nativeStorage.namespace(storage, prefix)
    await view.write('k', encode('dark'))
    expect(await view.list('')).toEqual(['k'])
    expect(await view.namespace!('').list('')).toEqual(['k'])
    expect(decode(await view.namespace!('/').read('k'))).toBe('dark')
    expect(await storage.list('')).toEqual([`${prefix.replace(/^\/|\/+$/g, '')}/k`])
  })

  it('a view never mixes mem and memory, in list or in search', async () => {
    const entries: Entries = { 'mem/a': 'dark', 'memory/b': 'dark', mem: 'dark', 'mem.md': 'dark' }
    if ('baseDir' in open()) delete entries.mem
    for (const namespace of [nativeStorage.namespace, sdk.namespace]) {
      const view = namespace(await fill(open(), entries), 'mem')
      expect(await view.list('')).toEqual(['a'])
      if (view.search) expect((await view.search('dark')).map(({ key }) => key)).toEqual(['a'])
    }
  })

  it('views of both kinds are stacked', async () => {
    const storage = open()
    const view = sdk.namespace(nativeStorage.namespace(sdk.namespace(storage, 'a'), 'b'), 'c')
    await view.write('k', encode('dark'))
    expect(await storage.list('')).toEqual(['a/b/c/k'])
    expect(decode(await view.read('k'))).toBe('dark')
    if (view.search) expect((await view.search('dark')).map(({ key }) => key)).toEqual(['k'])
  })

  it('the SDK resolves a namespace, and leaves a view as it is', async () => {
    const storage = open()
    const resolved = sdk.resolveNamespace(storage, 'session')
    await resolved.write('k', encode('text'))
    expect(await storage.list('')).toEqual([NAMESPACED in storage ? 'k' : 'session/k'])
    for (const view of [resolved, nativeStorage.namespace(storage, 'x')]) {
      expect(sdk.resolveNamespace(view, 'other')).toBe(view)
    }
  })
})

describe("the SDK's namespace over ours", () => {
  it.each(ours)('%s: finds what is in the view, under keys of the view, with data', async (_, open) => {
    const storage = await fill(open(), { 'mem/a': 'dark', 'mem/b': 'dark mode', 'memory/c': 'dark mode', d: 'dark' })
    expect(await sdk.namespace(storage, 'mem').search!('dark mode')).toEqual([
      { key: 'b', score: 2, data: encode('dark mode') },
      { key: 'a', score: 1, data: encode('dark') },
    ])
  })

  it.each(ours)('%s: is searched by our strategy', async (_, open) => {
    const view = sdk.namespace(await fill(open(), { 'mem/a.md': 'dark', 'mem/b': 'the' }), 'mem')
    for (const query of ['md', 'mem', 'the']) expect(await KeywordSearchStrategy.search(view, query)).toEqual([])
    expect(keysAndScores(await KeywordSearchStrategy.search(view, 'dark a'))).toEqual([['a.md', 1]])
  })
})

describe('our namespace', () => {
  it.each(theirs.filter(([name]) => name !== 'a plain object'))(
    'over %s searches through its search, and hands on what else a result holds',
    async (_, open) => {
      const entries = { 'mem/a': 'dark', 'mem/b': 'dark mode', 'memory/c': 'dark mode', d: 'dark' }
      const found = async (namespace: typeof nativeStorage.namespace) =>
        namespace(await fill(open(), entries), 'mem').search!('dark mode')
      const results: StorageSearchResult[] = await found(nativeStorage.namespace)
      expect(results).toHaveLength(2)
      expect(results).toEqual(await found(sdk.namespace))
    },
  )

  it('has no search where the storage has none', () => {
    const view = nativeStorage.namespace(plainStorage(), 'mem')
    expect(['search' in view, 'search' in sdk.namespace(plainStorage(), 'mem')]).toEqual([false, false])
  })

  it.each([...ours, ...theirs])('over %s carries the marks that the SDK looks for', (_, open) => {
    const view = nativeStorage.namespace(open(), 'mem')
    expect(NAMESPACED in view).toBe(true)
    expect(EPHEMERAL in view).toBe(EPHEMERAL in open())
    expect(NAMESPACED in view.namespace!('a')).toBe(true)
    expect(EPHEMERAL in view.namespace!('a')).toBe(EPHEMERAL in open())
  })

  it('hands on what the storage rejects with or throws, as it is', async () => {
    const fault = { any: 'thing' }
    const rejecting = () => Promise.reject(fault)
    const throwing = () => {
      throw fault
    }
    for (const fail of [rejecting, throwing]) {
      const view = nativeStorage.namespace(
        { write: fail, read: fail, delete: fail, list: fail, search: fail } as never,
        'mem',
      )
      for (const call of [
        () => view.write('k', encode('')),
        () => view.read('k'),
        () => view.delete('k'),
        () => view.list(''),
        () => view.search!('q'),
      ]) {
        const promise = call()
        expect(promise).toBeInstanceOf(Promise)
        await expect(promise).rejects.toBe(fault)
      }
    }
  })

  it('hands on the very bytes, and plain values of the storage', async () => {
    const bytes = encode('text')
    const seen: unknown[] = []
    const storage = {
      write: (...args: unknown[]) => void seen.push(args),
      read: (key: string) => (key === 'mem/k' ? bytes : null),
      delete: (key: string) => void seen.push(key),
      list: () => ['mem/k'],
    }
    const view = nativeStorage.namespace(storage as never, 'mem')
    await view.write('k', bytes)
    await view.delete('k')
    expect(seen).toEqual([['mem/k', bytes], 'mem/k'])
    expect((seen[0] as unknown[])[1]).toBe(bytes)
    expect(await view.read('k')).toBe(bytes)
    expect(await view.list('')).toEqual(['k'])
  })

  it('leaves keys to the storage, which may have rules of its own', async () => {
    const storage = plainStorage()
    const view = nativeStorage.namespace(storage, 'mem')
    for (const key of ['a//b', '../x', 'a\\b', '']) await view.write(key, encode(key))
    expect([...storage.entries.keys()]).toEqual(['mem/a//b', 'mem/../x', 'mem/a\\b', 'mem/'])
    expect(await view.list('')).toEqual(['', '../x', 'a//b', 'a\\b'])
  })

  it('calls the methods of the storage as methods, looked up at each call', async () => {
    class Counting {
      #reads = 0
      async read() {
        this.#reads += 1
        return Uint8Array.of(this.#reads)
      }
    }
    const storage = new Counting() as unknown as Storage
    const view = nativeStorage.namespace(storage, 'mem')
    await view.read('k')
    expect([...(await view.read('k'))!]).toEqual([2])
    storage.read = async () => Uint8Array.of(99)
    expect([...(await view.read('k'))!]).toEqual([99])
  })

  it.each([5, null, undefined, {}])('refuses the prefix %j', (prefix) => {
    for (const [, open] of [...ours, ...theirs]) {
      expect(() => nativeStorage.namespace(open(), prefix as never)).toThrow(TypeError)
    }
  })

  it.each([5, null, undefined, 'text'])('refuses %j in place of a storage', (storage) => {
    expect(() => nativeStorage.namespace(storage as never, 'mem')).toThrow(TypeError)
  })
})
