// KeywordSearchStrategy over storages of every origin. Its rules are those of the Python SDK, seeds/keyword-api.txt.
import { createHook } from 'node:async_hooks'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Storage, StorageSearchResult } from 'strands-native'
import { KeywordSearchStrategy, STOP_WORDS, tokenize } from 'strands-native/storage/search'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runScript } from './child-program.js'
import { type Entries, fill, keysAndScores } from './entries.js'
import { nativeStorage, sdkStorage } from './implementations.js'
import { MapSandbox } from './map-sandbox.js'
import { PythonSdk } from './python-sdk.js'
import { scratchDirectory } from './scratch-directory.js'
import { seededRandom } from './seeded-random.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

const { InMemoryStorage, LocalFileStorage, StorageError } = nativeStorage

/** The least that can be searched. */
interface Readable {
  list: (prefix: string) => unknown
  read: (key: string) => unknown
}

/** Keyword search promises less than its type asks for: `list` and `read` are enough. */
const search = (storage: Readable, query: string): Promise<StorageSearchResult[]> =>
  KeywordSearchStrategy.search(storage as Storage, query)

/** An object that is no storage class of anybody's. */
function plainStorage(entries: Map<string, Uint8Array> = new Map()) {
  return {
    entries,
    write: async (key: string, data: Uint8Array) => void entries.set(key, data),
    read: async (key: string) => entries.get(key) ?? null,
    delete: async (key: string) => void entries.delete(key),
    list: async (prefix: string) => [...entries.keys()].filter((key) => key.startsWith(prefix)).sort(),
  }
}

/** The rules, once more, in a few lines of JavaScript. */
function hitsByTheRules(entries: Entries, query: string): [string, number][] {
  const words = [...tokenize(query)].filter((word) => !STOP_WORDS.has(word))
  return Object.entries(entries)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, text]): [string, number] => {
      const found = tokenize(`${key.replace(/(?<=[^/])\.[^./]*$/, '')} ${text}`)
      return [key, words.filter((word) => found.has(word)).length]
    })
    .filter(([, score]) => score > 0)
    .sort(([, left], [, right]) => right - left)
}

const searched: [string, () => Storage][] = [
  ['our InMemoryStorage', () => new InMemoryStorage()],
  ['our InMemoryStorage that keeps nothing', () => new InMemoryStorage({ searchCacheBytes: 0 })],
  ['our LocalFileStorage', () => new LocalFileStorage(scratchDirectory())],
  ['a view of our InMemoryStorage', () => new InMemoryStorage().namespace('mem')],
  ['a view within a view', () => new InMemoryStorage().namespace('mem').namespace!('a/b/')],
  ['a namespace of our LocalFileStorage', () => new LocalFileStorage(scratchDirectory()).namespace('mem')],
  ['our LocalFileStorage in a sandbox', () => new LocalFileStorage('/box', new MapSandbox())],
  ['a namespace in a sandbox', () => new LocalFileStorage('/box', new MapSandbox()).namespace('mem')],
  ['a subclass of our InMemoryStorage', () => new (class extends InMemoryStorage {})()],
  ["the SDK's InMemoryStorage", () => new sdkStorage.InMemoryStorage()],
  ["the SDK's LocalFileStorage", () => new sdkStorage.LocalFileStorage(scratchDirectory())],
  ["a view of the SDK's InMemoryStorage", () => new sdkStorage.InMemoryStorage().namespace('mem')],
  ['our view of a plain object', () => nativeStorage.namespace(plainStorage(), 'mem')],
  ['a plain object', () => plainStorage()],
]

const strategies: [string, { search(storage: Storage, query: string): Promise<StorageSearchResult[]> }][] = [
  ['an instance', new KeywordSearchStrategy()],
  ['the class', KeywordSearchStrategy],
  ['an instance of a subclass', new (class Mine extends KeywordSearchStrategy {})()],
]

