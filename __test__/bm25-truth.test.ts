// A BM25 index and the storage behind it: whatever happens to an entry, a search tells the truth about it.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { indexBeside, openFolder } from './bm25-folder.js'
import { runScript } from './child-program.js'
import { type Entries, fill } from './entries.js'
import { PythonSdk } from './python-sdk.js'
import { seededRandom } from './seeded-random.js'
import { decode, encode } from './text-bytes.js'

let pythonSdk: PythonSdk
beforeAll(async () => {
  pythonSdk = await PythonSdk.start()
})
afterAll(() => pythonSdk?.stop())

/** A folder that holds these texts, all of them indexed. */
async function folderOf(entries: Entries) {
  const opened = openFolder()
  await fill(opened.storage, entries)
  return opened
}

/** Writes a file as any other program does. */
function writeByHand(folder: string, key: string, text: string): void {
  mkdirSync(dirname(join(folder, key)), { recursive: true })
  writeFileSync(join(folder, key), text)
}

/** What a process that has just started finds. */
const foundByAnother = (folder: string, query: string): Promise<string[]> =>
  runScript(`
    const { LocalFileStorage } = await load('native')
    const { Bm25SearchStrategy } = await import('strands-native/storage/search')
    const storage = new LocalFileStorage(${JSON.stringify(folder)}, { searchStrategy: new Bm25SearchStrategy() })
    console.log(JSON.stringify((await storage.search(${JSON.stringify(query)})).map(({ key }) => key)))
  `)

/** The keys in the index, of which each is there once, and in both tables. */
async function indexedKeys(folder: string): Promise<string[]> {
  const index = indexBeside(folder)
  const documents = (await pythonSdk.sql(index, 'SELECT key FROM documents')).flat() as string[]
  const hashes = (await pythonSdk.sql(index, 'SELECT key FROM doc_hashes')).flat() as string[]
  expect(documents.sort()).toEqual(hashes.sort())
  // The full-text index and its contents agree.
  await pythonSdk.sql(index, `INSERT INTO documents(documents) VALUES ('integrity-check')`)
  return documents
}

