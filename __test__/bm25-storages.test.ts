// One BM25 strategy and the storages it is used with: folders, namespaces, other backends, sandboxes.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { StorageError as SdkStorageError } from '@strands-agents/sdk'
import { FileMemoryStore } from '@strands-agents/sdk/vended-memory-stores/file-memory-store'
import type { Storage } from 'strands-native'
import { InMemoryStorage, LocalFileStorage, namespace, StorageError } from 'strands-native/storage'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { collectWarnings, indexBeside, keysOf, openFolder } from './bm25-folder.js'
import { runScript } from './child-program.js'
import { fill } from './entries.js'
import { nativeStorage, sdkStorage } from './implementations.js'
import { MapSandbox } from './map-sandbox.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

/** A storage that a user has written. */
class MapStorage implements Storage {
  readonly entries = new Map<string, Uint8Array>()
  readonly reads: string[] = []
  readonly lists: string[] = []

  async write(key: string, data: Uint8Array): Promise<void> {
    this.entries.set(key, Uint8Array.from(data))
  }
  async read(key: string): Promise<Uint8Array | null> {
    this.reads.push(key)
    return this.entries.get(key) ?? null
  }
  async delete(key: string): Promise<void> {
    this.entries.delete(key)
  }
  async list(prefix: string): Promise<string[]> {
    this.lists.push(prefix)
    return [...this.entries.keys()].filter((key) => key.startsWith(prefix)).sort()
  }
}

const dbPathIn = (directory: string) => join(directory, 'index.sqlite')

/** Files and folders, and not what SQLite keeps beside an open database. */
const filesIn = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => !/-(wal|shm)$/.test(name))
    .sort()

describe('one strategy for many folders', () => {
  it('keeps an index beside each, and never mixes them', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy()
    const names = [
      'mem',
      'memory',
      'memory2',
      'Memory',
      'a b',
      'a#b?c%25&d',
      "it's",
      'say "hi"',
      '復é',
      '\u{1f980}',
      '-x',
    ]
    const storages = names.map((name) => new LocalFileStorage(join(root, name), { searchStrategy: strategy }))
    for (const [n, storage] of storages.entries()) await storage.write(`k${n}.md`, encode(`zebra word${n}x`))
    for (const [n, storage] of storages.entries()) {
      expect(keysOf(await storage.search('zebra')), names[n]).toEqual([`k${n}.md`])
      for (let m = 0; m < names.length; m += 1) {
        expect(keysOf(await storage.search(`word${m}x`))).toEqual(n === m ? [`k${n}.md`] : [])
      }
    }
    expect(filesIn(root)).toEqual([...names, ...names.map((name) => `.__strands_${name}-fts5.sqlite`)].sort())
    await strategy.close()
    expect(readdirSync(root).sort()).toEqual(filesIn(root))
    for (const [n, storage] of storages.entries()) expect(keysOf(await storage.search('zebra'))).toEqual([`k${n}.md`])
  })

  it('may serve a hundred at once', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy()
    const storages = Array.from(
      { length: 100 },
      (_, n) => new LocalFileStorage(join(root, `f${n}`), { searchStrategy: strategy }),
    )
    await Promise.all(storages.map((storage, n) => storage.write('k.md', encode(`zebra word${n}x`))))
    const found = await Promise.all(storages.map((storage, n) => storage.search(`word${n}x`)))
    expect(found.map(keysOf)).toEqual(storages.map(() => ['k.md']))
    await strategy.close()
  })

  it.runIf(process.platform === 'linux')('keeps the files of so many open, and searches the others too', async () => {
    const result = await runScript<{ found: number; open: number }>(`
      const { LocalFileStorage } = await load('native')
      const { Bm25SearchStrategy } = await import('strands-native/storage/search')
      const { readdirSync, readlinkSync } = await import('node:fs')
      const { setTimeout } = await import('node:timers/promises')
      const searchStrategy = new Bm25SearchStrategy()
      const storages = Array.from({ length: 200 }, (_, n) =>
        new LocalFileStorage(${JSON.stringify(scratchDirectory())} + '/f' + n, { searchStrategy }))
      for (const storage of storages) await storage.write('k.md', new TextEncoder().encode('zebra'))
      let found = 0
      for (const storage of storages) found += (await storage.search('zebra')).length
      const target = (fd) => { try { return readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }
      const count = () => new Set(readdirSync('/proc/self/fd').map(target).filter((path) => path.endsWith('.sqlite'))).size
      // What is let go is closed in its own time.
      for (let tries = 0; count() > 64 && tries < 100; tries++) await setTimeout(20)
      console.log(JSON.stringify({ found, open: count() }))
    `)
    expect(result.found).toBe(200)
    expect(result.open).toBeLessThanOrEqual(64)
    expect(result.open).toBeGreaterThan(0)
  })

  it.each([
    ['a trailing slash', '/'],
    ['a dot', '/.'],
    ['a way round', '/sub/..'],
    ['double slashes', '//'],
  ])('finds the same index under a spelling with %s', async (_, suffix) => {
    const { folder, find } = openFolder()
    const other = openFolder(undefined, `${folder}${suffix}`)
    await other.storage.write('k.md', encode('zebra'))
    expect(await find('zebra')).toEqual(['k.md'])
    expect(existsSync(indexBeside(folder))).toBe(true)
    expect(filesIn(dirname(folder)).filter((name) => name.startsWith('.__strands_'))).toHaveLength(1)
  })

  it('finds the same index by a relative path, which is relative to the current directory at each call', async () => {
    const root = scratchDirectory()
    for (const name of ['one', 'two']) mkdirSync(join(root, name))
    const result = await runScript(`
      const { LocalFileStorage } = await load('native')
      const { Bm25SearchStrategy } = await import('strands-native/storage/search')
      const storage = new LocalFileStorage('./memory/', { searchStrategy: new Bm25SearchStrategy() })
      const keys = async () => (await storage.search('zebra')).map(({ key }) => key)
      process.chdir(${JSON.stringify(join(root, 'one'))})
      await storage.write('first.md', new TextEncoder().encode('zebra'))
      const seen = [await keys()]
      process.chdir(${JSON.stringify(join(root, 'two'))})
      seen.push(await keys())
      await storage.write('second.md', new TextEncoder().encode('zebra'))
      seen.push(await keys())
      process.chdir(${JSON.stringify(join(root, 'one'))})
      seen.push(await keys())
      console.log(JSON.stringify(seen))
    `)
    expect(result).toEqual([['first.md'], [], ['second.md'], ['first.md']])
    for (const name of ['one', 'two'])
      expect(filesIn(join(root, name))).toEqual(['.__strands_memory-fts5.sqlite', 'memory'])
  })
})