describe.each(strategies)('keyword search by %s', (_, strategy) => {
  describe.each(searched)('in %s', (_, open) => {
    const find = async (entries: Entries, query: string) =>
      keysAndScores(await strategy.search(await fill(open(), entries), query))

    it('ranks by the distinct words of the query, and ties stay in the order of list', async () => {
      const entries = { b: 'dark mode', a: 'mode', c: 'dark dark DARK mode toggle', 'toggle-d': '', e: 'light' }
      expect(await find(entries, 'Dark mode, toggle toggle!')).toEqual([
        ['c', 3],
        ['b', 2],
        ['a', 1],
        ['toggle-d', 1],
      ])
    })

    it('gives the bytes of each hit', async () => {
      const bytes = Uint8Array.of(0, 0xff, 0x0a, ...encode('word'), 0xfe, 0x80)
      const storage = open()
      await storage.write('k', bytes)
      const [hit, ...others] = await strategy.search(storage, 'word')
      expect(others).toEqual([])
      expect({ ...hit, data: [...hit!.data!] }).toEqual({ key: 'k', score: 1, data: [...bytes] })
    })

    it('takes stop words out of the query, and only there', async () => {
      expect(await find({ a: 'the who', b: 'concert' }, 'The Who')).toEqual([])
      expect(await find({ a: 'the who', b: 'concert' }, 'The Who concert')).toEqual([['b', 1]])
    })

    it('finds all but the missing word of a question of nine words', async () => {
      const question = 'zurich alps train ticket window seat lunch coffee parrot'
      expect(await find({ trip: 'Zurich Alps: train ticket, window seat, lunch; coffee' }, question)).toEqual([
        ['trip', 8],
      ])
    })

    it.each(['', '   ', 'the what is', '\u{1f600}', '?!', 'of the and to'])('finds nothing for %j', async (query) => {
      expect(await find({ a: 'text the what is \u{1f600}', '\u{1f600}': '\u{1f600}' }, query)).toEqual([])
    })

    it('finds nothing where there is nothing', async () => {
      // A sandbox says ENOENT of a folder that nothing was ever written to.
      expect(await find({}, 'text')).toEqual([])
    })

    it('does not find every Markdown file by its extension, and gives keys exactly as they were written', async () => {
      const keys = ['my file.md', 'my-file.md', 'a_b.md', ...Array.from({ length: 7 }, (_, n) => `n/note ${n}.md`)]
      const entries = Object.fromEntries(keys.map((key) => [key, 'text']))
      expect(await find(entries, 'md')).toEqual([])
      expect(await find(entries, 'mem box strands')).toEqual([])
      expect(await find(entries, 'file')).toEqual([
        ['my file.md', 1],
        ['my-file.md', 1],
      ])
      expect(await find(entries, 'a_b')).toEqual([['a_b.md', 1]])
      expect((await find(entries, 'text')).map(([key]) => key)).toEqual([...keys].sort())
    })

    it('follows the rules for random texts', async () => {
      const random = seededRandom(3)
      const pick = <T>(from: T[]): T => from[Math.floor(random() * from.length)]!
      const words = [
        'dark',
        'MODE',
        'the',
        'café',
        'ΟΔΟΣ',
        '東京',
        'x_1',
        '20.04',
        'pve-01',
        "don't",
        '\u{1f600}',
        'md',
      ]
      const text = (most: number) => Array.from({ length: Math.floor(random() * most) }, () => pick(words)).join(' ')
      const entries: Entries = {}
      for (let n = 0; n < 30; n += 1) entries[`${n}${pick(['', ' dark', '/md', '/.md'])}${pick(['', '.md'])}`] = text(6)
      const storage = await fill(open(), entries)
      for (let n = 0; n < 20; n += 1) {
        const query = text(5)
        expect([query, keysAndScores(await strategy.search(storage, query))]).toEqual([
          query,
          hitsByTheRules(entries, query),
        ])
      }
    })
  })
})

