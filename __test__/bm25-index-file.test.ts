// The index file of BM25 search: derived data, which may be broken, foreign, read-only or gone without harm to anything.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { StorageError } from 'strands-native/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collectWarnings, indexBeside, openFolder } from './bm25-folder.js'
import { linesOf, runScript, startProgram } from './child-program.js'
import { type Entries, fill } from './entries.js'
import { nativeStorage } from './implementations.js'
import { PythonSdk } from './python-sdk.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

let pythonSdk: PythonSdk
beforeAll(async () => {
  pythonSdk = await PythonSdk.start()
})
afterAll(() => pythonSdk?.stop())

const entries: Entries = { 'a.md': 'zebra heron', 'sub/b.md': 'zebra walrus', '.hidden': 'zebra' }

/** A folder with these entries, whose index is closed. */
async function closedFolder(texts: Entries = entries) {
  const opened = openFolder()
  await fill(opened.storage, texts)
  await opened.strategy.close()
  return opened
}

/** What stands beside the folder: names that begin with `.__strands_`. */
const beside = (folder: string): string[] => readdirSync(dirname(folder)).filter((name) => name !== basename(folder))

const isIndexPart = (folder: string) => (name: string) =>
  ['', '-wal', '-shm'].some((suffix) => name === `${basename(indexBeside(folder))}${suffix}`)

/** Files that were set aside, with what SQLite keeps beside a database left out. */
const setAside = (folder: string): string[] =>
  beside(folder).filter((name) => !isIndexPart(folder)(name) && !/-(wal|shm)$/.test(name))

type Breaking = (index: string) => Promise<void> | void
const brokenFiles: [string, Breaking][] = [
  ['garbage', (index) => writeFileSync(index, 'this is not a database, it is a text\n'.repeat(500))],
  ['a short text', (index) => writeFileSync(index, 'x')],
  ['zeros', (index) => writeFileSync(index, new Uint8Array(10_000))],
  ['cut in half', (index) => truncateSync(index, statSync(index).size / 2)],
  [
    'garbage after an intact head',
    (index) => {
      const bytes = readFileSync(index)
      bytes.fill(0xa5, 100)
      writeFileSync(index, bytes)
    },
  ],
  [
    'garbage in every page but the first',
    (index) => {
      const bytes = readFileSync(index)
      bytes.fill(0xa5, 4096)
      writeFileSync(index, bytes)
    },
  ],
  [
    'a database with a plain table named documents',
    async (index) => {
      rmSync(index)
      await pythonSdk.sql(
        index,
        'CREATE TABLE documents (id INTEGER, body TEXT)',
        "INSERT INTO documents VALUES (1, 'precious')",
      )
    },
  ],
  [
    'a full-text index with other columns',
    async (index) => {
      rmSync(index)
      await pythonSdk.sql(
        index,
        'CREATE VIRTUAL TABLE documents USING fts5(title, body)',
        "INSERT INTO documents VALUES ('precious', 'x')",
      )
    },
  ],
  [
    'an index whose hashes have other columns',
    async (index) => {
      await pythonSdk.sql(index, 'DROP TABLE doc_hashes', 'CREATE TABLE doc_hashes (id INTEGER, md5 TEXT)')
    },
  ],
  [
    'a view named documents',
    async (index) => {
      rmSync(index)
      await pythonSdk.sql(index, "CREATE VIEW documents AS SELECT 'precious' AS key, 'zebra' AS content")
    },
  ],
]

const calls: [string, (opened: ReturnType<typeof openFolder>) => Promise<unknown>][] = [
  ['search', ({ storage }) => storage.search('heron')],
  ['write', ({ storage }) => storage.write('new.md', encode('otter'))],
  ['delete', ({ storage }) => storage.delete('sub/b.md')],
  ['index', ({ storage, strategy }) => strategy.index(storage, 'a.md', encode('zebra heron'))],
  ['backfill', ({ storage, strategy }) => strategy.backfill(storage)],
]