describe('namespaces of a LocalFileStorage', () => {
  it('have an index each, beside their folders, with keys of their own', async () => {
    const { storage, folder, find } = openFolder()
    const [mem, memory] = [storage.namespace('mem'), storage.namespace('memory')]
    await storage.write('top.md', encode('zebra'))
    await mem.write('k.md', encode('zebra walrus'))
    await memory.write('k.md', encode('zebra heron'))
    await memory.namespace('deep').write('k.md', encode('zebra otter'))
    expect(keysOf(await mem.search('zebra'))).toEqual(['k.md'])
    expect(keysOf(await memory.search('walrus'))).toEqual([])
    expect(keysOf(await memory.search('heron'))).toEqual(['k.md'])
    expect(keysOf(await memory.namespace('deep').search('otter'))).toEqual(['k.md'])
    expect(existsSync(join(folder, '.__strands_mem-fts5.sqlite'))).toBe(true)
    expect(existsSync(join(folder, '.__strands_memory-fts5.sqlite'))).toBe(true)
    expect(existsSync(join(folder, 'memory/.__strands_deep-fts5.sqlite'))).toBe(true)
    // The parent's index has what was written through the parent.
    expect(await find('zebra')).toEqual(['top.md'])
  })

  it('match neither by the name of the folder nor by that of the namespace', async () => {
    const { storage } = openFolder()
    const view = storage.namespace('facts')
    await storage.write('k.md', encode('zebra'))
    await view.write('k.md', encode('zebra'))
    for (const query of ['memory', 'facts', 'memory facts']) {
      expect(keysOf(await view.search(query))).toEqual([])
      expect(keysOf(await storage.search(query))).toEqual([])
    }
  })

  it('never show their index files as keys or hits, in the parent either', async () => {
    const { storage, strategy, folder, find } = openFolder()
    const views = ['mem', 'memory', 'md'].map((prefix) => storage.namespace(prefix))
    for (const view of views) await view.write('k.md', encode('zebra'))
    await storage.write('.env', encode('zebra'))
    const names = readdirSync(folder)
    expect(names.filter((name) => name.startsWith('.__strands_'))).not.toEqual([])
    const keys = ['.env', 'md/k.md', 'mem/k.md', 'memory/k.md']
    expect(await storage.list('')).toEqual(keys)
    expect(await storage.list('.__strands_')).toEqual([])
    expect(await storage.list('.')).toEqual(['.env'])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 3, unchanged: 0, removed: 0 })
    expect((await find('zebra')).sort()).toEqual(keys.slice(1))
    for (const query of ['strands', 'fts5', 'sqlite', 'wal', 'shm']) expect(await find(query)).toEqual([])
    const parent = new LocalFileStorage(dirname(folder))
    expect(await parent.list('')).toEqual(keys.map((key) => `memory/${key}`))
    expect(keysOf(await parent.search('zebra sqlite'))).toEqual(keys.map((key) => `memory/${key}`))
  })
})