describe('keyword search in a plain object', () => {
  it('gives the very bytes that it was given', async () => {
    const given = new Map(['a', 'b', 'c'].map((key) => [key, encode('word')]))
    const results = await search(plainStorage(given), 'word')
    expect(results).toHaveLength(3)
    for (const { key, data } of results) expect(data).toBe(given.get(key))
  })

  it('lists once, with an empty prefix, and reads each key once, as methods of the object', async () => {
    const calls: unknown[][] = []
    const storage = {
      keys: ['b', 'a'],
      list(...args: unknown[]) {
        calls.push(['list', ...args])
        return Promise.resolve(this.keys)
      },
      read(...args: unknown[]) {
        calls.push(['read', this === storage, ...args])
        return Promise.resolve(encode('word'))
      },
    }
    // What the object lists is the order of the results, sorted or not.
    expect(keysAndScores(await search(storage, 'word'))).toEqual([
      ['b', 1],
      ['a', 1],
    ])
    expect(calls).toEqual([
      ['list', ''],
      ['read', true, 'b'],
      ['read', true, 'a'],
    ])
    expect(storage.keys).toEqual(['b', 'a'])
  })

  it('reads at most eight entries at the same time, and so many if it can', async () => {
    const keys = Array.from({ length: 30 }, (_, n) => `k${String(n).padStart(2, '0')}`)
    let underWay = 0
    const seen: number[] = []
    const storage = {
      list: async () => keys,
      async read() {
        underWay += 1
        seen.push(underWay)
        for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        underWay -= 1
        return encode('word')
      },
    }
    expect((await search(storage, 'word')).map(({ key }) => key)).toEqual(keys)
    expect(seen).toHaveLength(30)
    expect(Math.max(...seen)).toBe(8)
    expect(underWay).toBe(0)
  })

  it.each(['', 'the who', '\u{1f600}'])('does not even list for the query %j', async (query) => {
    let calls = 0
    const count = () => {
      calls += 1
      return []
    }
    expect(await search({ list: count, read: count }, query)).toEqual([])
    expect(calls).toBe(0)
  })

  it('does not read where there is nothing', async () => {
    const read = () => {
      throw new Error('nothing is there to be read')
    }
    expect(await search({ list: async () => [], read }, 'word')).toEqual([])
  })

  const asPromise = (value: unknown) => Promise.resolve(value)
  const asItIs = (value: unknown) => value
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what the test is about
  const asThenable = (value: unknown) => ({ then: (resolve: (value: unknown) => void) => resolve(value) })
  it.each([
    ['promises', asPromise],
    ['plain values', asItIs],
    ['thenables', asThenable],
  ])('awaits %s', async (_, wrap) => {
    const storage = {
      list: () => wrap(['a', 'b', 'c']),
      read: (key: string) => wrap(key === 'b' ? null : encode('word')),
    }
    expect(keysAndScores(await search(storage, 'word'))).toEqual([
      ['a', 1],
      ['c', 1],
    ])
  })

  // As the SDK's strategy, which takes its turn over whatever can be iterated.
  it('takes any list of keys that can be iterated', async () => {
    const storage = { list: async () => new Set(['a', 'b']), read: async () => encode('word') }
    expect(keysAndScores(await search(storage, 'word'))).toEqual([
      ['a', 1],
      ['b', 1],
    ])
  })

  // As the SDK's strategy, whose TextDecoder takes them all.
  it.each([
    ['a Buffer', Buffer.from('word')],
    ['a part of a larger buffer', new Uint8Array(encode('a word.').buffer, 2, 4)],
    ['shared memory', new Uint8Array(new SharedArrayBuffer(4)).map((_, n) => encode('word')[n]!)],
    ['an ArrayBuffer', encode('word').buffer],
    ['a DataView', new DataView(encode('word').buffer)],
    ['a Uint8ClampedArray', Uint8ClampedArray.from(encode('word'))],
  ])('searches %s', async (_, bytes) => {
    const [hit] = await search({ list: () => ['k'], read: () => bytes }, 'word')
    expect(hit).toMatchObject({ key: 'k', score: 1 })
    expect(hit!.data).toBe(bytes)
  })

  it.each([null, undefined, 0, '', false])('takes an entry that reads as %j for missing', async (value) => {
    const storage = { list: () => ['a', 'word'], read: (key: string) => (key === 'a' ? encode('word') : value) }
    expect(keysAndScores(await search(storage, 'word'))).toEqual([['a', 1]])
  })

  it('scores the key of an empty value', async () => {
    expect(keysAndScores(await search({ list: () => ['word.md'], read: () => new Uint8Array() }, 'word'))).toEqual([
      ['word.md', 1],
    ])
  })

  it('rejects bytes that are not bytes, and a query that is not a string', async () => {
    const text = { list: () => ['a'], read: () => 'word' }
    expect(await rejectionOf(search(text, 'word'))).toBeInstanceOf(TypeError)
    const call = search(plainStorage(), 5 as never)
    expect(call).toBeInstanceOf(Promise)
    expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
  })

  it.each([undefined, null, 5, 'text', {}, { list: () => ['a'] }, { list: 5 }, () => {}])(
    'rejects %j in place of a storage, and does not throw',
    async (storage) => {
      const call = search(storage as never, 'word')
      expect(call).toBeInstanceOf(Promise)
      expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
    },
  )

  const sdkError = async () => rejectionOf(new sdkStorage.InMemoryStorage().read('..'))
  it.each<[string, () => unknown]>([
    ['a StorageError of ours', () => new StorageError('broken')],
    ['a StorageError of the SDK', sdkError],
    ['a plain object of that name', () => ({ name: 'StorageError' })],
    ['an error renamed to it', () => Object.assign(new Error('broken'), { name: 'StorageError' })],
  ])('leaves out an entry whose read rejects with %s, or throws it', async (_, make) => {
    const error = await make()
    for (const fail of [
      () => Promise.reject(error),
      () => {
        throw error
      },
    ]) {
      const storage = { list: () => ['a', 'b', 'c'], read: (key: string) => (key === 'b' ? fail() : encode('word')) }
      expect(keysAndScores(await search(storage, 'word'))).toEqual([
        ['a', 1],
        ['c', 1],
      ])
    }
  })

  const faults: [string, unknown][] = [
    ['an Error', new RangeError('broken')],
    ['a frozen error', Object.freeze(new Error('broken'))],
    ['an object', { code: 'EACCES' }],
    ['a string', 'StorageError'],
    ['a number', 5],
    ['zero', 0],
    ['undefined', undefined],
    ['null', null],
    ['false', false],
    ['a symbol', Symbol('broken')],
    ['a function', () => 'broken'],
  ]
  const notThrown = Symbol('fulfilled')
  const rejected = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => notThrown,
      (error: unknown) => error,
    )

  it.each(faults)('rejects with the very value that read fails with: %s', async (_, fault) => {
    const keys = Array.from({ length: 20 }, (_, n) => `k${n}`)
    const thrown = () => {
      throw fault
    }
    for (const fail of [() => Promise.reject(fault), thrown]) {
      const read = (key: string) => (key === 'k12' ? fail() : encode('word'))
      expect(await rejected(search({ list: () => keys, read }, 'word'))).toBe(fault)
    }
  })

  it.each([...faults, ['a StorageError', new StorageError('broken')] as [string, unknown]])(
    'rejects with the very value that list fails with: %s',
    async (_, fault) => {
      const thrown = () => {
        throw fault
      }
      for (const list of [() => Promise.reject(fault), thrown]) {
        expect(await rejected(search({ list, read: () => null }, 'word'))).toBe(fault)
      }
    },
  )

  it('rejects with the very value that a getter throws', async () => {
    const storage = {
      get list(): () => string[] {
        throw faults[3]![1]
      },
      read: () => null,
    }
    expect(await rejected(search(storage, 'word'))).toBe('StorageError')
  })

  it('is not affected by another search under way', async () => {
    const storages = ['apple', 'pear'].map((word) => fill(plainStorage(), { [word]: `${word} word` }))
    const found = await Promise.all(storages.map(async (storage) => search(await storage, 'word apple')))
    expect(found.map(keysAndScores)).toEqual([[['apple', 2]], [['pear', 1]]])
  })
})