describe.each(brokenFiles)('an index file that is %s', (_, breakFile) => {
  it.each(calls)('is set aside, whole, with a warning, and made anew from the storage: by %s', async (name, call) => {
    const { folder, index } = await closedFolder()
    await breakFile(index)
    const bytes = readFileSync(index)
    const { settled } = collectWarnings()
    const opened = openFolder(undefined, folder)
    await call(opened)
    // The entries that were there before are found at once, and those of the call.
    const isDeleted = name === 'delete'
    expect((await opened.find('zebra')).sort()).toEqual(isDeleted ? ['a.md'] : ['a.md', 'sub/b.md'])
    expect(await opened.find('heron')).toEqual(['a.md'])
    expect(await opened.find('precious')).toEqual([])
    expect(await opened.find('otter')).toEqual(name === 'write' ? ['new.md'] : [])
    const aside = setAside(folder)
    expect(aside).toHaveLength(1)
    expect(aside[0]).toMatch(/^\.__strands_/)
    expect(readFileSync(join(dirname(folder), aside[0]!)).equals(bytes)).toBe(true)
    const warnings = await settled()
    expect(warnings).toHaveLength(1)
    expect(warnings[0]!.message).toContain(index)
    expect(warnings[0]!.message).toContain(aside[0])
    // The user's files are as they were, and none of the index's is a key of the parent.
    for (const [key, text] of Object.entries(entries)) {
      if (isDeleted && key === 'sub/b.md') continue
      expect(readFileSync(join(folder, key), 'utf8')).toBe(text)
    }
    const parent = new nativeStorage.LocalFileStorage(dirname(folder))
    for (const key of await parent.list('')) expect(key).toMatch(/^memory\//)
  })
})

describe('a broken index file', () => {
  it('is set aside once, and the index that takes its place stays', async () => {
    const { folder, index } = await closedFolder()
    writeFileSync(index, 'garbage '.repeat(1_000))
    const { settled } = collectWarnings()
    for (let n = 0; n < 5; n += 1) {
      const { find, storage, strategy } = openFolder(undefined, folder)
      expect(await find('heron')).toEqual(['a.md'])
      await storage.write('new.md', encode(`otter ${n}`))
      await strategy.close()
    }
    expect(setAside(folder)).toHaveLength(1)
    expect(await settled()).toHaveLength(1)
  })

  it('that comes back is set aside each time, under another name', async () => {
    const { folder, index } = await closedFolder()
    for (let n = 1; n <= 3; n += 1) {
      writeFileSync(index, `garbage ${n} `.repeat(1_000))
      const { find, strategy } = openFolder(undefined, folder)
      expect(await find('heron')).toEqual(['a.md'])
      expect(setAside(folder)).toHaveLength(n)
      await strategy.close()
    }
  })

  it('that breaks while it is open is replaced as well', async () => {
    const { folder, index, storage, find, strategy } = openFolder()
    await fill(storage, entries)
    await strategy.close()
    expect(await find('heron')).toEqual(['a.md'])
    await strategy.close()
    const bytes = readFileSync(index)
    bytes.fill(0xa5)
    writeFileSync(index, bytes)
    expect(await find('heron')).toEqual(['a.md'])
    await storage.write('new.md', encode('otter'))
    expect(await find('otter')).toEqual(['new.md'])
    expect(setAside(folder)).toHaveLength(1)
  })

  it('meets many calls at once, of several strategies, and all of them succeed', async () => {
    const { folder, index } = await closedFolder()
    writeFileSync(index, 'garbage '.repeat(1_000))
    const opened = Array.from({ length: 4 }, () => openFolder(undefined, folder))
    const results = await Promise.all(
      opened.flatMap(({ find, storage }, n) => [
        find('heron'),
        storage.write(`new${n}.md`, encode('otter')),
        find('zebra'),
        storage.write(`more${n}.md`, encode('otter')),
      ]),
    )
    for (let n = 0; n < 4; n += 1) expect(results[4 * n]).toEqual(['a.md'])
    for (const { find } of opened) {
      expect(await find('otter')).toHaveLength(8)
      expect((await find('zebra')).sort()).toEqual(['a.md', 'sub/b.md'])
    }
    expect(setAside(folder)).toHaveLength(1)
  })

  it('meets several processes at once, and each of them finds what is in the storage', async () => {
    const { folder, index } = await closedFolder()
    for (let round = 1; round <= 3; round += 1) {
      writeFileSync(index, `garbage ${round} `.repeat(1_000))
      const searches = Array.from({ length: 4 }, () =>
        runScript<string[]>(`
          const { LocalFileStorage } = await load('native')
          const { Bm25SearchStrategy } = await import('strands-native/storage/search')
          process.removeAllListeners('warning')
          const storage = new LocalFileStorage(${JSON.stringify(folder)}, { searchStrategy: new Bm25SearchStrategy() })
          console.log(JSON.stringify((await storage.search('zebra')).map(({ key }) => key).sort()))
        `),
      )
      for (const found of await Promise.all(searches)) expect(found).toEqual(['a.md', 'sub/b.md'])
      expect(setAside(folder)).toHaveLength(round)
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${index}${suffix}`, { force: true })
    }
  })

  it('at an explicit dbPath is set aside beside it, and made anew from whatever storage it serves', async () => {
    const root = scratchDirectory()
    const dbPath = join(root, 'my index.db')
    writeFileSync(dbPath, 'garbage '.repeat(1_000))
    const { Bm25SearchStrategy } = await import('strands-native/storage/search')
    const { settled } = collectWarnings()
    const strategy = new Bm25SearchStrategy({ dbPath })
    const storage = new nativeStorage.InMemoryStorage()
    await storage.write('k.md', encode('zebra'))
    expect((await strategy.search(storage, 'zebra')).map(({ key }) => key)).toEqual(['k.md'])
    const aside = readdirSync(root).filter((name) => !/^my index\.db(-wal|-shm)?$/.test(name))
    expect(aside).toHaveLength(1)
    expect(aside[0]).toMatch(/^my index\.db/)
    expect(readFileSync(join(root, aside[0]!), 'utf8')).toBe('garbage '.repeat(1_000))
    expect((await settled())[0]!.message).toContain(dbPath)
  })

  it('whose storage cannot be listed has the rejection handed on, and is made whole later', async () => {
    const root = scratchDirectory()
    const dbPath = join(root, 'index.db')
    writeFileSync(dbPath, 'garbage '.repeat(1_000))
    const { Bm25SearchStrategy } = await import('strands-native/storage/search')
    const strategy = new Bm25SearchStrategy({ dbPath })
    const storage = new nativeStorage.InMemoryStorage()
    await storage.write('k.md', encode('zebra'))
    const fault = new RangeError('not now')
    let fails = true
    const list = async (prefix: string) => {
      if (fails) throw fault
      return storage.list(prefix)
    }
    const flaky = {
      list,
      read: storage.read.bind(storage),
      write: storage.write.bind(storage),
      delete: storage.delete.bind(storage),
    }
    await expect(strategy.search(flaky, 'zebra')).rejects.toBe(fault)
    fails = false
    expect((await strategy.search(flaky, 'zebra')).map(({ key }) => key)).toEqual(['k.md'])
  })

  it('is made anew by the search of another process than that which set it aside', async () => {
    const { folder, index } = await closedFolder()
    writeFileSync(index, 'garbage '.repeat(1_000))
    const [found, warned] = await runScript<[string[], string[]]>(`
      const { LocalFileStorage } = await load('native')
      const { Bm25SearchStrategy } = await import('strands-native/storage/search')
      const warned = []
      process.on('warning', ({ message }) => warned.push(message))
      const strategy = new Bm25SearchStrategy()
      const storage = new LocalFileStorage(${JSON.stringify(folder)}, { searchStrategy: strategy })
      await storage.write('new.md', new TextEncoder().encode('otter'))
      await new Promise((resolve) => setImmediate(resolve))
      console.log(JSON.stringify([await storage.list(''), warned]))
    `)
    expect(found).toEqual(['.hidden', 'a.md', 'new.md', 'sub/b.md'])
    expect(setAside(folder)).toHaveLength(1)
    expect(warned).toHaveLength(1)
    expect((await openFolder(undefined, folder).find('zebra')).sort()).toEqual(['a.md', 'sub/b.md'])
  })
})

describe('an index file that is no index yet', () => {
  it.each<[string, Breaking]>([
    ['empty', (index) => writeFileSync(index, '')],
    ['gone', (index) => rmSync(index)],
    [
      'a database of something else, which has nothing of the same name',
      async (index) => {
        rmSync(index)
        await pythonSdk.sql(index, 'CREATE TABLE mine (text)', "INSERT INTO mine VALUES ('precious')")
      },
    ],
  ])('is begun where it is, and nothing is set aside: %s', async (name, prepare) => {
    const { folder, index } = await closedFolder()
    await prepare(index)
    const { settled } = collectWarnings()
    const { find, storage, strategy } = openFolder(undefined, folder)
    expect(await find('zebra')).toEqual([])
    await storage.write('new.md', encode('otter'))
    expect(await find('otter')).toEqual(['new.md'])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 2, unchanged: 1, removed: 0 })
    expect((await find('zebra')).sort()).toEqual(['a.md', 'sub/b.md'])
    expect(setAside(folder)).toEqual([])
    expect(await settled()).toEqual([])
    if (name.startsWith('a database'))
      expect(await pythonSdk.sql(index, 'SELECT text FROM mine')).toEqual([['precious']])
  })

  it('because a folder has its name fails with a StorageError, and the entry is stored', async () => {
    const { folder, index } = await closedFolder()
    rmSync(index)
    mkdirSync(index)
    writeFileSync(join(index, 'mine.txt'), 'precious')
    const { storage, strategy } = openFolder(undefined, folder)
    const error = await rejectionOf(storage.write('new.md', encode('otter')))
    expect(error).toBeInstanceOf(StorageError)
    expect(error.message).toContain("'new.md'")
    expect(error.message).toMatch(/not index/)
    expect(error.cause?.code).toMatch(/^SQLITE_/)
    expect(decode(await storage.read('new.md'))).toBe('otter')
    expect(await rejectionOf(storage.search('otter'))).toBeInstanceOf(StorageError)
    expect(await rejectionOf(strategy.backfill(storage))).toBeInstanceOf(StorageError)
    expect(readFileSync(join(index, 'mine.txt'), 'utf8')).toBe('precious')
  })
})

describe('an index file that changes under an open strategy', () => {
  it('and is gone: searches find nothing, the next write begins it anew, a backfill completes it', async () => {
    const { folder, index, storage, strategy, find } = openFolder()
    await fill(storage, entries)
    expect(await find('heron')).toEqual(['a.md'])
    for (const name of beside(folder)) rmSync(join(dirname(folder), name))
    expect(await find('heron')).toEqual([])
    expect(existsSync(index)).toBe(false)
    await storage.write('new.md', encode('otter'))
    expect(await find('otter')).toEqual(['new.md'])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 2, unchanged: 1, removed: 0 })
    expect(await find('heron')).toEqual(['a.md'])
    expect(setAside(folder)).toEqual([])
  })

  it('and another is moved into its place: that one is searched and written', async () => {
    const { folder, index, storage, find } = openFolder()
    await fill(storage, entries)
    const other = await closedFolder({ 'a.md': 'lemur' })
    for (const name of beside(folder)) rmSync(join(dirname(folder), name))
    renameSync(other.index, index)
    expect(await find('lemur')).toEqual(['a.md'])
    expect(await find('heron')).toEqual([])
    await storage.write('new.md', encode('otter'))
    expect(await openFolder(undefined, folder).find('otter')).toEqual(['new.md'])
  })

  it('and the whole directory is moved away: nothing is found, and a write makes all anew', async () => {
    const root = scratchDirectory()
    const { storage, find } = openFolder(undefined, join(root, 'one/memory'))
    await fill(storage, entries)
    renameSync(join(root, 'one'), join(root, 'two'))
    expect(await find('zebra')).toEqual([])
    await storage.write('new.md', encode('otter'))
    expect(await find('otter')).toEqual(['new.md'])
    expect((await openFolder(undefined, join(root, 'two/memory')).find('zebra')).sort()).toEqual(['a.md', 'sub/b.md'])
  })
})

describe('what a killed process leaves', () => {
  it('is a -wal that has all it acknowledged, which the next one finds', async () => {
    const { folder, index } = openFolder()
    const program = startProgram('bm25-write-until-killed.mjs', [folder, 'killed'])
    const lines = linesOf(program)
    const acknowledged: string[] = []
    while (acknowledged.length < 40) acknowledged.push((await lines.next()).value as string)
    program.kill('SIGKILL')
    for await (const key of lines) acknowledged.push(key)
    expect(statSync(`${index}-wal`).size).toBeGreaterThan(0)
    const { find } = openFolder(undefined, folder)
    const found = new Set(await find('zebra'))
    expect(acknowledged.filter((key) => !found.has(key))).toEqual([])
    expect(setAside(folder)).toEqual([])
  })

  it('may be a -wal alone, which is of no use and does no harm', async () => {
    const { folder, index, storage } = openFolder()
    await fill(storage, entries)
    const wal = readFileSync(`${index}-wal`)
    for (const [suffix, bytes] of [
      ['-wal', wal],
      ['-wal', Buffer.from('garbage '.repeat(1_000))],
      ['-shm', Buffer.from('garbage '.repeat(4_096))],
      ['-journal', Buffer.from('garbage '.repeat(1_000))],
    ] as const) {
      const other = openFolder()
      mkdirSync(other.folder)
      writeFileSync(join(other.folder, 'a.md'), 'zebra')
      writeFileSync(`${other.index}${suffix}`, bytes)
      expect(await other.find('zebra')).toEqual([])
      await other.storage.write('new.md', encode('otter'))
      expect(await other.find('otter')).toEqual(['new.md'])
      expect(await other.strategy.backfill(other.storage)).toEqual({ indexed: 1, unchanged: 1, removed: 0 })
      expect(await other.find('zebra')).toEqual(['a.md'])
    }
    expect(await openFolder(undefined, folder).find('heron')).toEqual(['a.md'])
  })

  it('may be a -wal of another time, beside an index that is whole', async () => {
    const { folder, index, strategy, storage } = openFolder()
    await fill(storage, entries)
    copyFileSync(`${index}-wal`, `${index}-old`)
    await strategy.close()
    await storage.write('new.md', encode('otter'))
    await strategy.close()
    expect(existsSync(`${index}-wal`)).toBe(false)
    renameSync(`${index}-old`, `${index}-wal`)
    const again = openFolder(undefined, folder)
    const found = await again.find('zebra')
    expect(found.sort()).toEqual(['a.md', 'sub/b.md'])
    await again.storage.write('more.md', encode('lemur'))
    await again.strategy.backfill(again.storage)
    expect(await again.find('otter')).toEqual(['new.md'])
    expect(await again.find('lemur')).toEqual(['more.md'])
  })

  it('may be a -shm of garbage beside an index that is whole', async () => {
    const { folder, index } = await closedFolder()
    writeFileSync(`${index}-shm`, Buffer.alloc(32_768, 0xa5))
    const { find, storage } = openFolder(undefined, folder)
    expect(await find('heron')).toEqual(['a.md'])
    await storage.write('new.md', encode('otter'))
    expect(await find('otter')).toEqual(['new.md'])
    expect(setAside(folder)).toEqual([])
  })

  it('may be an index cut short while its -wal is there: it is made anew, and no file is harmed', async () => {
    const { folder, index } = openFolder()
    const program = startProgram('bm25-write-until-killed.mjs', [folder, 'killed'])
    const lines = linesOf(program)
    for (let n = 0; n < 20; n += 1) await lines.next()
    program.kill('SIGKILL')
    for await (const _ of lines);
    truncateSync(index, statSync(index).size / 2)
    writeFileSync(`${index}-wal`, Buffer.alloc(10_000, 0xa5))
    const { find, storage, strategy } = openFolder(undefined, folder)
    await find('zebra')
    await strategy.backfill(storage)
    const keys = await storage.list('')
    expect((await find('zebra')).sort()).toEqual(keys)
    for (const key of keys) expect(decode(await storage.read(key))).toContain('zebra')
  })
})

describe('where nothing may be written', () => {
  // As root is refused nothing, another user searches, for good and in every respect.
  const asAnother = <T>(folder: string, body: string) =>
    runScript<T>(`
      const { LocalFileStorage } = await load('native')
      const { Bm25SearchStrategy } = await import('strands-native/storage/search')
      const encode = (text) => new TextEncoder().encode(text)
      const warned = []
      process.on('warning', ({ message }) => warned.push(message))
      if (process.getuid() === 0) {
        process.setgroups([])
        process.setgid(65534)
        process.setuid(65534)
      }
      const strategy = new Bm25SearchStrategy()
      const storage = new LocalFileStorage(${JSON.stringify(folder)}, { searchStrategy: strategy })
      const keys = (results) => results.map(({ key }) => key).sort()
      ${body}
    `)

  /** Lets everybody read, and nobody but root write. */
  function forbid(folder: string, rights: { directory: number; file: number }): void {
    for (const name of beside(folder)) chmodSync(join(dirname(folder), name), rights.file)
    chmodSync(folder, 0o555)
    chmodSync(join(folder, 'sub'), 0o555)
    for (const key of Object.keys(entries)) chmodSync(join(folder, key), 0o444)
    chmodSync(dirname(folder), rights.directory)
  }

  const placed: [string, (folder: string) => Promise<void>][] = [
    ['that we made and closed', async () => {}],
    [
      'that we made, with its -wal and -shm still there',
      async (folder) => {
        const opened = openFolder(undefined, folder)
        await opened.storage.write('sub/b.md', encode('zebra walrus lately'))
        await opened.storage.write('sub/b.md', encode('zebra walrus'))
      },
    ],
    [
      'that the Python SDK made',
      async (folder) => {
        rmSync(indexBeside(folder))
        await pythonSdk.bm25Write(folder, entries as Record<string, string>)
      },
    ],
  ]

  it.each(placed)('searches go on in an index %s, and nothing changes', async (_, place) => {
    const { folder } = await closedFolder()
    await place(folder)
    forbid(folder, { directory: 0o555, file: 0o444 })
    const before = beside(folder).sort()
    const [found, again, warned] = await asAnother<[string[], string[], string[]]>(
      folder,
      `
      const found = keys(await storage.search('zebra'))
      await strategy.close()
      console.log(JSON.stringify([found, keys(await storage.search('walrus')), warned]))
      `,
    )
    expect(found).toEqual(['a.md', 'sub/b.md'])
    expect(again).toEqual(['sub/b.md'])
    expect(warned).toEqual([])
    expect(beside(folder).sort()).toEqual(before)
    chmodSync(dirname(folder), 0o755)
  })

  it.each([
    ['the rest of a log makes a search say that it cannot be read', false],
    ['an empty log does not keep a search from the index', true],
  ])('%s', async (_, isEmpty) => {
    const { folder, index, storage, strategy } = openFolder()
    await fill(storage, entries)
    // As a crash leaves them, and a copy without what SQLite makes anew.
    const copy = join(scratchDirectory(), 'memory')
    cpSync(folder, copy, { recursive: true })
    if (isEmpty) {
      await strategy.close()
      writeFileSync(`${index}-wal`, '')
    }
    for (const suffix of ['', '-wal']) cpSync(index + suffix, indexBeside(copy) + suffix)
    await strategy.close()
    forbid(copy, { directory: 0o555, file: 0o444 })
    const search = await asAnother(
      copy,
      `console.log(JSON.stringify(await outcome(storage.search('zebra').then(keys))))`,
    )
    if (isEmpty) expect(search).toEqual({ value: ['a.md', 'sub/b.md'] })
    else expect(search).toMatchObject({ rejected: 'StorageError', code: expect.stringMatching(/^SQLITE_/) })
    chmodSync(dirname(copy), 0o755)
  })

  it('a write says that it failed, indexing that it was not indexed, and a backfill that it could not', async () => {
    const { folder } = await closedFolder()
    forbid(folder, { directory: 0o555, file: 0o444 })
    const bytes = readFileSync(indexBeside(folder))
    const [write, index, remove, backfill] = await asAnother<{ rejected: string; message: string; code?: string }[]>(
      folder,
      `
      console.log(JSON.stringify([
        await outcome(storage.write('new.md', encode('otter'))),
        await outcome(strategy.index(storage, 'a.md', encode('otter'))),
        await outcome(strategy.remove(storage, 'a.md')),
        await outcome(strategy.backfill(storage)),
      ]))
      `,
    )
    expect(write).toEqual({
      rejected: 'StorageError',
      message: "Failed to write 'new.md' to local storage",
      code: 'EACCES',
    })
    expect(index).toMatchObject({ rejected: 'StorageError', message: expect.stringMatching(/'a\.md'.*not index/) })
    expect(index!.code).toMatch(/^SQLITE_/)
    expect(remove).toMatchObject({ rejected: 'StorageError', message: expect.stringContaining("'a.md'") })
    expect(backfill).toMatchObject({ rejected: 'StorageError', message: expect.stringContaining('index') })
    expect(readFileSync(indexBeside(folder)).equals(bytes)).toBe(true)
    expect(setAside(folder)).toEqual([])
    chmodSync(dirname(folder), 0o755)
  })

  it('an index file that is read-only in a directory that is not is searched, and not set aside', async () => {
    const { folder } = await closedFolder()
    forbid(folder, { directory: 0o777, file: 0o444 })
    const [found, index, warned] = await asAnother<[string[], { rejected: string }, string[]]>(
      folder,
      `
      const found = keys(await storage.search('zebra'))
      console.log(JSON.stringify([found, await outcome(strategy.index(storage, 'a.md', encode('otter'))), warned]))
      `,
    )
    expect(found).toEqual(['a.md', 'sub/b.md'])
    expect(index).toMatchObject({ rejected: 'StorageError' })
    expect(warned).toEqual([])
    expect(setAside(folder)).toEqual([])
  })

  it('an index file that may not be read is an error that says so, and not a broken one', async () => {
    const { folder } = await closedFolder()
    forbid(folder, { directory: 0o555, file: 0o000 })
    const [search, warned] = await asAnother<[{ rejected: string; message: string; code: string }, string[]]>(
      folder,
      `console.log(JSON.stringify([await outcome(storage.search('zebra')), warned]))`,
    )
    expect(search).toMatchObject({ rejected: 'StorageError', message: expect.stringContaining(indexBeside(folder)) })
    expect(search.code).toMatch(/^SQLITE_/)
    expect(warned).toEqual([])
    expect(setAside(folder)).toEqual([])
    chmodSync(dirname(folder), 0o755)
  })

  it('a broken index cannot be set aside: the search says so, and no file is touched', async () => {
    const { folder, index } = await closedFolder()
    writeFileSync(index, 'garbage '.repeat(1_000))
    forbid(folder, { directory: 0o555, file: 0o444 })
    const search = await asAnother(folder, `console.log(JSON.stringify(await outcome(storage.search('zebra'))))`)
    expect(search).toMatchObject({ rejected: 'StorageError', message: expect.stringContaining(index) })
    expect(readFileSync(index, 'utf8')).toBe('garbage '.repeat(1_000))
    expect(setAside(folder)).toEqual([])
    chmodSync(dirname(folder), 0o755)
  })

  it('where there is no index, nothing is found', async () => {
    const { folder, index } = await closedFolder()
    unlinkSync(index)
    forbid(folder, { directory: 0o555, file: 0o444 })
    expect(await asAnother(folder, `console.log(JSON.stringify(await storage.search('zebra')))`)).toEqual([])
    chmodSync(dirname(folder), 0o755)
  })
})

describe('an index file', () => {
  it('lets nobody read who may not read the folder', async () => {
    const root = scratchDirectory()
    mkdirSync(join(root, 'memory'), { mode: 0o700 })
    const { storage, index } = openFolder(undefined, join(root, 'memory'))
    await storage.write('k.md', encode('zebra'))
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(index + suffix)) expect(statSync(index + suffix).mode & 0o077, suffix).toBe(0)
    }
  })

  it('is in WAL mode, so that readers and a writer do not wait for each other', async () => {
    const { storage, index } = openFolder()
    await storage.write('k.md', encode('zebra'))
    expect(await pythonSdk.sql(index, 'PRAGMA journal_mode')).toEqual([['wal']])
  })

  it('may be a symbolic link, which is written through', async () => {
    const root = scratchDirectory()
    const real = join(root, 'elsewhere.sqlite')
    const folder = join(root, 'memory')
    symlinkSync(real, indexBeside(folder))
    const { storage, find } = openFolder(undefined, folder)
    await storage.write('k.md', encode('zebra'))
    expect(await find('zebra')).toEqual(['k.md'])
    expect(existsSync(real)).toBe(true)
    expect(readFileSync(real).subarray(0, 15).toString()).toBe('SQLite format 3')
  })

  it('under a name of 255 bytes is an error that says that the entry is stored', async () => {
    // The name of the index is longer than that of the folder.
    const folder = join(scratchDirectory(), 'x'.repeat(250))
    const { storage } = openFolder(undefined, folder)
    expect(await storage.search('zebra')).toEqual([])
    const error = await rejectionOf(storage.write('k.md', encode('zebra')))
    expect(error).toBeInstanceOf(StorageError)
    expect(error.message).toMatch(/'k\.md'.*not index/)
    expect(decode(await storage.read('k.md'))).toBe('zebra')
  })
})