describe('an explicit dbPath', () => {
  it('is where the index is, also in a folder that does not exist yet', async () => {
    const root = scratchDirectory()
    const dbPath = join(root, 'some/where/my index.db')
    const { storage, folder, find } = openFolder({ dbPath }, join(root, 'memory'))
    expect(await find('zebra')).toEqual([])
    expect(readdirSync(root)).toEqual([])
    await storage.write('k.md', encode('zebra'))
    expect(await find('zebra')).toEqual(['k.md'])
    expect(existsSync(dbPath)).toBe(true)
    expect(existsSync(indexBeside(folder))).toBe(false)
    expect(filesIn(root)).toEqual(['memory', 'some'])
  })

  it('may be relative', async () => {
    const root = scratchDirectory()
    const dbPath = relative(process.cwd(), join(root, 'index.db'))
    const { storage, find } = openFolder({ dbPath }, join(root, 'memory'))
    await storage.write('k.md', encode('zebra'))
    expect(await find('zebra')).toEqual(['k.md'])
    expect(filesIn(root)).toEqual(['index.db', 'memory'])
  })

  it.each(['a b#c?d%25&e=f.sqlite', 'file:x?mode=memory', ':memory', 'it\'s "q".db', '復.db', '-x', '~', '*?'])(
    'is a path and nothing else: %s',
    async (name) => {
      const root = scratchDirectory()
      const options = { dbPath: join(root, name) }
      const { storage, find } = openFolder(options, join(root, 'memory'))
      await storage.write('k.md', encode('zebra'))
      expect(await find('zebra')).toEqual(['k.md'])
      expect(filesIn(root)).toEqual([name, 'memory'].sort())
      expect(await openFolder(options, join(root, 'memory')).find('zebra')).toEqual(['k.md'])
    },
  )

  it('within the folder of the storage makes no entry that is found', async () => {
    const root = scratchDirectory()
    const dbPath = join(root, 'memory/zebra.md')
    const { storage, strategy, find } = openFolder({ dbPath }, join(root, 'memory'))
    await storage.write('k.md', encode('zebra'))
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 1, removed: 0 })
    expect(await find('zebra')).toEqual(['k.md'])
    expect(await find('sqlite format')).toEqual([])
  })

  const others: [string, () => Storage & { search?(query: string): Promise<{ key: string }[]> }][] = [
    ['our InMemoryStorage', () => new InMemoryStorage()],
    ['our LocalFileStorage', () => new LocalFileStorage(join(scratchDirectory(), 'memory'))],
    ['a view of our InMemoryStorage', () => new InMemoryStorage().namespace('facts')],
    ['the InMemoryStorage of the SDK', () => new sdkStorage.InMemoryStorage()],
    ['the LocalFileStorage of the SDK', () => new sdkStorage.LocalFileStorage(join(scratchDirectory(), 'memory'))],
    ["a view of the SDK's InMemoryStorage", () => new sdkStorage.InMemoryStorage().namespace('facts')],
    ["our view of the SDK's InMemoryStorage", () => namespace(new sdkStorage.InMemoryStorage(), 'facts')],
    ["a user's storage", () => new MapStorage()],
    ["a view of a user's storage", () => namespace(new MapStorage(), 'facts')],
  ]

  it.each(others)('serves %s', async (_, open) => {
    const storage = open()
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()) })
    const find = async (query: string) => keysOf(await strategy.search(storage, query)).sort()
    expect(await find('zebra')).toEqual([])
    const entries = { 'a.md': 'zebra', 'sub/b.md': 'zebra walrus', 'c.md': 'heron', '.hidden': 'zebra' }
    await fill(storage, entries)
    expect(await find('zebra')).toEqual([])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 3, unchanged: 0, removed: 0 })
    expect(await find('zebra')).toEqual(['a.md', 'sub/b.md'])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 3, removed: 0 })
    // Gone from the storage, and so from the results, although the index was told nothing.
    await storage.delete('a.md')
    expect(await find('zebra')).toEqual(['sub/b.md'])
    await storage.write('c.md', encode('zebra heron'))
    await strategy.index(storage, 'c.md', encode('zebra heron'))
    expect(await find('zebra')).toEqual(['c.md', 'sub/b.md'])
    await storage.write('sub/b.md', encode('otter'))
    expect(await strategy.backfill(storage)).toEqual({ indexed: 1, unchanged: 1, removed: 1 })
    expect(await find('zebra')).toEqual(['c.md'])
    expect(await find('otter')).toEqual(['sub/b.md'])
    await strategy.close()
    expect(await find('otter')).toEqual(['sub/b.md'])
  })

  it('finds what many entries of a storage that is not ours hold, and reports progress', async () => {
    const storage = new MapStorage()
    for (let n = 0; n < 1_000; n += 1) await storage.write(`k${n}.md`, encode(`zebra word${n}x`))
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()) })
    const seen: { done: number; total: number }[] = []
    await strategy.backfill(storage, { onProgress: (progress) => void seen.push(progress) })
    expect(seen.at(-1)).toEqual({ done: 1_000, total: 1_000 })
    expect(new Set(storage.reads).size).toBe(1_000)
    expect(await strategy.search(storage, 'zebra')).toHaveLength(1_000)
    for (let n = 0; n < 1_000; n += 2) await storage.delete(`k${n}.md`)
    expect(await strategy.search(storage, 'zebra')).toHaveLength(500)
    const limited = new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()), limit: 7 })
    await limited.backfill(storage)
    for (let n = 1; n < 980; n += 2) await storage.delete(`k${n}.md`)
    expect(await limited.search(storage, 'zebra')).toHaveLength(7)
    expect(keysOf(await strategy.search(storage, 'word999x'))).toEqual(['k999.md'])
  })

  it('with an InMemoryStorage is told of its writes and deletions', async () => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()) })
    const storage = new InMemoryStorage(strategy)
    await fill(storage, { 'a.md': 'zebra', 'b.md': 'zebra walrus' })
    expect(keysOf(await storage.search('walrus'))).toEqual(['b.md'])
    await storage.delete('b.md')
    expect(keysOf(await storage.search('zebra'))).toEqual(['a.md'])
    storage.clear()
    expect(await storage.search('zebra')).toEqual([])
  })

  it('leaves out what a new process, whose memory is empty, does not have', async () => {
    const dbPath = dbPathIn(scratchDirectory())
    const script = (write: boolean) =>
      runScript(`
        const { InMemoryStorage } = await load('native')
        const { Bm25SearchStrategy } = await import('strands-native/storage/search')
        const storage = new InMemoryStorage(new Bm25SearchStrategy({ dbPath: ${JSON.stringify(dbPath)} }))
        if (${write}) await storage.write('k.md', new TextEncoder().encode('zebra'))
        console.log(JSON.stringify((await storage.search('zebra')).map(({ key }) => key)))
      `)
    expect(await script(true)).toEqual(['k.md'])
    expect(await script(false)).toEqual([])
  })

  it('of a view in memory finds keys of the view only', async () => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()) })
    const storage = new InMemoryStorage(strategy)
    const [mem, memory] = [storage.namespace('mem'), storage.namespace('memory')]
    await mem.write('k.md', encode('zebra'))
    await memory.write('l.md', encode('zebra'))
    expect(keysOf(await mem.search!('zebra'))).toEqual(['k.md'])
    expect(keysOf(await memory.search!('zebra'))).toEqual(['l.md'])
    expect(keysOf(await storage.search('zebra')).sort()).toEqual(['mem/k.md', 'memory/l.md'])
  })
})