describe('keyword search in a subclass', () => {
  const classes: [string, () => Storage, () => Storage][] = [
    [
      'InMemoryStorage',
      () =>
        new (class extends InMemoryStorage {
          override async list(prefix: string) {
            return [...(await super.list(prefix)), 'made-up']
          }
        })(),
      () =>
        new (class extends InMemoryStorage {
          override async read(key: string) {
            const data = await super.read(key)
            return data && encode(`secret ${decode(data)}`)
          }
        })(),
    ],
    [
      'LocalFileStorage',
      () =>
        new (class extends LocalFileStorage {
          override async list(prefix: string) {
            return [...(await super.list(prefix)), 'made-up']
          }
        })(scratchDirectory()),
      () =>
        new (class extends LocalFileStorage {
          override async read(key: string) {
            const data = await super.read(key)
            return data && encode(`secret ${decode(data)}`)
          }
        })(scratchDirectory()),
    ],
  ]

  describe.each(classes)('of %s', (_, listing, reading) => {
    const waysToSearch: [string, (storage: Storage, query: string) => Promise<StorageSearchResult[]>][] = [
      ['its own search', (storage, query) => storage.search!(query)],
      ['the class', (storage, query) => KeywordSearchStrategy.search(storage, query)],
      ['an instance', (storage, query) => new KeywordSearchStrategy().search(storage, query)],
    ]

    it.each(waysToSearch)('reads through an overridden read, by %s', async (_, find) => {
      const storage = await fill(reading(), { a: 'word' })
      expect((await find(storage, 'secret word')).map(({ key, score, data }) => [key, score, decode(data!)])).toEqual([
        ['a', 2, 'secret word'],
      ])
    })

    it.each(waysToSearch)('lists through an overridden list, by %s', async (_, find) => {
      const storage = await fill(listing(), { a: 'word' })
      const asked: string[] = []
      const read = storage.read.bind(storage)
      storage.read = async (key) => {
        asked.push(key)
        return key === 'made-up' ? encode('word') : read(key)
      }
      expect(keysAndScores(await find(storage, 'word'))).toEqual([
        ['a', 1],
        ['made-up', 1],
      ])
      expect(asked).toEqual(['a', 'made-up'])
    })
  })

  it.each<[string, () => Storage]>([
    ['InMemoryStorage', () => new InMemoryStorage()],
    ['LocalFileStorage', () => new LocalFileStorage(scratchDirectory())],
    ['a view', () => new InMemoryStorage().namespace('mem')],
  ])('or in an instance of %s with a method of its own sees what that gives, from then on', async (_, open) => {
    const storage = await fill(open(), { a: 'word', b: 'word' })
    expect(await storage.search!('word')).toHaveLength(2)
    storage.list = async () => ['b']
    expect(keysAndScores(await storage.search!('word'))).toEqual([['b', 1]])
    storage.read = async () => encode('other')
    expect(await storage.search!('word')).toEqual([])
    Reflect.deleteProperty(storage, 'list')
    Reflect.deleteProperty(storage, 'read')
    expect(await storage.search!('word')).toHaveLength(2)
  })

  it('hands on what an override throws', async () => {
    const fault = { broken: true }
    class Failing extends InMemoryStorage {
      override list(): Promise<string[]> {
        throw fault
      }
    }
    await expect(new Failing().search('word')).rejects.toBe(fault)
  })

  it('rejects with what a getter in place of a method throws', async () => {
    const fault = new Error('thrown by the getter')
    const storage = Object.defineProperty(new InMemoryStorage(), 'list', {
      get() {
        throw fault
      },
    })
    const call = storage.search('word')
    expect(call).toBeInstanceOf(Promise)
    await expect(call).rejects.toBe(fault)
  })

  it('can be asked to search more than its own override does', async () => {
    class Doubling extends InMemoryStorage {
      override async search(query: string) {
        return (await super.search(query)).map((result) => ({ ...result, score: 2 * result.score }))
      }
    }
    expect(keysAndScores(await (await fill(new Doubling(), { a: 'word' })).search('word'))).toEqual([['a', 2]])
  })
})

