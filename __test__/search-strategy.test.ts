// Strategies that a user writes: when they are called, with what, and what becomes of what they give or throw.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  SearchStrategy as SdkSearchStrategy,
  StorageSearchResult as SdkStorageSearchResult,
} from '@strands-agents/sdk/storage/search'
import type { SearchStrategy, Storage, StorageSearchResult } from 'strands-native/storage'
import { KeywordSearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { runProgram, runScript } from './child-program.js'
import { fill, keysAndScores } from './entries.js'
import { nativeStorage, sdkStorage, type Who } from './implementations.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

type Backend = 'InMemoryStorage' | 'LocalFileStorage'
type AnyStrategy = SearchStrategy & SdkSearchStrategy
type AnyStorage = Storage & {
  namespace(prefix: string): Storage
  search(query: string): Promise<StorageSearchResult[]>
}

function open(who: Who, backend: Backend, strategy: unknown, folder = scratchDirectory): AnyStorage {
  const classes = who === 'sdk' ? sdkStorage : nativeStorage
  return backend === 'InMemoryStorage'
    ? new classes.InMemoryStorage(strategy as never)
    : new classes.LocalFileStorage(folder(), undefined, strategy as never)
}

const backends: [Who, Backend][] = [
  ['sdk', 'InMemoryStorage'],
  ['native', 'InMemoryStorage'],
  ['sdk', 'LocalFileStorage'],
  ['native', 'LocalFileStorage'],
]
const ours = backends.filter(([who]) => who === 'native')

/** Takes note of every call. */
class Recording implements SearchStrategy {
  readonly calls: unknown[][] = []
  results: StorageSearchResult[] = []

  async index(...args: [Storage, string, Uint8Array]): Promise<void> {
    this.calls.push(['index', ...args])
  }

  async search(...args: [Storage, string]): Promise<StorageSearchResult[]> {
    this.calls.push(['search', ...args])
    return this.results
  }
}

/** Values of every type, since anything can be thrown. */
const faults: [string, unknown][] = [
  ['an Error', new RangeError('broken')],
  ['a frozen error', Object.freeze(new Error('broken'))],
  ['a StorageError of ours', new nativeStorage.StorageError('broken')],
  ['an object', { code: 'EACCES' }],
  ['a string', 'broken'],
  ['a number', 5],
  ['zero', 0],
  ['undefined', undefined],
  ['null', null],
  ['false', false],
  ['a BigInt', 5n],
  ['a symbol', Symbol('broken')],
  ['a function', () => 'broken'],
]

const fulfilled = Symbol('fulfilled')
const rejected = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => fulfilled,
    (error: unknown) => error,
  )

/** Both ways in which an asynchronous function of the user can fail. */
const failures = (fault: unknown): (() => Promise<never>)[] => [
  () => Promise.reject(fault),
  () => {
    throw fault
  },
]