describe('a view in memory', () => {
  async function twoViews(options: { limit?: number; match?: 'any' | 'all' }) {
    const storage = new InMemoryStorage(new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()), ...options }))
    const [one, two] = [storage.namespace('zebras/one'), storage.namespace('zebras/two')]
    await one.write('k.md', encode('an otter'))
    await one.namespace!('deep').write('l.md', encode('one otter and a heron, to be found last'))
    for (let n = 0; n < 3; n++) await two.write(`${n}.md`, encode('otter otter otter'))
    return { storage, one, two }
  }

  it('has as many hits as the limit says, whatever is in the others', async () => {
    const { storage, one } = await twoViews({ limit: 2 })
    expect(keysOf(await one.search!('otter'))).toEqual(['k.md', 'deep/l.md'])
    expect(keysOf(await one.namespace!('deep').search!('otter'))).toEqual(['l.md'])
    expect(await storage.search('otter')).toHaveLength(2)
  })

  it.each(['any', 'all'] as const)('is not found by its own name, with match %s', async (match) => {
    const { storage, one } = await twoViews({ match })
    expect(await one.search!('zebras')).toEqual([])
    expect(keysOf(await one.search!('one'))).toEqual(['deep/l.md'])
    expect(await one.namespace!('deep').search!('deep')).toEqual([])
    expect(keysOf(await one.search!('deep'))).toEqual(['deep/l.md'])
    expect(await storage.search('zebras')).toHaveLength(5)
  })

  it('is searched by the search of a subclass of the strategy', async () => {
    class Everything extends Bm25SearchStrategy {
      override search: Bm25SearchStrategy['search'] = async () => ['a/k', 'b/l'].map((key) => ({ key, score: 1 }))
    }
    const storage = new InMemoryStorage(new Everything({ dbPath: dbPathIn(scratchDirectory()) }))
    expect(await storage.namespace('a').search!('otter')).toEqual([{ key: 'k', score: 1 }])
  })
})