/** How many promises are made while `call` runs, which is how often it goes through JavaScript at least. */
async function promisesMadeBy(call: () => Promise<unknown>): Promise<number> {
  let promises = 0
  const hook = createHook({
    init(_, type) {
      if (type === 'PROMISE') promises += 1
    },
  }).enable()
  try {
    await call()
  } finally {
    hook.disable()
  }
  return promises
}

describe('keyword search in a storage of ours', () => {
  const entries = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, 'dark mode']))
  const whole: [string, () => Storage][] = [
    ['InMemoryStorage', () => new InMemoryStorage()],
    ['InMemoryStorage that keeps nothing', () => new InMemoryStorage({ searchCacheBytes: 0 })],
    ['LocalFileStorage', () => new LocalFileStorage(scratchDirectory())],
    ['a view', () => new InMemoryStorage().namespace('mem').namespace!('a')],
    ['a namespace', () => new LocalFileStorage(scratchDirectory()).namespace('mem')],
    ['a subclass without overrides', () => new (class extends InMemoryStorage {})()],
    ['InMemoryStorage with our strategy', () => new InMemoryStorage(new KeywordSearchStrategy({ normalize: 'NFC' }))],
    ['LocalFileStorage with our class', () => new LocalFileStorage(scratchDirectory(), {}, KeywordSearchStrategy)],
  ]

  it.each(whole)('does not go through JavaScript for each entry: %s', async (_, open) => {
    const storage = await fill(open(), entries)
    for (const search of [
      () => storage.search!('dark'),
      () => KeywordSearchStrategy.search(storage, 'dark'),
      () => new KeywordSearchStrategy({ normalize: 'NFKC' }).search(storage, 'dark'),
    ]) {
      let found = 0
      const promises = await promisesMadeBy(async () => {
        found = (await search()).length
      })
      expect(found).toBe(500)
      expect(promises).toBeLessThan(50)
    }
  })

  it('does where a method is overridden, which shows that it would be noticed', async () => {
    const storage = await fill(new InMemoryStorage(), entries)
    storage.read = async () => encode('dark')
    expect(await promisesMadeBy(() => storage.search('dark'))).toBeGreaterThan(500)
  })

  it('reads a large folder without holding all of it, if it is to keep nothing', async () => {
    const directory = scratchDirectory()
    const megabyte = Buffer.alloc(1_000_000, 'hay ')
    for (let n = 0; n < 300; n += 1) writeFileSync(join(directory, `f${n}`), megabyte)
    const source = `
      const { LocalFileStorage } = await load('native')
      const storage = new LocalFileStorage(${JSON.stringify(directory)}, { searchCacheBytes: 1_000_000 })
      const before = process.resourceUsage().maxRSS
      const found = (await storage.search('needle')).length
      console.log(JSON.stringify({ found, grownBy: (process.resourceUsage().maxRSS - before) * 1024 }))
    `
    const { found, grownBy } = await runScript<{ found: number; grownBy: number }>(source)
    expect(found).toBe(0)
    expect(grownBy).toBeLessThan(100_000_000)
  })

  it('makes do without another thread where the system gives none', async () => {
    const directory = scratchDirectory()
    chmodSync(directory, 0o755)
    for (let n = 0; n < 300; n += 1) writeFileSync(join(directory, `f${n}`), 'dark')
    const source = `
      import { execFileSync } from 'node:child_process'
      const { LocalFileStorage } = await load('native')
      const storage = new LocalFileStorage(${JSON.stringify(directory)})
      // The threads that Node reads with are there before the limit is.
      await Promise.all(Array.from({ length: 16 }, () => storage.read('f0')))
      execFileSync('prlimit', ['--pid', String(process.pid), '--nproc=1'])
      if (process.getuid() === 0) {
        process.setgid(65534)
        process.setuid(65534)
      }
      console.log(JSON.stringify([(await storage.search('dark')).length, (await storage.search('dark')).length]))
    `
    expect(await runScript(source)).toEqual([300, 300])
  })

  it('does not take one class for another, whatever a prototype says', async () => {
    const storage = await fill(new InMemoryStorage(), { k: 'dark' })
    for (const other of [LocalFileStorage, nativeStorage.NamespacedStorage, KeywordSearchStrategy, Map]) {
      const disguised = Object.setPrototypeOf(await fill(new InMemoryStorage(), { k: 'dark' }), other.prototype)
      const outcome = await KeywordSearchStrategy.search(disguised, 'dark').then(keysAndScores, () => 'rejected')
      expect([[['k', 1]], 'rejected']).toContainEqual(outcome)
    }
    expect(await storage.search('dark')).toHaveLength(1)
  })
})