describe('an entry that is overwritten', () => {
  it('is found by its new words and not by its old ones', async () => {
    const { storage, find, folder } = await folderOf({ 'k.md': 'zebra heron', 'other.md': 'walrus' })
    await storage.write('k.md', encode('heron otter'))
    expect(await find('zebra')).toEqual([])
    expect(await find('heron')).toEqual(['k.md'])
    expect(await find('otter')).toEqual(['k.md'])
    expect(await foundByAnother(folder, 'zebra')).toEqual([])
    expect(await indexedKeys(folder)).toEqual(['k.md', 'other.md'])
  })

  it('is found by nothing of what it held once it is empty', async () => {
    const { storage, find, folder } = await folderOf({ 'k.md': 'zebra heron' })
    await storage.write('k.md', encode(''))
    expect(await find('zebra heron')).toEqual([])
    expect(await foundByAnother(folder, 'zebra heron')).toEqual([])
    expect(await find('k.md md')).toEqual(['k.md'])
  })

  it('a hundred times is in the index once', async () => {
    const { storage, find, folder } = openFolder()
    for (let n = 0; n < 100; n += 1) await storage.write('k.md', encode(`zebra round${n}x`))
    expect(await find('zebra')).toEqual(['k.md'])
    expect(await find('round98x')).toEqual([])
    expect(await indexedKeys(folder)).toEqual(['k.md'])
  })

  it('back and forth is found by what it holds', async () => {
    const { storage, find } = openFolder()
    for (let n = 0; n < 20; n += 1) {
      await storage.write('k.md', encode(n % 2 === 0 ? 'zebra' : 'walrus'))
      expect([await find('zebra'), await find('walrus')]).toEqual(n % 2 === 0 ? [['k.md'], []] : [[], ['k.md']])
    }
  })

  it('with what it holds already changes nothing in the index', async () => {
    const { storage, folder, find } = await folderOf({ 'k.md': 'zebra', 'other.md': 'walrus' })
    const files = ['', '-wal'].map((suffix) => `${indexBeside(folder)}${suffix}`)
    const bytes = () => files.map((file) => readFileSync(file).toString('base64'))
    const before = bytes()
    for (let n = 0; n < 20; n += 1) await storage.write('k.md', encode('zebra'))
    expect(bytes()).toEqual(before)
    await storage.write('k.md', encode('zebras'))
    expect(bytes()).not.toEqual(before)
    expect(await find('zebras')).toEqual(['k.md'])
  })

  it('under keys that are alike leaves the others alone', async () => {
    const keys = ['a.md', 'A.md', 'a b.md', 'a-b.md', 'a_b.md', 'a/b.md', 'a/b', 'b/a.md', 'a.md.md']
    const { storage, find } = await folderOf(Object.fromEntries(keys.map((key) => [key, 'zebra'])))
    for (const [n, key] of keys.entries()) {
      await storage.write(key, encode('walrus'))
      expect((await find('zebra')).sort()).toEqual(keys.slice(n + 1).sort())
    }
    for (const [n, key] of keys.entries()) {
      await storage.delete(key)
      expect((await find('walrus')).sort()).toEqual(keys.slice(n + 1).sort())
    }
  })

  it('without waiting is found by the words that it ends up with', async () => {
    const { storage, find } = openFolder()
    const wrong: string[] = []
    for (let round = 0; round < 60; round += 1) {
      const words = Array.from({ length: 8 }, (_, n) => `r${round}word${n}x`)
      await Promise.all(words.map((word) => storage.write('k.md', encode(word))))
      const last = decode(await storage.read('k.md'))!
      for (const word of words) {
        const isFound = (await find(word)).length === 1
        if (isFound !== (word === last)) wrong.push(`the file holds ${last}, and ${word} finds ${isFound}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

describe('an entry that is deleted', () => {
  it('is not found, nor in a new process', async () => {
    const { storage, find, folder } = await folderOf({ 'k.md': 'zebra', 'other.md': 'zebra walrus' })
    await storage.delete('k.md')
    expect(await find('zebra')).toEqual(['other.md'])
    expect(await foundByAnother(folder, 'zebra')).toEqual(['other.md'])
  })

  it('is out of the index: a file that somebody else puts in its place is not found by the old words', async () => {
    const { storage, find, folder } = await folderOf({ 'k.md': 'zebra', 'other.md': 'walrus' })
    await storage.delete('k.md')
    expect(await indexedKeys(folder)).toEqual(['other.md'])
    writeByHand(folder, 'k.md', 'heron')
    expect(await find('zebra')).toEqual([])
  })

  it('and written again is found, by the same words too', async () => {
    const { storage, find } = openFolder()
    for (let n = 0; n < 10; n += 1) {
      await storage.write('k.md', encode('zebra'))
      expect(await find('zebra')).toEqual(['k.md'])
      await storage.delete('k.md')
      expect(await find('zebra')).toEqual([])
    }
  })

  it('while it is written, without waiting, is found if it is there and only then', async () => {
    const { storage, find } = openFolder()
    const random = seededRandom(18)
    const wrong: string[] = []
    for (let round = 0; round < 60; round += 1) {
      const word = `word${round}x`
      const calls = [() => storage.write('k.md', encode(word)), () => storage.delete('k.md')]
      if (random() < 0.5) calls.reverse()
      await Promise.all(calls.map((call) => call()))
      const isThere = decode(await storage.read('k.md')) === word
      const isFound = (await find(word)).length === 1
      if (isFound !== isThere) wrong.push(`round ${round}: there ${isThere}, found ${isFound}`)
    }
    expect(wrong).toEqual([])
  })

  it('twice, or that was never there, is no fault', async () => {
    const { storage, strategy, find } = await folderOf({ 'k.md': 'zebra' })
    for (const key of ['k.md', 'k.md', 'absent.md', 'no/such/folder.md', '.hidden']) {
      expect(await storage.delete(key)).toBeUndefined()
      expect(await strategy.remove(storage, key)).toBeUndefined()
    }
    expect(await find('zebra')).toEqual([])
  })

  it('from a folder that has no index makes none', async () => {
    const { storage, strategy, folder } = openFolder()
    await strategy.remove(storage, 'k.md')
    expect(await storage.search('zebra')).toEqual([])
    expect(() => statSync(folder)).toThrow('ENOENT')
  })

  it('can be taken out of the index alone', async () => {
    const { storage, strategy, find } = await folderOf({ 'k.md': 'zebra' })
    await strategy.remove(storage, 'k.md')
    expect(await find('zebra')).toEqual([])
    expect(decode(await storage.read('k.md'))).toBe('zebra')
    await storage.write('k.md', encode('zebra'))
    expect(await find('zebra')).toEqual(['k.md'])
  })
})

describe('files that somebody else changes', () => {
  it('are not found once they are gone, and found again when they are back', async () => {
    const { find, folder } = await folderOf({ 'k.md': 'zebra', 'sub/l.md': 'zebra' })
    renameSync(join(folder, 'k.md'), join(folder, '../away.md'))
    expect(await find('zebra')).toEqual(['sub/l.md'])
    rmSync(join(folder, 'sub'), { recursive: true })
    expect(await find('zebra')).toEqual([])
    expect(await foundByAnother(folder, 'zebra')).toEqual([])
    renameSync(join(folder, '../away.md'), join(folder, 'k.md'))
    expect(await find('zebra')).toEqual(['k.md'])
  })

  it('are not found where a folder has taken the name of the file', async () => {
    const { find, folder } = await folderOf({ 'k.md': 'zebra', 'l.md': 'zebra' })
    unlinkSync(join(folder, 'k.md'))
    mkdirSync(join(folder, 'k.md'))
    expect(await find('zebra')).toEqual(['l.md'])
  })

  it('are not found where the whole folder has gone', async () => {
    const { find, folder } = await folderOf({ 'k.md': 'zebra' })
    rmSync(folder, { recursive: true })
    expect(await find('zebra')).toEqual([])
    writeFileSync(folder, 'a file in place of the folder')
    expect(await find('zebra')).toEqual([])
  })

  it('are followed through symbolic links as the storage follows them', async () => {
    const { storage, find, folder } = await folderOf({ 'k.md': 'zebra' })
    renameSync(join(folder, 'k.md'), join(folder, '../k.md'))
    const { symlinkSync } = await import('node:fs')
    symlinkSync('../k.md', join(folder, 'k.md'))
    expect(decode(await storage.read('k.md'))).toBe('zebra')
    expect(await find('zebra')).toEqual(['k.md'])
    unlinkSync(join(folder, '../k.md'))
    expect(await storage.read('k.md')).toBeNull()
    expect(await find('zebra')).toEqual([])
  })

  it('are found by their new names after a backfill, and not by the old ones', async () => {
    const { strategy, storage, find, folder } = await folderOf({ 'old.md': 'zebra', 'other.md': 'walrus' })
    renameSync(join(folder, 'old.md'), join(folder, 'new.md'))
    expect(await find('zebra')).toEqual([])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 1, unchanged: 1, removed: 1 })
    expect(await find('zebra')).toEqual(['new.md'])
    expect(await foundByAnother(folder, 'zebra')).toEqual(['new.md'])
    expect(await indexedKeys(folder)).toEqual(['new.md', 'other.md'])
  })

  it('are found by their new words after a backfill, and not by the old ones', async () => {
    const { strategy, storage, find, folder } = await folderOf({ 'k.md': 'zebra', 'other.md': 'walrus' })
    writeByHand(folder, 'k.md', 'a heron')
    expect(await strategy.backfill(storage)).toEqual({ indexed: 1, unchanged: 1, removed: 0 })
    expect(await find('zebra')).toEqual([])
    expect(await find('heron')).toEqual(['k.md'])
    expect(await foundByAnother(folder, 'zebra')).toEqual([])
    expect(await foundByAnother(folder, 'heron')).toEqual(['k.md'])
  })

  it('are seen by a backfill also where size and time stamp are the old ones', async () => {
    const { strategy, storage, find, folder } = await folderOf({ 'k.md': 'zebra' })
    const path = join(folder, 'k.md')
    const words = ['zebra', 'heron', 'otter', 'lemur', 'moose']
    for (let round = 1; round < 25; round += 1) {
      const { atime, mtime } = statSync(path)
      const [before, now] = [words[(round - 1) % 5]!, words[round % 5]!]
      writeFileSync(path, now)
      utimesSync(path, atime, mtime)
      expect(await strategy.backfill(storage)).toEqual({ indexed: 1, unchanged: 0, removed: 0 })
      expect([await find(before), await find(now)]).toEqual([[], ['k.md']])
    }
  })

  it('are seen by a backfill also where another file of the same size and time was moved into their place', async () => {
    const { strategy, storage, find, folder } = await folderOf({ 'k.md': 'zebra' })
    await strategy.backfill(storage)
    const { atime, mtime } = statSync(join(folder, 'k.md'))
    writeFileSync(join(folder, '../new.md'), 'heron')
    utimesSync(join(folder, '../new.md'), atime, mtime)
    renameSync(join(folder, '../new.md'), join(folder, 'k.md'))
    await strategy.backfill(storage)
    expect([await find('zebra'), await find('heron')]).toEqual([[], ['k.md']])
  })
})

describe('a limit', () => {
  it('counts hits that are there: those behind ten that are gone come back', async () => {
    const entries = Object.fromEntries(
      Array.from({ length: 15 }, (_, n) => [`k${n}.md`, `${'zebra '.repeat(15 - n)}${'spare '.repeat(n)}`]),
    )
    const { find, folder } = await folderOf(entries)
    expect(await find('zebra')).toEqual(Object.keys(entries))
    for (let n = 0; n < 10; n += 1) unlinkSync(join(folder, `k${n}.md`))
    expect(await find('zebra')).toEqual(['k10.md', 'k11.md', 'k12.md', 'k13.md', 'k14.md'])
    for (const limit of [1, 3, 5, 10]) {
      const limited = openFolder({ limit }, folder)
      expect(await limited.find('zebra')).toEqual(Object.keys(entries).slice(10, 10 + limit))
    }
  })
})

describe('a backfill', () => {
  it('takes in what was there before', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 10; n += 1) writeByHand(folder, `sub${n % 3}/k${n}.md`, `zebra number${n}x`)
    expect(await find('zebra')).toEqual([])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 10, unchanged: 0, removed: 0 })
    expect(await find('zebra')).toHaveLength(10)
    expect(await find('number7x')).toEqual(['sub1/k7.md'])
    expect(await foundByAnother(folder, 'number3x')).toEqual(['sub0/k3.md'])
  })

  it('touches nothing the second time', async () => {
    const { strategy, storage, folder } = openFolder()
    for (let n = 0; n < 10; n += 1) writeByHand(folder, `k${n}.md`, `zebra number${n}x`)
    await strategy.backfill(storage)
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 10, removed: 0 })
    const again = openFolder(undefined, folder)
    expect(await again.strategy.backfill(again.storage)).toEqual({ indexed: 0, unchanged: 10, removed: 0 })
  })

  it('finds what was written with the strategy unchanged', async () => {
    const { strategy, storage } = await folderOf({ 'a.md': 'zebra', 'b.md': 'walrus', 'c.md': '' })
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 3, removed: 0 })
  })

  it('touches only what has changed, of many', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 2_000; n += 1) writeByHand(folder, `sub${n % 7}/k${n}.md`, `zebra number${n}x`)
    expect(await strategy.backfill(storage)).toEqual({ indexed: 2_000, unchanged: 0, removed: 0 })
    for (let n = 0; n < 30; n += 1) writeByHand(folder, `sub${n % 7}/k${n}.md`, `heron number${n}x`)
    for (let n = 100; n < 120; n += 1) unlinkSync(join(folder, `sub${n % 7}/k${n}.md`))
    for (let n = 0; n < 5; n += 1) writeByHand(folder, `new/k${n}.md`, 'otter')
    expect(await strategy.backfill(storage)).toEqual({ indexed: 35, unchanged: 1_950, removed: 20 })
    expect([await find('heron'), await find('otter')].map(({ length }) => length)).toEqual([30, 5])
    expect(await find('zebra')).toHaveLength(1_950)
    expect(await indexedKeys(folder)).toHaveLength(1_985)
  })

  it('drops what is gone: a file that comes back is found again only when it is indexed', async () => {
    const { strategy, storage, find, folder } = await folderOf({ 'k.md': 'zebra', 'l.md': 'zebra' })
    unlinkSync(join(folder, 'k.md'))
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 1, removed: 1 })
    writeByHand(folder, 'k.md', 'zebra')
    expect(await find('zebra')).toEqual(['l.md'])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 1, unchanged: 1, removed: 0 })
    expect((await find('zebra')).sort()).toEqual(['k.md', 'l.md'])
  })

  it('of a folder that does not exist, or is empty, does nothing', async () => {
    const { strategy, storage, folder, find } = openFolder()
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 0, removed: 0 })
    mkdirSync(folder, { recursive: true })
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 0, removed: 0 })
    expect(await find('zebra')).toEqual([])
  })

  it('of a folder that has been emptied takes all out', async () => {
    const { strategy, storage, folder } = await folderOf({ 'k.md': 'zebra', 'l.md': 'zebra' })
    rmSync(folder, { recursive: true })
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 0, removed: 2 })
    expect(await indexedKeys(folder)).toEqual([])
  })

  it('reports its progress: it grows, and ends with all of a total', async () => {
    const { strategy, storage, folder } = openFolder()
    for (let n = 0; n < 1_500; n += 1) writeByHand(folder, `k${n}.md`, `zebra number${n}x`)
    for (let round = 0; round < 2; round += 1) {
      const seen: { done: number; total: number }[] = []
      await strategy.backfill(storage, { onProgress: (progress) => seen.push(progress) })
      expect(seen.at(-1)).toEqual({ done: 1_500, total: 1_500 })
      expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([1_500]))
      const done = seen.map(({ done }) => done)
      expect(done).toEqual([...done].sort((left, right) => left - right))
      if (round === 0) expect(seen.length).toBeGreaterThan(1)
    }
  })

  it('reports the end also where there is nothing to do', async () => {
    const { strategy, storage } = openFolder()
    const seen: unknown[] = []
    await strategy.backfill(storage, { onProgress: (progress) => void seen.push(progress) })
    expect(seen).toEqual([{ done: 0, total: 0 }])
  })

  it('has reported the end before it resolves, and reports nothing afterwards', async () => {
    const { strategy, storage, folder } = openFolder()
    for (let n = 0; n < 600; n += 1) writeByHand(folder, `k${n}.md`, 'zebra')
    const order: string[] = []
    const onProgress = ({ done }: { done: number }) => void order.push(String(done))
    await strategy.backfill(storage, { onProgress }).then(() => order.push('resolved'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(order.slice(-2)).toEqual(['600', 'resolved'])
  })

  it.each([
    ['an error', new RangeError('enough')],
    ['a string', 'enough'],
    ['undefined', undefined],
    ['null', null],
    ['an object', { enough: true }],
  ])('rejects with what onProgress throws, and works the next time: %s', async (_, thrown) => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 600; n += 1) writeByHand(folder, `k${n}.md`, 'zebra')
    const onProgress = () => {
      throw thrown
    }
    const outcome = await strategy.backfill(storage, { onProgress }).then(
      () => 'resolved',
      (error: unknown) => ({ error }),
    )
    expect(outcome).toEqual({ error: thrown })
    expect((outcome as { error: unknown }).error).toBe(thrown)
    const result = await strategy.backfill(storage)
    expect(result.indexed + result.unchanged).toBe(600)
    expect(await find('zebra')).toHaveLength(600)
  })

  it('may have its storage used by onProgress', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 600; n += 1) writeByHand(folder, `k${n}.md`, 'zebra')
    const calls: Promise<unknown>[] = []
    await strategy.backfill(storage, {
      onProgress: ({ done }) => {
        calls.push(storage.search('zebra'), storage.write(`while/${done}.md`, encode('walrus')))
      },
    })
    await Promise.all(calls)
    expect(calls.length).toBeGreaterThan(0)
    expect(await find('zebra')).toHaveLength(600)
    expect(await find('walrus')).toHaveLength(calls.length / 2)
  })

  it('waits for the promise of an onProgress, and rejects with its reason', async () => {
    const { strategy, storage, find, folder } = openFolder()
    writeByHand(folder, 'k.md', 'zebra')
    const order: string[] = []
    const slow = async () => {
      for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      order.push('progress ends')
    }
    await strategy.backfill(storage, { onProgress: slow }).then(() => order.push('backfill ends'))
    expect(order).toEqual(['progress ends', 'backfill ends'])
    const reason = new RangeError('enough')
    const failing = () => Promise.reject(reason)
    await expect(strategy.backfill(storage, { onProgress: failing as never })).rejects.toBe(reason)
    expect(await find('zebra')).toEqual(['k.md'])
  })

  it('beside writes and deletions loses none of them', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 1_000; n += 1) writeByHand(folder, `k${n}.md`, `zebra old${n}x`)
    const backfilling = strategy.backfill(storage)
    const changes: Promise<void>[] = []
    for (let n = 0; n < 1_000; n += 10) {
      changes.push(storage.write(`k${n}.md`, encode(`heron new${n}x`)))
      changes.push(storage.delete(`k${n + 1}.md`))
      changes.push(storage.write(`more${n}.md`, encode(`otter more${n}x`)))
      if (n % 100 === 0) await changes.at(-1)
    }
    await Promise.all([backfilling, ...changes])
    expect(await find('heron')).toHaveLength(100)
    expect(await find('otter')).toHaveLength(100)
    expect(await find('zebra')).toHaveLength(800)
    for (let n = 0; n < 1_000; n += 100) {
      expect(await find(`new${n}x`)).toEqual([`k${n}.md`])
      expect(await find(`old${n}x`)).toEqual([])
      expect(await find(`old${n + 1}x`)).toEqual([])
    }
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 1_000, removed: 0 })
  })

  it('can run several times at once', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 700; n += 1) writeByHand(folder, `k${n}.md`, 'zebra')
    const other = openFolder(undefined, folder)
    const results = await Promise.all([
      strategy.backfill(storage),
      strategy.backfill(storage),
      other.strategy.backfill(other.storage),
    ])
    expect(results.map(({ indexed }) => indexed).reduce((sum, indexed) => sum + indexed)).toBe(700)
    expect(results.map(({ indexed, unchanged }) => indexed + unchanged)).toEqual([700, 700, 700])
    expect(await find('zebra')).toHaveLength(700)
    expect(await indexedKeys(folder)).toHaveLength(700)
  })

  it('takes in files of any bytes, empty and large ones too', async () => {
    const { strategy, storage, find, folder } = openFolder()
    mkdirSync(folder)
    writeFileSync(join(folder, 'empty.md'), '')
    writeFileSync(
      join(folder, 'bytes.bin'),
      new Uint8Array(70_000).map((_, n) => n % 256),
    )
    writeFileSync(join(folder, 'latin1.md'), Buffer.from('caf\u00e9 zebra', 'latin1'))
    writeFileSync(join(folder, 'large.md'), `${'padding '.repeat(2_000_000)} walrus`)
    expect(await strategy.backfill(storage)).toEqual({ indexed: 4, unchanged: 0, removed: 0 })
    expect(await find('zebra')).toEqual(['latin1.md'])
    expect(await find('walrus')).toEqual(['large.md'])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 4, removed: 0 })
  })
})

describe('hidden entries', () => {
  const hidden = ['.env', '.hidden.md', 'sub/.hidden.md', '.a/.b']
  const visible = ['k.md', '.a/b.md', 'sub/k.md', 'a.b']

  it('are written and listed, and not indexed', async () => {
    const { storage, find, folder } = await folderOf(
      Object.fromEntries([...hidden, ...visible].map((key) => [key, 'zebra'])),
    )
    expect(await storage.list('')).toEqual([...hidden, ...visible].sort())
    expect((await find('zebra')).sort()).toEqual([...visible].sort())
    expect(await indexedKeys(folder)).toEqual([...visible].sort())
    expect(decode(await storage.read('.env'))).toBe('zebra')
  })

  it('are not backfilled, and not counted', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (const key of [...hidden, ...visible]) writeByHand(folder, key, 'zebra')
    const seen: unknown[] = []
    const onProgress = (progress: unknown) => void seen.push(progress)
    const result = await strategy.backfill(storage, { onProgress })
    expect(result).toEqual({ indexed: 4, unchanged: 0, removed: 0 })
    expect(seen.at(-1)).toEqual({ done: 4, total: 4 })
    expect((await find('zebra')).sort()).toEqual([...visible].sort())
  })

  it('make no index where there is nothing else', async () => {
    const { storage, strategy, index } = openFolder()
    await storage.write('.env', encode('zebra'))
    await strategy.index(storage, '.more', encode('zebra'))
    expect(() => statSync(index)).toThrow('ENOENT')
    expect(await storage.search('zebra')).toEqual([])
  })
})