describe('an explicit dbPath that serves one storage already', () => {
  it('refuses a second folder, and names the index and both folders', async () => {
    const root = scratchDirectory()
    const dbPath = dbPathIn(root)
    const strategy = new Bm25SearchStrategy({ dbPath })
    const [one, two] = ['one', 'two'].map(
      (name) => new LocalFileStorage(join(root, name), { searchStrategy: strategy }),
    )
    await one!.write('k.md', encode('zebra'))
    const calls: (() => Promise<unknown>)[] = [
      () => two!.search('zebra'),
      () => two!.write('k.md', encode('walrus')),
      () => strategy.index(two!, 'k.md', encode('walrus')),
      () => strategy.backfill(two!),
      () => one!.namespace('sub').search('zebra'),
    ]
    for (const call of calls.slice(0, 4)) {
      const error = await rejectionOf(call())
      expect(error).toBeInstanceOf(StorageError)
      for (const name of ['dbPath', dbPath, join(root, 'one'), join(root, 'two')]) expect(error.message).toContain(name)
    }
    expect((await rejectionOf(calls[4]!())).message).toContain(join(root, 'one/sub'))
    // What was refused is stored all the same, and the first goes on.
    expect(readFileSync(join(root, 'two/k.md'), 'utf8')).toBe('walrus')
    expect(keysOf(await one!.search('zebra'))).toEqual(['k.md'])
    expect(keysOf(await one!.search('walrus'))).toEqual([])
  })

  it('takes two objects for one folder for the same storage, however the path is written', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(root) })
    const spellings = [join(root, 'memory'), `${join(root, 'memory')}/`, `${join(root, 'x')}/../memory`]
    for (const [n, baseDir] of spellings.entries()) {
      const storage = new LocalFileStorage(baseDir, { searchStrategy: strategy })
      await storage.write(`k${n}.md`, encode('zebra'))
      expect(await storage.search('zebra')).toHaveLength(n + 1)
    }
    const sdk = new sdkStorage.LocalFileStorage(join(root, 'memory'), undefined, strategy)
    expect(await sdk.search('zebra')).toHaveLength(3)
  })

  it('refuses a second storage without a folder, of any kind', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(root) })
    const first = new InMemoryStorage(strategy)
    await first.write('k.md', encode('zebra'))
    const others: Storage[] = [
      new InMemoryStorage(),
      new MapStorage(),
      new LocalFileStorage(root),
      first.namespace('n'),
    ]
    for (const other of others) {
      const error = await rejectionOf(strategy.search(other, 'zebra'))
      expect(error).toBeInstanceOf(StorageError)
      expect(error.message).toContain('dbPath')
      expect(error.message).toContain('InMemoryStorage')
    }
    expect(keysOf(await first.search('zebra'))).toEqual(['k.md'])
  })

  it('may serve another storage after it was closed', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(root) })
    const storages = [
      new LocalFileStorage(join(root, 'one'), { searchStrategy: strategy }),
      new InMemoryStorage(strategy),
      new LocalFileStorage(join(root, 'two'), { searchStrategy: strategy }),
    ]
    for (const [n, storage] of storages.entries()) {
      await storage.write(`k${n}.md`, encode('zebra'))
      // What the index holds of the others is not in this one.
      expect(keysOf(await storage.search('zebra'))).toEqual([`k${n}.md`])
      await strategy.close()
    }
    expect(await strategy.backfill(storages[0]!)).toEqual({ indexed: 0, unchanged: 1, removed: 2 })
  })

  it('is not claimed by a call that was refused for another reason', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(root) })
    const boxed = new LocalFileStorage(join(root, 'boxed'), new MapSandbox())
    await expect(strategy.search(boxed, 'zebra')).rejects.toBeInstanceOf(StorageError)
    await expect(strategy.search({} as never, 5 as never)).rejects.toBeInstanceOf(TypeError)
    await expect(strategy.index(new MapStorage(), 5 as never, encode(''))).rejects.toBeInstanceOf(TypeError)
    const storage = new LocalFileStorage(join(root, 'memory'), { searchStrategy: strategy })
    await storage.write('k.md', encode('zebra'))
    expect(keysOf(await storage.search('zebra'))).toEqual(['k.md'])
  })
})