describe('keyword search', () => {
  let pythonSdk: PythonSdk
  beforeAll(async () => {
    pythonSdk = await PythonSdk.start()
  }, 60_000)
  afterAll(() => pythonSdk?.stop())

  const corpus: Entries = {
    'my file.md': 'dark mode toggle',
    'my-file.md': 'The dark knight rises again',
    'a_b.md': 'plain words here',
    'notes.d/read.me.txt': 'dark dark dark mode',
    'md/readme': 'nothing',
    '.env': 'MODE=dark',
    'sub/.env': 'MODE=light',
    'sub/name.': 'toggle',
    'a.tar.gz': 'compressed',
    'Über/Straße.md': 'Grüße aus ΟΔΟΣ, İstanbul und 東京',
    'empty.md': '',
    'emoji \u{1f600}.md': '\u{1f600} smile',
    'cafe\u0301.md': 'cafe\u0301 NFD',
    'café.md': 'café NFC',
    'numbers.md': '20.04 Ⅷ ² ½ ٣ ① 1_000 C++ don\'t "x"',
    'hindi.md': 'हिन्दी தமிழ் ไทย مَرْحَبًا',
    'bom.md': '\ufeffdark',
    'nul.md': 'dark\0mode',
    'crlf.md': 'dark\r\nmode\u2028toggle',
    'questions.md': 'the who what is not dark',
  }
  const queries = [
    ...['dark mode toggle', 'md', 'file', 'my', 'the who', 'what is dark', 'not a toggle', 'env', 'gz', 'tar', 'name'],
    ...['straße', 'STRASSE', 'οδος', 'ΟΔΟΣ', 'istanbul', 'İstanbul', '東京', 'über', 'café', 'cafe', 'cafe\u0301'],
    ...['20.04', '20', '04', 'ⅷ', '②', '①', '½', '1_000', 'C++', "don't", 'x', '\u{1f600}', 'हिन्दी', 'ไทย', 'مَرْحَبًا'],
    ...['', '?', 'knight rises dark mode toggle light words nothing smile', 'sub/.env', 'notes.d', 'read me', 'txt'],
  ]

  it('finds what the Python SDK finds in the same files, in the same order, with the same bytes', async () => {
    const folder = scratchDirectory()
    const storage = await fill(new LocalFileStorage(folder), corpus)
    writeFileSync(join(folder, 'latin1.txt'), Buffer.from('dark caf\xe9 mode', 'latin1'))
    let hits = 0
    for (const query of queries) {
      const ours = (await storage.search(query)).map((result) => ({ ...result, data: [...result.data!] }))
      expect([query, ours]).toEqual([query, await pythonSdk.keywordSearch({ folder }, query)])
      hits += ours.length
    }
    expect(hits).toBeGreaterThan(60)
  })

  it('finds what the Python SDK finds in memory, in our storage and in a plain one', async () => {
    const ours = await fill(new InMemoryStorage(), corpus)
    const plain = await fill(plainStorage(), corpus)
    for (const query of queries) {
      const expected = await pythonSdk.keywordSearch({ entries: corpus }, query)
      for (const storage of [ours, plain]) {
        const found = await new KeywordSearchStrategy().search(storage, query)
        expect([query, found.map((result) => ({ ...result, data: [...result.data!] }))]).toEqual([query, expected])
      }
    }
  })

  it('gives no hit whose bytes can be changed from outside', async () => {
    for (const storage of [new InMemoryStorage(), new LocalFileStorage(scratchDirectory())]) {
      await storage.write('a', encode('word'))
      for (let round = 0; round < 3; round += 1) {
        const [hit] = await storage.search('word')
        expect([hit!.score, decode(hit!.data!)]).toEqual([1, 'word'])
        expect(Object.getPrototypeOf(hit!.data)).toBe(Uint8Array.prototype)
        hit!.data!.fill(0)
      }
    }
  })

  it('is ours in place of the SDK strategy, and the other way round only with fewer rules', async () => {
    // The SDK's strategy, over our storage, counts extensions and stop words, and gives no data: its rules, our entries.
    const { KeywordSearchStrategy: SdkKeywordSearchStrategy } = await import('@strands-agents/sdk/storage/search')
    const entries = { 'a.md': 'the word', 'b.md': 'word' }
    expect(await SdkKeywordSearchStrategy.search(await fill(new InMemoryStorage(), entries), 'the md')).toEqual([
      { key: 'a.md', score: 2 },
      { key: 'b.md', score: 1 },
    ])
    const sdk = await fill(new sdkStorage.InMemoryStorage(new KeywordSearchStrategy()), entries)
    expect(await sdk.search('the md')).toEqual([])
    expect(await sdk.search('word')).toEqual([
      { key: 'a.md', score: 1, data: encode('the word') },
      { key: 'b.md', score: 1, data: encode('word') },
    ])
  })

  it('needs no object to be called on as a class, and new as an instance', () => {
    const { search: detached } = KeywordSearchStrategy
    expect(detached(plainStorage(), 'word')).toBeInstanceOf(Promise)
    const call = KeywordSearchStrategy as unknown as () => unknown
    expect(() => call()).toThrow(TypeError)
  })
})