describe.each(backends)('a strategy of %s %s', (who, backend) => {
  it('is called with the storage that the user holds, as a method, with the key as it is kept', async () => {
    const seen: unknown[] = []
    const strategy = {
      async index(this: unknown, storage: unknown, key: string, data: Uint8Array) {
        seen.push(['index', this === strategy, storage === held, key, decode(data)])
      },
      async search(this: unknown, storage: unknown, query: string) {
        seen.push(['search', this === strategy, storage === held, query])
        return []
      },
    }
    const held = open(who, backend, strategy)
    await held.write('/a//b/./c/', encode('text'))
    await held.search('  The Query ')
    expect(seen).toEqual([
      ['index', true, true, 'a/b/./c', 'text'],
      ['search', true, true, '  The Query '],
    ])
  })

  it('is called with the subclass instance that the user holds', async () => {
    const classes = who === 'sdk' ? sdkStorage : nativeStorage
    const strategy = new Recording()
    class Mine extends (classes.InMemoryStorage as typeof nativeStorage.InMemoryStorage) {
      readonly mine = true
    }
    const held = new Mine(strategy)
    await held.write('k', encode('text'))
    await held.search('q')
    expect(strategy.calls.map(([, storage]) => storage === held && held.mine)).toEqual([true, true])
  })

  it('is called when the bytes have landed, and the write waits for it', async () => {
    const order: string[] = []
    const folder = scratchDirectory()
    const strategy = {
      async index(storage: Storage, key: string) {
        order.push(`index finds ${decode(await storage.read(key))} in ${await storage.list('')}`)
        if (backend === 'LocalFileStorage') expect(readFileSync(join(folder, key), 'utf8')).toBe('text')
        for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        order.push('index ends')
      },
      search: async () => [],
    }
    const storage = open(who, backend, strategy, () => folder)
    await storage.write('k', encode('text')).then(() => order.push('write ends'))
    expect(order).toEqual(['index finds text in k', 'index ends', 'write ends'])
  })

  it('is called for each write, of the same value too, and not for anything else', async () => {
    const strategy = new Recording()
    const storage = open(who, backend, strategy)
    for (const text of ['one', 'one', 'two', '']) await storage.write('k', encode(text))
    await Promise.all([storage.read('k'), storage.list(''), storage.read('absent')])
    await storage.delete('k')
    await storage.delete('absent')
    expect(strategy.calls.map(([call, , key, data]) => [call, key, decode(data as Uint8Array)])).toEqual([
      ['index', 'k', 'one'],
      ['index', 'k', 'one'],
      ['index', 'k', 'two'],
      ['index', 'k', ''],
    ])
  })

  it('is not called for a write that fails', async () => {
    const strategy = new Recording()
    const folder = scratchDirectory()
    const storage = open(who, backend, strategy, () => folder)
    for (const key of ['', '..', 'a\\b']) expect((await rejectionOf(storage.write(key, encode('')))).name).toBeTruthy()
    if (backend === 'LocalFileStorage') {
      writeFileSync(join(folder, 'file'), '')
      expect((await rejectionOf(storage.write('file/below', encode('')))).name).toBe('StorageError')
    }
    expect(strategy.calls).toEqual([])
  })

  it.each([
    ['nothing but search', { search: async () => [] }],
    ['an index that is undefined', { search: async () => [], index: undefined, remove: undefined }],
    ['an index that is null', { search: async () => [], index: null, remove: null }],
  ])('may have %s', async (_, strategy) => {
    const storage = open(who, backend, strategy)
    expect(await storage.write('k', encode('text'))).toBeUndefined()
    expect(await storage.search('text')).toEqual([])
    expect(await storage.delete('k')).toBeUndefined()
    expect(await storage.list('')).toEqual([])
  })

  it.each(faults)('has its fault in index handed on as it is, and the value is written: %s', async (_, fault) => {
    for (const index of failures(fault)) {
      const storage = open(who, backend, { index, search: async () => [] })
      expect(await rejected(storage.write('k', encode('text')))).toBe(fault)
      expect(decode(await storage.read('k'))).toBe('text')
    }
  })

  it.each(faults)('has its fault in search handed on as it is: %s', async (_, fault) => {
    for (const search of failures(fault)) {
      const call = open(who, backend, { search }).search('q')
      expect(call).toBeInstanceOf(Promise)
      expect(await rejected(call)).toBe(fault)
    }
  })

  it('works again after a fault', async () => {
    let fails = true
    const strategy = {
      index: async () => {
        if (fails) throw new Error('broken')
      },
      search: async () => {
        if (fails) throw new Error('broken')
        return [{ key: 'k', score: 1 }]
      },
    }
    const storage = open(who, backend, strategy)
    await expect(storage.write('k', encode('one'))).rejects.toThrow('broken')
    await expect(storage.search('q')).rejects.toThrow('broken')
    fails = false
    await storage.write('k', encode('two'))
    expect(await storage.search('q')).toEqual([{ key: 'k', score: 1 }])
    expect(decode(await storage.read('k'))).toBe('two')
  })

  it('gives what it gives: the very results, of any type', async () => {
    const results = [{ key: 'made-up', score: -0.5, data: encode('bytes'), more: 'than asked for' }]
    for (const value of [results, [], undefined, null, 0, 'text', new Map()]) {
      expect(await open(who, backend, { search: async () => value }).search('q')).toBe(value)
      expect(await open(who, backend, { search: () => value }).search('q')).toBe(value)
      // biome-ignore lint/suspicious/noThenProperty: a thenable is what the test is about
      const thenable = { then: (resolve: (value: unknown) => void) => resolve(value) }
      expect(await open(who, backend, { search: () => thenable }).search('q')).toBe(value)
    }
  })

  it('has the thenable that index returns awaited, and its fault handed on', async () => {
    let awaited = 0
    // biome-ignore-start lint/suspicious/noThenProperty: thenables are what the test is about
    const resolving = {
      then(resolve: () => void) {
        awaited += 1
        setImmediate(resolve)
      },
    }
    const rejecting = { then: (_: unknown, reject: (reason: unknown) => void) => reject('broken') }
    // biome-ignore-end lint/suspicious/noThenProperty: thenables are what the test is about
    await open(who, backend, { search: () => [], index: () => resolving }).write('k', encode(''))
    expect(awaited).toBe(1)
    const storage = open(who, backend, { search: () => [], index: () => rejecting })
    expect(await rejected(storage.write('k', encode('')))).toBe('broken')
    expect(await open(who, backend, { search: () => [], index: () => 5 }).write('k', encode(''))).toBeUndefined()
  })

  it('may take a query of any type', async () => {
    const strategy = new Recording()
    const storage = open(who, backend, strategy)
    const vector = { embedding: Float32Array.of(1, 2) }
    for (const query of [vector, undefined, 5]) await storage.search(query as never)
    expect(strategy.calls.map(([, , query]) => query)).toEqual([vector, undefined, 5])
  })

  it.each<[string, () => unknown]>([
    ['an instance with private state', () => new CountingStrategy()],
    ['a frozen object', () => Object.freeze({ search: async () => [{ key: 'found', score: 1 }] })],
    ['a sealed object', () => Object.seal({ search: async () => [{ key: 'found', score: 1 }] })],
    ['an object without a prototype', () => Object.assign(Object.create(null), new StaticLike())],
    ['a function with a search', () => Object.assign(() => {}, { search: async () => [{ key: 'found', score: 1 }] })],
    ['a class with a static search', () => StaticStrategy],
    ['a proxy', () => new Proxy({ search: async () => [{ key: 'found', score: 1 }] }, {})],
    ['an object whose search is inherited', () => Object.create({ search: async () => [{ key: 'found', score: 1 }] })],
  ])('may be %s', async (_, make) => {
    const storage = open(who, backend, make())
    await storage.write('k', encode('text'))
    expect(keysAndScores(await storage.search('q'))).toEqual([['found', 1]])
  })

  it('has its methods looked up at each call', async () => {
    const strategy: { search(): Promise<StorageSearchResult[]>; index?: () => Promise<void> } = {
      search: async () => [],
    }
    const storage = open(who, backend, strategy)
    await storage.write('k', encode(''))
    let indexed = 0
    strategy.index = async () => {
      indexed += 1
    }
    strategy.search = async () => [{ key: 'new', score: 1 }]
    await storage.write('k', encode(''))
    expect([indexed, keysAndScores(await storage.search('q'))]).toEqual([1, [['new', 1]]])
  })

  it('may serve several storages at once', async () => {
    const strategy = new Recording()
    const [first, second] = [open(who, backend, strategy), open(who, 'InMemoryStorage', strategy)]
    await Promise.all([first.write('k', encode('one')), second.write('k', encode('two'))])
    await Promise.all([first.search('q'), second.search('q')])
    const callsOn = (storage: Storage) => strategy.calls.filter(([, of]) => of === storage).map(([call]) => call)
    expect([callsOn(first), callsOn(second), strategy.calls.length]).toEqual([
      ['index', 'search'],
      ['index', 'search'],
      4,
    ])
  })

  it('may call the storage from within, the same methods too', async () => {
    const strategy = {
      async index(storage: Storage, key: string, data: Uint8Array) {
        if (!key.startsWith('index/')) await storage.write(`index/${key}`, data)
      },
      async search(storage: Storage, query: string): Promise<StorageSearchResult[]> {
        return query === 'outer' ? storage.search!('inner') : KeywordSearchStrategy.search(storage, query)
      },
    }
    const storage = open(who, backend, strategy)
    await storage.write('inner', encode('text'))
    expect(await storage.list('')).toEqual(['index/inner', 'inner'])
    expect(keysAndScores(await storage.search('outer'))).toEqual([
      ['index/inner', 1],
      ['inner', 1],
    ])
  })

  it('is told of writes in the order in which they were called, if each is waited for', async () => {
    const strategy = new Recording()
    const storage = open(who, backend, strategy)
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`)
    for (const key of keys) await storage.write(key, encode(key))
    expect(strategy.calls.map(([, , key]) => key)).toEqual(keys)
    strategy.calls.length = 0
    await Promise.all(keys.map((key) => storage.write(key, encode(key))))
    expect(strategy.calls.map(([, , key]) => key).sort()).toEqual([...keys].sort())
  })

  it('takes the place of the keyword search, and no strategy leaves it there', async () => {
    const entries = { k: 'text' }
    expect(await (await fill(open(who, backend, { search: async () => [] }), entries)).search('text')).toEqual([])
    expect(keysAndScores(await (await fill(open(who, backend, undefined), entries)).search('text'))).toEqual([['k', 1]])
  })
})

class CountingStrategy {
  #searches = 0
  #indexed = new Set<string>()

  async index(_: Storage, key: string): Promise<void> {
    this.#indexed.add(key)
  }

  async search(): Promise<StorageSearchResult[]> {
    this.#searches += 1
    return this.#indexed.has('k') ? [{ key: 'found', score: this.#searches }] : []
  }
}

class StaticLike {
  search = async () => [{ key: 'found', score: 1 }]
}

// biome-ignore lint/complexity/noStaticOnlyClass: that a class serves as a strategy is what the test is about
class StaticStrategy {
  static async search() {
    return [{ key: 'found', score: 1 }]
  }
}

describe.each(backends)('a view of %s %s with a strategy', (who, backend) => {
  const results: StorageSearchResult[] = [
    { key: 'mem/b', score: 3, data: encode('b') },
    { key: 'memory/x', score: 2 },
    { key: 'mem', score: 2 },
    { key: 'mem/a/c', score: 1 },
    { key: 'other', score: 1 },
  ]

  // In memory a view is a filter over the whole; a folder is a storage of its own, with the same strategy.
  it(
    backend === 'InMemoryStorage'
      ? 'asks it about the whole storage, and keeps what is in the view, under keys of the view'
      : 'asks it about the subfolder, and keeps what it gives',
    async () => {
      const strategy = new Recording()
      strategy.results = results
      const storage = open(who, backend, strategy)
      const view = storage.namespace('mem')
      await view.write('b', encode('text'))
      const found = await view.search!('q')
      const seen = strategy.calls.map(([call, of, key]) => [call, of === storage, of === view, key])
      if (backend === 'InMemoryStorage') {
        expect(found).toEqual([
          { key: 'b', score: 3, data: encode('b') },
          { key: 'a/c', score: 1 },
        ])
        expect(seen).toEqual([
          ['index', true, false, 'mem/b'],
          ['search', true, false, 'q'],
        ])
      } else {
        expect(found).toBe(results)
        expect(seen).toEqual([
          ['index', false, true, 'b'],
          ['search', false, true, 'q'],
        ])
      }
      expect(await storage.list('')).toEqual(['mem/b'])
    },
  )

  it('goes on with views within views', async () => {
    const strategy = new Recording()
    strategy.results = results
    const view = open(who, backend, strategy).namespace('mem').namespace!('a')
    await view.write('c', encode('text'))
    expect(strategy.calls.map(([, , key]) => key)).toEqual([backend === 'InMemoryStorage' ? 'mem/a/c' : 'c'])
    const found = await view.search!('q')
    expect(found).toEqual(backend === 'InMemoryStorage' ? [{ key: 'c', score: 1 }] : results)
    expect(await view.list('')).toEqual(['c'])
  })

  it('carries the marks of the SDK', () => {
    const view = open(who, backend, new Recording()).namespace('mem')
    expect(Symbol.for('strands.storage.namespaced') in view).toBe(true)
    expect(Symbol.for('strands.storage.ephemeral') in view).toBe(backend === 'InMemoryStorage')
  })

  it('hands its faults on as they are', async () => {
    const strategy = {
      index: () => Promise.reject('no index'),
      search: (): Promise<never> => {
        throw 'no search'
      },
    }
    const view = open(who, backend, strategy).namespace('mem')
    expect(await rejected(view.write('k', encode('')))).toBe('no index')
    expect(await rejected(view.search!('q'))).toBe('no search')
    expect(await view.list('')).toEqual(['k'])
  })

  it('of a subclass asks the search that the subclass has', async () => {
    if (backend === 'LocalFileStorage') {
      // The view of a folder is a storage of the class itself, in the SDK too: there is no override to ask.
      expect(open(who, backend, undefined).namespace('mem').constructor.name).toBe('LocalFileStorage')
      return
    }
    const classes = who === 'sdk' ? sdkStorage : nativeStorage
    class Mine extends (classes.InMemoryStorage as typeof nativeStorage.InMemoryStorage) {
      override async search() {
        return results
      }
    }
    expect(keysAndScores(await new Mine().namespace('mem').search!('q'))).toEqual([
      ['b', 3],
      ['a/c', 1],
    ])
  })
})

// The SDKs have no `remove`, hand on the caller's own buffer, and take no options objects.
describe.each(ours)('a strategy of %s %s, unlike one of the SDK,', (who, backend) => {
  it('indexes the bytes as they were at the call, whatever the caller does to its buffer', async () => {
    const seen: (string | null)[] = []
    const strategy = {
      index: async (_: Storage, __: string, data: Uint8Array) => {
        expect(Object.getPrototypeOf(data)).toBe(Uint8Array.prototype)
        seen.push(decode(data))
        data.fill(0)
      },
      search: async () => [],
    }
    const storage = open(who, backend, strategy)
    const whole = Buffer.from('..text..')
    const written = storage.write('k', whole.subarray(2, 6))
    whole.fill(120)
    await written
    expect(seen).toEqual(['text'])
    // Nor does it matter what the strategy does to its copy.
    expect(decode(await storage.read('k'))).toBe('text')
    expect(whole.toString()).toBe('xxxxxxxx')
  })

  it('is told of a removal, with the storage and the key as it is kept, after it has happened', async () => {
    const seen: unknown[] = []
    const strategy = {
      search: async () => [],
      async remove(this: unknown, storage: Storage, key: string) {
        seen.push([this === strategy, storage === held, key, await storage.read(key)])
      },
    }
    const held = open(who, backend, strategy)
    await held.write('a/b', encode('text'))
    await held.delete('/a//b')
    await held.delete('absent')
    expect(seen).toEqual([
      [true, true, 'a/b', null],
      [true, true, 'absent', null],
    ])
    expect((await rejectionOf(held.delete('..'))).name).toBe('StorageError')
    expect(seen).toHaveLength(2)
  })

  it('has a delete wait for remove', async () => {
    const order: string[] = []
    const remove = async () => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      order.push('remove ends')
    }
    await open(who, backend, { search: async () => [], remove })
      .delete('k')
      .then(() => order.push('delete ends'))
    expect(order).toEqual(['remove ends', 'delete ends'])
  })

  it.each(faults)('has its fault in remove handed on as it is, and the value is gone: %s', async (_, fault) => {
    for (const remove of failures(fault)) {
      const storage = open(who, backend, { remove, search: async () => [] })
      await storage.write('k', encode('text'))
      expect(await rejected(storage.delete('k'))).toBe(fault)
      expect(await storage.read('k')).toBeNull()
    }
  })
})

describe('the constructors', () => {
  const strategy = { search: async () => [{ key: 'found', score: 1 }] }
  const usesIt = async (storage: Storage) => keysAndScores(await storage.search!('q')).length === 1

  it.each<[string, () => Storage, boolean]>([
    ['InMemoryStorage(strategy)', () => new nativeStorage.InMemoryStorage(strategy), true],
    [
      'InMemoryStorage({ searchStrategy })',
      () => new nativeStorage.InMemoryStorage({ searchStrategy: strategy }),
      true,
    ],
    ['InMemoryStorage({})', () => new nativeStorage.InMemoryStorage({}), false],
    ['InMemoryStorage(undefined)', () => new nativeStorage.InMemoryStorage(undefined), false],
    ['InMemoryStorage({ undefined })', () => new nativeStorage.InMemoryStorage({ searchStrategy: undefined }), false],
    ['LocalFileStorage(dir, undefined, strategy)', () => local(undefined, strategy), true],
    ['LocalFileStorage(dir, { searchStrategy })', () => local({ searchStrategy: strategy }), true],
    ['LocalFileStorage(dir, { fsync }, strategy)', () => local({ fsync: true }, strategy), true],
    ['LocalFileStorage(dir, {})', () => local({}), false],
    ['LocalFileStorage(dir)', () => local(), false],
  ])('take the strategy of %s', async (_, make, isUsed) => {
    expect(await usesIt(make())).toBe(isUsed)
  })

  function local(...extras: unknown[]): Storage {
    return new nativeStorage.LocalFileStorage(scratchDirectory(), ...(extras as []))
  }

  it('take a strategy with other methods for a strategy', async () => {
    const wide = { ...strategy, searchStrategy: 5, fsync: true, readFile: async () => encode('') }
    expect(await usesIt(new nativeStorage.InMemoryStorage(wide as never))).toBe(true)
    expect(await usesIt(new nativeStorage.InMemoryStorage({ searchStrategy: wide }))).toBe(true)
    expect(await usesIt(local(undefined, wide))).toBe(true)
  })

  it('take null for nothing', async () => {
    for (const storage of [local(null, null), new nativeStorage.InMemoryStorage(null as never)]) {
      expect(await usesIt(storage)).toBe(false)
    }
  })

  it.each([5, 'text', true, 5n, Symbol('s')])('refuse %s', (value) => {
    expect(() => new nativeStorage.InMemoryStorage(value as never)).toThrow(TypeError)
    expect(() => new nativeStorage.InMemoryStorage({ searchStrategy: value } as never)).toThrow(/searchStrategy/)
    expect(() => local(value)).toThrow(TypeError)
    expect(() => local(undefined, value)).toThrow(/searchStrategy/)
  })

  it.each([{}, { search: 5 }, { index: () => {} }, []])('refuse a strategy without a search: %j', (value) => {
    expect(() => new nativeStorage.InMemoryStorage({ searchStrategy: value } as never)).toThrow(
      /searchStrategy.*search/,
    )
    expect(() => local(undefined, value)).toThrow(/searchStrategy.*search/)
  })

  it('hand on what a getter of their argument throws', () => {
    const fault = new RangeError('thrown by the getter')
    const options = Object.defineProperty({}, 'searchStrategy', {
      get() {
        throw fault
      },
    })
    expect(() => new nativeStorage.InMemoryStorage(options)).toThrow(fault)
    expect(() => local(options)).toThrow(fault)
  })
})

describe('our KeywordSearchStrategy, given as the strategy,', () => {
  const forms = [
    ['an instance', new KeywordSearchStrategy()],
    ['the class', KeywordSearchStrategy],
  ] as const

  it.each(forms)('as %s, finds what a storage without one finds', async (_, strategy) => {
    const entries = { 'a.md': 'dark mode', 'md/b': 'dark', 'sub/c': 'the' }
    for (const make of [
      (given?: typeof strategy) => new nativeStorage.InMemoryStorage(given),
      (given?: typeof strategy) => new nativeStorage.LocalFileStorage(scratchDirectory(), undefined, given),
    ]) {
      const [given, byDefault] = [await fill(make(strategy), entries), await fill(make(), entries)]
      for (const query of ['dark mode', 'md', 'the', 'sub', '']) {
        expect(await given.search(query)).toEqual(await byDefault.search(query))
      }
    }
  })

  // CONTRACT.md: a namespaced view scores keys without the prefix.
  it.each(forms)('as %s, scores the keys of a view without its prefix', async (_, strategy) => {
    const entries = { 'alpha/one': 'text', 'alpha/alpha': 'text', 'beta/alpha': 'text' }
    const view = (await fill(new nativeStorage.InMemoryStorage(strategy), entries)).namespace('alpha')
    expect(keysAndScores(await view.search!('alpha'))).toEqual([['alpha', 1]])
    expect(keysAndScores(await view.search!('text'))).toEqual([
      ['alpha', 1],
      ['one', 1],
    ])
  })
})

// The strategies of seeds/search-strategies.txt, in TypeScript. (Its BM25 example waits for Bm25SearchStrategy.)
describe.each(backends)('the examples of the documentation, on %s %s', (who, backend) => {
  /** Ranks entries by how often the exact query phrase appears. */
  class PhraseSearchStrategy implements SearchStrategy {
    async search(storage: Storage, query: string): Promise<StorageSearchResult[]> {
      const phrase = query.trim().toLowerCase()
      if (!phrase) return []
      const results: StorageSearchResult[] = []
      for (const key of await storage.list('')) {
        const data = await storage.read(key)
        if (data === null) continue
        const score = new TextDecoder().decode(data).toLowerCase().split(phrase).length - 1
        if (score > 0) results.push({ key, score, data })
      }
      return results.sort((left, right) => right.score - left.score)
    }
  }

  it('the strategy that ranks by the number of times a phrase occurs', async () => {
    const strategy: AnyStrategy = new PhraseSearchStrategy()
    const storage = open(who, backend, strategy)
    await fill(storage, {
      once: 'Dark mode is dark.',
      'thrice.md': 'dark MODE, Dark mode; dark mode',
      apart: 'dark and mode',
      'dark mode': 'only the key',
    })
    const results: SdkStorageSearchResult[] = await storage.search(' dark mode ')
    expect(keysAndScores(results)).toEqual([
      ['thrice.md', 3],
      ['once', 1],
    ])
    expect(decode(results[0]!.data!)).toBe('dark MODE, Dark mode; dark mode')
    expect(await storage.search('  ')).toEqual([])
    expect(await storage.search('absent')).toEqual([])
  })

  it('the keyword strategy, called with the storage', async () => {
    const storage = await fill(open(who, backend, undefined), { a: 'a dark mode toggle', b: 'dark mode', c: 'light' })
    const strategy = new KeywordSearchStrategy()
    const results = await strategy.search(storage, 'dark mode toggle')
    expect(keysAndScores(results)).toEqual([
      ['a', 3],
      ['b', 2],
    ])
  })

  it('a strategy that keeps an index, passed to the storage: each write is indexed, each search asks it', async () => {
    /** Words and the keys that hold them. */
    class WordIndexStrategy implements SearchStrategy {
      private readonly words = new Map<string, Set<string>>()

      async index(_: Storage, key: string, data: Uint8Array): Promise<void> {
        await this.remove(_, key)
        for (const word of new TextDecoder().decode(data).toLowerCase().split(/\W+/)) {
          if (!this.words.has(word)) this.words.set(word, new Set())
          this.words.get(word)!.add(key)
        }
      }

      async remove(_: Storage, key: string): Promise<void> {
        for (const keys of this.words.values()) keys.delete(key)
      }

      async search(_: Storage, query: string): Promise<StorageSearchResult[]> {
        return [...(this.words.get(query.toLowerCase()) ?? [])].map((key) => ({ key, score: 1 }))
      }
    }

    const strategy: AnyStrategy = new WordIndexStrategy()
    const storage = open(who, backend, strategy)
    await storage.write('auth.md', encode('OAuth2 authentication flow'))
    expect(await storage.search('authentication')).toEqual([{ key: 'auth.md', score: 1 }])
    await storage.write('auth.md', encode('passwords'))
    expect(await storage.search('authentication')).toEqual([])
    expect(await storage.search('passwords')).toEqual([{ key: 'auth.md', score: 1 }])
    await storage.delete('auth.md')
    // Only ours tells a strategy of a removal.
    expect(await storage.search('passwords')).toHaveLength(who === 'sdk' ? 1 : 0)
  })
})

describe('a process with strategies and sandboxes', () => {
  const timeoutMs = 15_000

  it('ends by itself when a strategy never answers', async () => {
    const directory = scratchDirectory()
    const source = `
      const { InMemoryStorage, LocalFileStorage } = await load('native')
      const never = () => new Promise(() => {})
      const strategy = { index: never, remove: never, search: never }
      const sandbox = { readFile: never, writeFile: never, removeFile: never, listFiles: never }
      const memory = new InMemoryStorage(strategy)
      const files = new LocalFileStorage(${JSON.stringify(directory)}, { searchStrategy: strategy })
      const boxed = new LocalFileStorage('/box', sandbox)
      const { KeywordSearchStrategy } = await import('strands-native/storage/search')
      for (const storage of [memory, files, boxed]) {
        storage.write('k', new Uint8Array(1))
        storage.delete('other')
        storage.search('q')
        storage.read('k')
        storage.list('')
      }
      KeywordSearchStrategy.search({ list: never }, 'word')
      KeywordSearchStrategy.search({ list: () => ['a'], read: never }, 'word')
      process.on('exit', () => console.log('null'))
    `
    expect(await runScript(source, { timeoutMs })).toBeNull()
    expect(existsSync(join(directory, 'k'))).toBe(true)
  })

  it('lets go of a storage, its strategy and its sandbox that refer to each other', async () => {
    const source = `
      const { InMemoryStorage, LocalFileStorage } = await load('native')
      const { KeywordSearchStrategy } = await import('strands-native/storage/search')
      const collected = {}
      const registry = new FinalizationRegistry((name) => { collected[name] = (collected[name] ?? 0) + 1 })
      const nothing = async () => []
      const bytes = new Uint8Array(10)
      async function round() {
        const strategy = { index: nothing, remove: nothing, search: nothing }
        const sandbox = { readFile: async () => bytes, writeFile: nothing, removeFile: nothing, listFiles: nothing }
        const memory = new InMemoryStorage(strategy)
        const files = new LocalFileStorage('/does/not/exist', { searchStrategy: strategy })
        const boxed = files.forSandbox(sandbox)
        const view = memory.namespace('n')
        const plain = { list: async () => ['k'], read: async () => bytes }
        Object.assign(strategy, { memory, files, boxed, view })
        Object.assign(sandbox, { boxed, plain })
        Object.assign(memory, { strategy, view })
        Object.assign(plain, { plain, memory })
        registry.register(strategy, 'strategies')
        registry.register(sandbox, 'sandboxes')
        registry.register(memory, 'memories')
        registry.register(files, 'files')
        registry.register(boxed, 'boxed')
        registry.register(view, 'views')
        registry.register(plain, 'plains')
        await memory.write('k', bytes)
        await view.write('k', bytes)
        await Promise.all([memory.search('q'), view.search('q'), boxed.search('q'), boxed.write('k', bytes)])
        await Promise.all([boxed.read('k'), memory.delete('k'), files.search('q')])
        await KeywordSearchStrategy.search(plain, 'word')
        await new KeywordSearchStrategy({ normalize: 'NFC' }).search(plain, 'word')
      }
      for (let n = 0; n < 200; n += 1) await round()
      for (let pass = 0; pass < 50 && Object.values(collected).some((count) => count < 200); pass += 1) {
        globalThis.gc()
        await new Promise((resolve) => setImmediate(resolve))
      }
      for (let pass = 0; pass < 10; pass += 1) {
        globalThis.gc()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      console.log(JSON.stringify(collected))
    `
    const collected = await runScript<Record<string, number>>(source, { timeoutMs, nodeOptions: ['--expose-gc'] })
    const names = ['boxed', 'files', 'memories', 'plains', 'sandboxes', 'strategies', 'views']
    expect(Object.keys(collected).sort()).toEqual(names)
    // The last round may be on the stack still.
    for (const name of names) expect(collected[name]).toBeGreaterThanOrEqual(199)
  })

  it('ends at once when it is told to, in the midst of a search of many files', async () => {
    const directory = scratchDirectory()
    for (let n = 0; n < 2_000; n += 1) writeFileSync(join(directory, `f${n}`), 'dark mode '.repeat(50))
    const source = `
      const { LocalFileStorage } = await load('native')
      const storage = new LocalFileStorage(${JSON.stringify(directory)})
      for (let n = 0; n < 8; n += 1) storage.search('dark')
      await new Promise((resolve) => setImmediate(resolve))
      process.on('exit', () => console.log('null'))
      process.exit(0)
    `
    expect(await runScript(source, { timeoutMs })).toBeNull()
  })

  it('keeps a strategy and a sandbox for as long as their storage is held', async () => {
    const source = `
      const { InMemoryStorage, LocalFileStorage } = await load('native')
      const make = () => {
        let count = 0
        const strategy = { search: async () => [{ key: 'k', score: count += 1 }] }
        const sandbox = { readFile: async () => Uint8Array.of(7), writeFile() {}, removeFile() {}, listFiles: () => [] }
        return [new InMemoryStorage(strategy), new LocalFileStorage('/box', sandbox, strategy).namespace('n')]
      }
      const [memory, boxed] = make()
      for (let pass = 0; pass < 10; pass += 1) {
        globalThis.gc()
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      const results = [await memory.search('q'), await boxed.search('q'), [...await boxed.read('k')]]
      console.log(JSON.stringify(results))
    `
    expect(await runScript(source, { timeoutMs, nodeOptions: ['--expose-gc'] })).toEqual([
      [{ key: 'k', score: 1 }],
      [{ key: 'k', score: 2 }],
      [7],
    ])
  })

  // What a call leaks, it leaks each time: half of the calls fill what is filled once, the other half must not grow.
  // A young generation that V8 cannot enlarge leaves nothing else to grow.
  it.each([
    ['strategy write', 150_000],
    ['strategy search', 500_000],
    ['strategy delete', 150_000],
    ['strategy faults', 15_000],
    ['strategy view', 30_000],
    ['strategy cycles', 40_000],
    ['plain search', 40_000],
    ['plain search faults', 15_000],
    ['keyword search in memory', 15_000],
    ['normalised search', 15_000],
    ['subclass search', 10_000],
    ['sandbox write', 100_000],
    ['sandbox read', 150_000],
    ['sandbox list', 50_000],
    ['sandbox search', 10_000],
    ['sandbox faults', 10_000],
  ])('does not grow by %s, %d times and as often again', { timeout: 120_000 }, async (operation, calls) => {
    const nodeOptions = ['--expose-gc', '--max-semi-space-size=1']
    const printed = await runProgram('measure-growth.mjs', [operation, String(calls)], { nodeOptions })
    expect(JSON.parse(printed) as number).toBeLessThan(12_000_000)
  })

  it('survives worker threads that are terminated while their strategies and sandboxes are called', async () => {
    const source = `
      import { once } from 'node:events'
      import { Worker } from 'node:worker_threads'
      const code = \`
        const { parentPort } = require('node:worker_threads')
        const { InMemoryStorage, KeywordSearchStrategy, LocalFileStorage } = require(\${JSON.stringify(process.cwd())})
        const later = (value) => new Promise((resolve) => setImmediate(resolve, value))
        const bytes = new Uint8Array(100)
        const strategy = { index: () => later(), remove: () => later(), search: () => later([]) }
        const sandbox = { readFile: () => later(bytes), writeFile: () => later(), removeFile: () => later(), listFiles: () => later([{ name: 'k' }]) }
        const storages = [new InMemoryStorage(strategy), new LocalFileStorage(${JSON.stringify(scratchDirectory())}, { searchStrategy: strategy }), new LocalFileStorage('/box', sandbox)]
        const plain = { list: () => later(Array.from({ length: 30 }, (_, n) => 'k' + n)), read: () => later(bytes) }
        async function work(storage, n) {
          for (;;) {
            await storage.write('k' + n, bytes)
            await Promise.all([storage.search('word'), storage.read('k' + n), storage.list(''), KeywordSearchStrategy.search(plain, 'k1'), KeywordSearchStrategy.search(storage, 'k1')])
            await storage.delete('k' + n)
          }
        }
        for (let n = 0; n < 9; n += 1) work(storages[n % 3], n)
        setImmediate(() => parentPort.postMessage('at work'))
      \`
      let random = 7
      for (let round = 0; round < 40; round += 4) {
        await Promise.all([0, 1, 2, 3].map(async () => {
          const worker = new Worker(code, { eval: true, execArgv: [] })
          await once(worker, 'message')
          random = (random * 48_271) % 0x7fff_ffff
          await new Promise((resolve) => setTimeout(resolve, random % 6))
          await worker.terminate()
        }))
      }
      console.log(JSON.stringify('survived'))
    `
    expect(await runScript(source, { timeoutMs: 60_000 })).toBe('survived')
  })
})