describe('without a dbPath', () => {
  const baseless: [string, Storage][] = [
    ['our InMemoryStorage', new InMemoryStorage()],
    ['a view in memory', new InMemoryStorage().namespace('n')],
    ['the InMemoryStorage of the SDK', new sdkStorage.InMemoryStorage()],
    ["a user's storage", new MapStorage()],
    ['a storage whose baseDir is no string', Object.assign(new MapStorage(), { baseDir: 5 })],
  ]
  it.each(baseless)('%s is refused, with a hint at dbPath', async (_, storage) => {
    const strategy = new Bm25SearchStrategy()
    const calls = [
      () => strategy.search(storage, 'zebra'),
      () => strategy.index(storage, 'k.md', encode('zebra')),
      () => strategy.remove(storage, 'k.md'),
      () => strategy.backfill(storage),
    ]
    for (const call of calls) {
      const error = await rejectionOf(call())
      expect(error).toBeInstanceOf(StorageError)
      expect(error.message).toContain('dbPath')
    }
  })

  it('a write to an InMemoryStorage is stored, and rejected', async () => {
    const storage = new InMemoryStorage(new Bm25SearchStrategy())
    await expect(storage.write('k.md', encode('zebra'))).rejects.toThrow('dbPath')
    expect(decode(await storage.read('k.md'))).toBe('zebra')
    await expect(storage.search('zebra')).rejects.toThrow('dbPath')
  })

  it('any object with a baseDir is served: a subclass, that of the SDK, one that a user wrote', async () => {
    class Mine extends LocalFileStorage {
      readonly mine = true
    }
    const opened: ((folder: string, strategy: Bm25SearchStrategy) => Storage)[] = [
      (folder, strategy) => new Mine(folder, { searchStrategy: strategy }),
      (folder, strategy) => new sdkStorage.LocalFileStorage(folder, undefined, strategy),
      (folder, strategy) => new sdkStorage.LocalFileStorage(folder, undefined, strategy).namespace('sub'),
    ]
    for (const open of opened) {
      const folder = join(scratchDirectory(), 'memory')
      const storage = open(folder, new Bm25SearchStrategy())
      await fill(storage, { 'a.md': 'zebra', 'b.md': 'zebra walrus' })
      expect(keysOf(await storage.search!('walrus'))).toEqual(['b.md'])
      await storage.delete('b.md')
      expect(keysOf(await storage.search!('zebra'))).toEqual(['a.md'])
    }
    const folder = join(scratchDirectory(), 'memory')
    const own = Object.assign(new MapStorage(), { baseDir: folder })
    const strategy = new Bm25SearchStrategy()
    await own.write('k.md', encode('zebra'))
    await strategy.index(own, 'k.md', encode('zebra'))
    expect(keysOf(await strategy.search(own, 'zebra'))).toEqual(['k.md'])
    expect(existsSync(indexBeside(folder))).toBe(true)
  })

  it('a subclass that lists or reads otherwise is taken at its word', async () => {
    class Upper extends LocalFileStorage {
      override async read(key: string) {
        const data = await super.read(key)
        return data && encode(decode(data)!.replace('zebra', 'walrus'))
      }
      override async list(prefix: string) {
        return (await super.list(prefix)).filter((key) => key !== 'secret.md')
      }
    }
    const folder = join(scratchDirectory(), 'memory')
    const strategy = new Bm25SearchStrategy()
    const storage = new Upper(folder, { searchStrategy: strategy })
    await fill(new LocalFileStorage(folder), { 'k.md': 'zebra', 'secret.md': 'zebra' })
    expect(await strategy.backfill(storage)).toEqual({ indexed: 1, unchanged: 0, removed: 0 })
    expect(keysOf(await storage.search('walrus'))).toEqual(['k.md'])
    expect(keysOf(await storage.search('zebra'))).toEqual([])
  })
})