const cacheSizes: [string, number | undefined][] = [
  ['nothing', 0],
  ['very little', 40],
  ['what it may by default', undefined],
  ['everything', Number.POSITIVE_INFINITY],
]

describe.each(cacheSizes)('a search that keeps %s between calls', (_, searchCacheBytes) => {
  const files = () => {
    const folder = scratchDirectory()
    return { folder, storage: new LocalFileStorage(folder, { searchCacheBytes }) }
  }
  const found = async (storage: Storage, query = 'dark') => (await storage.search!(query)).map(({ key }) => key)

  it('finds an overwritten entry by its new words alone', async () => {
    const { storage } = files()
    for (const each of [storage, new InMemoryStorage({ searchCacheBytes }), storage.namespace('n')] as Storage[]) {
      await each.write('k', encode('dark'))
      expect(await found(each)).toEqual(['k'])
      for (let round = 0; round < 20; round += 1) {
        await each.write('k', encode(round % 2 === 0 ? 'pale' : 'dark'))
        expect(await found(each)).toEqual(round % 2 === 0 ? [] : ['k'])
        expect((await each.search!('dark pale')).map(({ data }) => decode(data!))).toEqual([
          round % 2 === 0 ? 'pale' : 'dark',
        ])
      }
    }
  })

  it('does not find what was deleted, cleared, or written again with other words', async () => {
    const storage = new InMemoryStorage({ searchCacheBytes })
    const view = storage.namespace('n')
    await fill(storage, { 'n/a': 'dark', 'n/b': 'dark', c: 'dark' })
    expect([await found(storage), await found(view)]).toEqual([
      ['c', 'n/a', 'n/b'],
      ['a', 'b'],
    ])
    await view.delete('a')
    expect([await found(storage), await found(view)]).toEqual([['c', 'n/b'], ['b']])
    storage.clear()
    expect([await found(storage), await found(view)]).toEqual([[], []])
    await fill(storage, { 'n/a': 'pale', 'n/b': 'pale', c: 'pale' })
    expect([await found(storage), await found(view), await found(view, 'pale')]).toEqual([[], [], ['a', 'b']])
  })

  it('sees what another instance and another program did', async () => {
    const { folder, storage } = files()
    const other = new LocalFileStorage(folder)
    await storage.write('k', encode('dark'))
    expect(await found(storage)).toEqual(['k'])
    await other.write('k', encode('pale'))
    expect(await found(storage)).toEqual([])
    writeFileSync(join(folder, 'k'), 'dark')
    expect(await found(storage)).toEqual(['k'])
    await other.delete('k')
    expect(await found(storage)).toEqual([])
  })

  it('sees an edit of the same size under a time stamp that was put back', async () => {
    const { folder, storage } = files()
    const path = join(folder, 'k')
    const past = new Date(2020, 1, 1)
    for (let round = 0; round < 10; round += 1) {
      writeFileSync(path, round % 2 === 0 ? 'dark' : 'pale')
      utimesSync(path, past, past)
      expect(await found(storage)).toEqual(round % 2 === 0 ? ['k'] : [])
      expect(statSync(path).mtime).toEqual(past)
    }
  })

  it('sees files that were renamed, exchanged and moved with their folder', async () => {
    const { folder, storage } = files()
    const at = (key: string) => join(folder, key)
    await fill(storage, { 'd/a': 'dark', 'd/b': 'pale' })
    expect(await found(storage)).toEqual(['d/a'])
    renameSync(at('d/a'), at('d/c'))
    expect(await found(storage)).toEqual(['d/c'])
    renameSync(at('d/b'), at('spare'))
    renameSync(at('d/c'), at('d/b'))
    renameSync(at('spare'), at('d/c'))
    expect(await found(storage)).toEqual(['d/b'])
    renameSync(at('d'), at('e'))
    expect(await found(storage)).toEqual(['e/b'])
    rmSync(at('e'), { recursive: true })
    expect(await found(storage)).toEqual([])
  })

  it('sees through a symbolic link what its file says now', async () => {
    const { folder, storage } = files()
    const targets = scratchDirectory()
    writeFileSync(join(targets, 'one'), 'dark')
    writeFileSync(join(targets, 'two'), 'pale')
    symlinkSync(join(targets, 'one'), join(folder, 'k'))
    expect(await found(storage)).toEqual(['k'])
    writeFileSync(join(targets, 'one'), 'pale')
    expect(await found(storage)).toEqual([])
    writeFileSync(join(targets, 'one'), 'dark')
    expect(await found(storage)).toEqual(['k'])
    unlinkSync(join(folder, 'k'))
    symlinkSync(join(targets, 'two'), join(folder, 'k'))
    expect(await found(storage)).toEqual([])
    unlinkSync(join(targets, 'two'))
    expect(await found(storage, 'pale')).toEqual([])
  })

  it('finds what an ever fresh search finds, whatever happens in between', async () => {
    const random = seededRandom(11)
    const any = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
    const keys = ['a.md', 'b/c.md', 'b/d', 'dark.md', 'e f'] as const
    const texts = ['dark', 'pale', 'dark mode', 'mode dark pale', '', 'x'.repeat(30)] as const
    const { folder, storage } = files()
    const memory = new InMemoryStorage({ searchCacheBytes })
    const model: Entries = {}
    const steps = ['write', 'edit', 'edit with an old time', 'delete', 'rename', 'move over'] as const
    for (let round = 0; round < 250; round += 1) {
      const [step, key, other, text] = [any(steps), any(keys), any(keys), any(texts)]
      const [path, otherPath] = [join(folder, key), join(folder, other)]
      if (step === 'delete') {
        await Promise.all([storage.delete(key), memory.delete(key)])
        delete model[key]
      } else if (step === 'write') {
        await Promise.all([storage.write(key, encode(text)), memory.write(key, encode(text))])
        model[key] = text
      } else if (step === 'edit' || step === 'edit with an old time') {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, text)
        if (step === 'edit with an old time') utimesSync(path, 1_000_000, 1_000_000)
        await memory.write(key, encode(text))
        model[key] = text
      } else if (key in model && (step === 'move over' || !(other in model)) && key !== other) {
        mkdirSync(dirname(otherPath), { recursive: true })
        renameSync(path, otherPath)
        await memory.write(other, (await memory.read(key))!)
        await memory.delete(key)
        model[other] = model[key]!
        delete model[key]
      }
      const query = any(['dark', 'pale mode', 'dark mode pale', 'the'])
      const expected = hitsByTheRules(model, query)
      for (const each of [storage, memory]) {
        const results = await each.search(query)
        expect([round, step, keysAndScores(results)]).toEqual([round, step, expected])
        for (const { key, data } of results) expect(decode(data!)).toBe(model[key])
      }
      if (round % 50 === 0) expect(readFileSyncOrNull(join(folder, 'a.md'))).toBe(model['a.md'] ?? null)
    }
  })

  it('finds the same while it is asked many times at once, and written to', async () => {
    const { storage } = files()
    for (let n = 0; n < 50; n += 1) await storage.write(`k${n}`, encode('dark'))
    const searches = Array.from({ length: 20 }, (_, n) => storage.search(n % 2 === 0 ? 'dark' : 'dark pale'))
    const writes = Array.from({ length: 50 }, (_, n) => storage.write(`k${n}`, encode('dark pale')))
    for (const results of await Promise.all(searches)) expect(results).toHaveLength(50)
    await Promise.all(writes)
    for (const { score, data } of await storage.search('dark pale')) {
      expect([score, decode(data!)]).toEqual([2, 'dark pale'])
    }
  })
})

function readFileSyncOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

describe('searchCacheBytes', () => {
  it.each([-1, Number.NaN, Number.NEGATIVE_INFINITY, '5', null, true, {}, 5n])('refuses %s', (searchCacheBytes) => {
    const options = { searchCacheBytes } as never
    expect(() => new InMemoryStorage(options)).toThrow(TypeError)
    expect(() => new LocalFileStorage('./x', options)).toThrow(/searchCacheBytes/)
  })

  it.each([0, -0, 0.5, 1, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Number.POSITIVE_INFINITY, undefined])(
    'takes %s',
    async (searchCacheBytes) => {
      const storage = await fill(new InMemoryStorage({ searchCacheBytes }), { a: 'dark', b: 'dark mode' })
      for (let round = 0; round < 3; round += 1) {
        expect(keysAndScores(await storage.search('dark mode'))).toEqual([
          ['b', 2],
          ['a', 1],
        ])
      }
    },
  )

  it('holds for views and for storages in other folders too', async () => {
    const root = new LocalFileStorage(mkdtempSync(join(scratchDirectory(), 'x')), { searchCacheBytes: 0 })
    const memory = new InMemoryStorage({ searchCacheBytes: 0 })
    for (const view of [root.namespace('n'), memory.namespace('n')]) {
      await view.write('k', encode('dark'))
      expect(await view.search!('dark')).toHaveLength(1)
      await view.delete('k')
      expect(await view.search!('dark')).toEqual([])
    }
  })
})