describe("a user's storage that fails", () => {
  const dbPath = () => dbPathIn(scratchDirectory())
  const faults: [string, unknown][] = [
    ['an Error', new RangeError('broken')],
    ['a string', 'broken'],
    ['undefined', undefined],
    ['an object', { code: 'EACCES' }],
  ]

  it.each(faults)('has the rejection of its list handed on: %s', async (_, fault) => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    const storage = new MapStorage()
    await storage.write('k.md', encode('zebra'))
    await strategy.backfill(storage)
    for (const list of [
      () => Promise.reject(fault),
      () => {
        throw fault
      },
    ]) {
      Object.assign(storage, { list })
      const caught = (call: Promise<unknown>) =>
        call.then(
          () => 'resolved',
          (error: unknown) => [error],
        )
      expect(await caught(strategy.backfill(storage))).toEqual([fault])
      expect(await caught(strategy.search(storage, 'zebra'))).toEqual([fault])
    }
    Reflect.deleteProperty(storage, 'list')
    expect(keysOf(await strategy.search(storage, 'zebra'))).toEqual(['k.md'])
  })

  it.each(faults)('has the rejection of its read handed on, unless it is a StorageError: %s', async (_, fault) => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    const storage = new MapStorage()
    await fill(storage, { 'a.md': 'zebra', 'b.md': 'zebra' })
    const { read } = MapStorage.prototype
    Object.assign(storage, {
      read: (key: string) => (key === 'a.md' ? Promise.reject(fault) : read.call(storage, key)),
    })
    const outcome = await strategy.backfill(storage).then(
      () => 'resolved',
      (error: unknown) => [error],
    )
    expect(outcome).toEqual([fault])
    Reflect.deleteProperty(storage, 'read')
    await strategy.backfill(storage)
    expect(await strategy.search(storage, 'zebra')).toHaveLength(2)
  })

  it('has entries skipped whose read rejects with a StorageError, or that have gone meanwhile', async () => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    const storage = new MapStorage()
    await fill(storage, { 'a.md': 'zebra', 'b.md': 'zebra', 'c.md': 'zebra', 'd.md': 'zebra' })
    const { read } = MapStorage.prototype
    const faults: Record<string, () => Promise<null>> = {
      'a.md': () => Promise.reject(new StorageError('not now')),
      'b.md': () => Promise.reject(new SdkStorageError('not now')),
      'c.md': () => Promise.resolve(null),
    }
    Object.assign(storage, { read: (key: string) => faults[key]?.() ?? read.call(storage, key) })
    const seen: unknown[] = []
    const onProgress = (progress: unknown) => void seen.push(progress)
    expect(await strategy.backfill(storage, { onProgress })).toMatchObject({ indexed: 1, removed: 0 })
    expect(seen.at(-1)).toEqual({ done: 4, total: 4 })
    expect(keysOf(await strategy.search(storage, 'zebra'))).toEqual(['d.md'])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['an object', {}],
    ['numbers', [1, 2]],
    ['an array with holes', new Array(2)],
    ['a string', 'k.md'],
  ])('has a listing refused that is none: %s', async (_, listing) => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    const storage = Object.assign(new MapStorage(), { list: async () => listing as string[] })
    expect(await rejectionOf(strategy.backfill(storage))).toBeInstanceOf(Error)
  })

  it.each<[string, unknown]>([
    ['a string', 'zebra'],
    ['a number', 5],
    ['an array', [1, 2, 3]],
  ])('has a value refused that is no bytes: %s', async (_, value) => {
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    const storage = Object.assign(new MapStorage(), { list: async () => ['k.md'], read: async () => value as never })
    expect(await rejectionOf(strategy.backfill(storage))).toBeInstanceOf(Error)
  })

  it('has no method called but list and read', async () => {
    const calls = new Set<PropertyKey>()
    const storage = new MapStorage()
    await storage.write('k.md', encode('zebra'))
    const watched = new Proxy(storage, {
      get(target, name, receiver) {
        const value = Reflect.get(target, name, receiver) as unknown
        if (typeof value === 'function' && name in MapStorage.prototype) calls.add(name)
        return value
      },
    })
    calls.clear()
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    await strategy.backfill(watched)
    expect(keysOf(await strategy.search(watched, 'zebra'))).toEqual(['k.md'])
    await strategy.index(watched, 'k.md', encode('walrus'))
    await strategy.remove(watched, 'k.md')
    for (const name of ['write', 'delete', 'search', 'namespace']) expect([...calls]).not.toContain(name)
  })

  it('has keys taken as they are, odd ones too', async () => {
    const storage = new MapStorage()
    const keys = ['/a//b.md', 'a\\b.md', '../c.md', 'd/', ' ', '復\u0301', 'x'.repeat(2_000), 'a//b', 'a/../b']
    for (const key of keys) await storage.write(key, encode('zebra'))
    const strategy = new Bm25SearchStrategy({ dbPath: dbPath() })
    await strategy.backfill(storage)
    expect(keysOf(await strategy.search(storage, 'zebra')).sort()).toEqual([...keys].sort())
    await strategy.index(storage, '/a//b.md', encode('walrus'))
    expect(keysOf(await strategy.search(storage, 'walrus'))).toEqual(['/a//b.md'])
    await strategy.remove(storage, '/a//b.md')
    expect(await strategy.search(storage, 'walrus')).toEqual([])
    expect(keysOf(await strategy.search(storage, 'zebra')).sort()).toEqual(keys.slice(1).sort())
  })
})

describe.each([['/a', 'b'], ['a/', 'b'], ['', 'b'], [''], ['/']])("keys of a user's storage", (...keys: string[]) => {
  it(`that are ${JSON.stringify(keys)} come back as they are`, async () => {
    const storage = new MapStorage()
    for (const key of keys) await storage.write(key, encode('zebra'))
    const strategy = new Bm25SearchStrategy({ dbPath: dbPathIn(scratchDirectory()) })
    await strategy.backfill(storage)
    expect(keysOf(await strategy.search(storage, 'zebra')).sort()).toEqual([...keys].sort())
  })
})

describe('a sandbox', () => {
  it('is refused by the constructor together with the strategy', () => {
    const strategy = new Bm25SearchStrategy()
    expect(() => new LocalFileStorage('/box', new MapSandbox(), strategy)).toThrow(StorageError)
    expect(() => new LocalFileStorage('/box', { sandbox: new MapSandbox(), searchStrategy: strategy })).toThrow(
      StorageError,
    )
  })

  it('that is put round a storage later drops the strategy, with a warning, and keyword search takes its place', async () => {
    const { warnings, settled } = collectWarnings()
    const { storage, folder } = openFolder()
    await storage.write('k.md', encode('zebra'))
    const boxed = storage.forSandbox(new MapSandbox())
    expect((await settled()).map(({ message }) => message)).toEqual([expect.stringContaining('Bm25SearchStrategy')])
    await boxed.write('l.md', encode('walrus'))
    expect(keysOf(await boxed.search('walrus'))).toEqual(['l.md'])
    expect(keysOf(await storage.search('walrus'))).toEqual([])
    expect(keysOf(await storage.search('zebra'))).toEqual(['k.md'])
    expect(readdirSync(folder)).toEqual(['k.md'])
    expect(warnings).toHaveLength(1)
  })

  it('round a storage keeps every method of the strategy off it, with and without dbPath', async () => {
    const root = scratchDirectory()
    const folder = join(root, 'memory')
    for (const options of [undefined, { dbPath: dbPathIn(root) }]) {
      const boxes: Storage[] = [
        new LocalFileStorage(folder, new MapSandbox()),
        new LocalFileStorage(folder).forSandbox(new MapSandbox()),
        new LocalFileStorage(folder, new MapSandbox()).namespace('sub'),
        new sdkStorage.LocalFileStorage(folder, new MapSandbox()),
        new sdkStorage.LocalFileStorage(folder).forSandbox(new MapSandbox()).namespace('sub'),
      ]
      for (const boxed of boxes) {
        const strategy = new Bm25SearchStrategy(options)
        const calls = [
          strategy.search(boxed, 'zebra'),
          strategy.index(boxed, 'k.md', encode('zebra')),
          strategy.remove(boxed, 'k.md'),
          strategy.backfill(boxed),
        ]
        for (const call of calls) {
          const error = await rejectionOf(call)
          expect(error).toBeInstanceOf(StorageError)
          expect(error.message).toMatch(/sandbox/)
        }
      }
    }
    expect(readdirSync(root)).toEqual([])
  })

  it('of the SDK, with the strategy in its storage, has nothing indexed', async () => {
    const root = scratchDirectory()
    const strategy = new Bm25SearchStrategy()
    const boxed = new sdkStorage.LocalFileStorage(join(root, 'memory'), new MapSandbox(), strategy)
    await boxed.write('k.md', encode('zebra'))
    expect(await rejectionOf(boxed.search('zebra'))).toBeInstanceOf(StorageError)
    expect(readdirSync(root)).toEqual([])
  })
})

describe('a FileMemoryStore of the SDK', () => {
  it.each(['native', 'sdk'] as const)('finds by BM25 on a %s storage', async (who) => {
    const folder = scratchDirectory()
    const search = new Bm25SearchStrategy()
    // The store searches by the strategy; it is the storage that tells it what is written.
    const { LocalFileStorage: Class } = who === 'native' ? nativeStorage : sdkStorage
    const storage = new Class(folder, undefined, search)
    const store = new FileMemoryStore({ name: 'facts', storage, search })
    expect(await store.search('aisle')).toEqual([])
    await store.add('# User preferences\nPrefers aisle seats')
    await store.add('# Project setup\nThe seats are not part of it')
    await store.add('# User preferences\nDrinks green tea')
    const found = await store.search('which aisle seats, or green tea, does the user like?')
    expect(found[0]!.content).toBe('# User preferences\nPrefers aisle seats\nDrinks green tea')
    expect(found[0]!.metadata!.path).toBe('user-preferences.md')
    expect(await store.search('seats', { maxSearchResults: 1 })).toHaveLength(1)
    expect(await store.search('What is the?')).toEqual([])
    await Promise.all(Array.from({ length: 20 }, (_, n) => store.add(`# Burst ${n}\nfact word${n}x`)))
    for (let n = 0; n < 20; n += 1) expect(await store.search(`word${n}x`)).toHaveLength(1)
  })

  it('and another, on one storage with one strategy, do not mix', async () => {
    const folder = scratchDirectory()
    const search = new Bm25SearchStrategy()
    const storage = new LocalFileStorage(folder, { searchStrategy: search })
    const stores = ['facts', 'trips'].map((name) => new FileMemoryStore({ name, storage, search }))
    for (const store of stores) await store.add(`# Seats\naisle of ${store.name}`)
    for (const store of stores) {
      expect((await store.search('aisle')).map(({ content }) => content)).toEqual([`# Seats\naisle of ${store.name}`])
    }
    expect((await storage.list('')).map((key) => basename(key))).toEqual(['seats.md', 'seats.md'])
    await search.close()
    expect(await stores[0]!.search('aisle')).toHaveLength(1)
  })

  it('finds what was in its folder before, after a backfill of its part of the storage', async () => {
    const folder = scratchDirectory()
    mkdirSync(join(folder, 'memory/facts'), { recursive: true })
    writeFileSync(join(folder, 'memory/facts/by-hand.md'), '# By hand\naisle')
    const search = new Bm25SearchStrategy()
    const storage = new LocalFileStorage(folder, { searchStrategy: search })
    const store = new FileMemoryStore({ name: 'facts', storage, search })
    expect(await store.search('aisle')).toEqual([])
    const part = storage.namespace('memory/facts')
    expect(await search.backfill(part)).toEqual({ indexed: 1, unchanged: 0, removed: 0 })
    expect((await store.search('aisle')).map(({ metadata }) => metadata!.path)).toEqual(['by-hand.md'])
  })
})
