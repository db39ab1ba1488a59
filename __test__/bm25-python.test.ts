// The Python SDK's Bm25SearchStrategy and ours on one index, in every order.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bm25SearchStrategyOptions } from 'strands-native'
import { LocalFileStorage } from 'strands-native/storage'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { indexBeside, openFolder } from './bm25-folder.js'
import { type Entries, fill, keysAndScores } from './entries.js'
import { PythonSdk } from './python-sdk.js'
import { scratchDirectory } from './scratch-directory.js'
import { seededRandom } from './seeded-random.js'
import { encode } from './text-bytes.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

let pythonSdk: PythonSdk
beforeAll(async () => {
  pythonSdk = await PythonSdk.start()
})
afterAll(() => pythonSdk?.stop())

type Writer = 'python' | 'native'
const writers: Writer[] = ['python', 'native']
type Hits = [key: string, score: number][]

const newFolder = (): string => join(scratchDirectory(), 'memory')

/** Writes with either SDK, each time with a strategy of its own that is closed afterwards. */
async function write(writer: Writer, folder: string, entries: Entries): Promise<void> {
  if (writer === 'python') return pythonSdk.bm25Write(folder, entries)
  const { storage, strategy } = openFolder(undefined, folder)
  await fill(storage, entries)
  await strategy.close()
}

/** Searches with either SDK; ours by the rule of the Python SDK, unless the options say otherwise. */
async function search(
  reader: Writer,
  folder: string,
  query: string,
  options: Bm25SearchStrategyOptions = { match: 'all' },
): Promise<Hits> {
  if (reader === 'python') return pythonSdk.bm25Search(folder, query)
  const { storage, strategy } = openFolder(options, folder)
  const results = await storage.search(query)
  await strategy.close()
  return keysAndScores(results)
}

/** The rows of doc_hashes, by key. */
async function hashes(folder: string): Promise<Record<string, string>> {
  const rows = await pythonSdk.sql(indexBeside(folder), 'SELECT key, hash FROM doc_hashes ORDER BY key')
  return Object.fromEntries(rows as [string, string][])
}

/** The rows of documents, which must have each key once. */
async function documents(folder: string): Promise<Entries> {
  const rows = (await pythonSdk.sql(indexBeside(folder), 'SELECT key, content FROM documents ORDER BY key')) as [
    string,
    string,
  ][]
  expect(new Set(rows.map(([key]) => key)).size).toBe(rows.length)
  await pythonSdk.sql(indexBeside(folder), `INSERT INTO documents(documents) VALUES ('integrity-check')`)
  return Object.fromEntries(rows)
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** Equal to 1e-9, each key with its score; equal scores may come in any order. */
function expectSame(ours: Hits, theirs: Hits, what: string): void {
  expect(ours.map(([key]) => key).sort(), what).toEqual(theirs.map(([key]) => key).sort())
  const scores = new Map(theirs)
  for (const [key, score] of ours) expect(Math.abs(score - scores.get(key)!), `${what}: ${key}`).toBeLessThan(1e-9)
  const falling = (hits: Hits) =>
    hits.map(([, score]) => score).every((score, n, all) => n === 0 || score <= all[n - 1]!)
  expect([falling(ours), falling(theirs)], what).toEqual([true, true])
}

const corpus: Entries = {
  'seats.md': 'User prefers aisle seats. Never row 13, always an aisle seat.',
  'tea.md': 'Drinks green tea in the morning, black tea in the afternoon',
  'setup/project.md': 'Project setup: Node 20.04, Rust and pve-01',
  'setup/editor.md': 'Dark mode toggle; the editor is dark, dark, dark',
  'empty.md': '',
  'one.md': 'aisle',
  'long.md': `aisle ${'padding words here '.repeat(200)}`,
  'scripts.md': 'Пользователь любит груши. Ο δρόμος είναι μακρύς. 東京タワー नमस्ते दुनिया שלום',
  'accents.md': 'Élève à l’école, Straße, naïve café, mañana',
  'my file.md': 'my file with a blank',
  'my-file.md': 'my-file with a hyphen',
  'a_b.md': 'snake_case_words and a_b',
  'syntax.md': `foo AND bar OR NEAR(baz) "quoted" key:value don't ^x (y`,
  '復.md': '復習 復',
  'numbers.md': '2024-01-31 3.14 1e10 ٣٤',
}

/** Questions of one term, of several, and of none. */
const questions = [
  ...[
    'aisle',
    'AISLE',
    'ais',
    'tea',
    'dark',
    'seats',
    'md',
    'setup',
    'padding',
    'груши',
    'δρόμος',
    '東京',
    'שלום',
    'élève',
  ],
  ...[
    'ecole',
    'straße',
    'cafe',
    'manana',
    'snake_case_words',
    'a_b',
    '20',
    'pve',
    'quoted',
    'value',
    'nothing',
    '復習',
    '2024',
  ],
  ...[
    'aisle seats',
    'green tea',
    'dark mode toggle',
    'my file',
    'pve-01',
    '20.04',
    'foo bar',
    'NEAR(',
    "don't",
    'key:value',
  ],
  ...['say "quoted', '3.14', 'What are the aisle seats?', 'tea aisle', 'the', '', '*', 'x', '\u{1f980}', 'naïve café'],
]

describe.each(writers)('an index that %s made', (writer) => {
  const other: Writer = writer === 'python' ? 'native' : 'python'

  it('is found beside the folder, under one name, by both', async () => {
    const folder = newFolder()
    await write(writer, folder, { 'a.md': 'zebra' })
    await write(other, folder, { 'b.md': 'zebra' })
    expect(readdirSync(dirname(folder)).sort()).toEqual(['.__strands_memory-fts5.sqlite', 'memory'])
    for (const reader of writers) {
      expect((await search(reader, folder, 'zebra')).map(([key]) => key).sort()).toEqual(['a.md', 'b.md'])
    }
  })

  it('gives both the same hits with the same scores, to the ninth place', async () => {
    const folder = newFolder()
    await write(writer, folder, corpus)
    for (const question of questions) {
      expectSame(await search('native', folder, question), await search('python', folder, question), question)
    }
  })

  it("gives the same scores for single terms with match 'any'", async () => {
    const folder = newFolder()
    await write(writer, folder, corpus)
    for (const question of questions.filter((each) => !/[^\p{L}\p{N}_]/u.test(each) && [...each].length > 1)) {
      const theirs = await search('python', folder, question)
      const ours = await search('native', folder, question, {})
      // Where the term itself finds nothing, ours looks for its stem.
      if (theirs.length > 0) expectSame(ours, theirs, question)
    }
  })

  it('gives the same scores after the other has extended it, written over it, and written over that', async () => {
    const folder = newFolder()
    const keys = Object.keys(corpus)
    await write(writer, folder, corpus)
    await write(other, folder, { 'new.md': 'zebra aisle', 'more/new.md': 'zebra tea' })
    await write(other, folder, Object.fromEntries(keys.slice(0, 6).map((key) => [key, `${corpus[key]} zebra`])))
    await write(writer, folder, Object.fromEntries(keys.slice(3, 9).map((key) => [key, `${corpus[key]} walrus`])))
    await write(other, folder, { 'new.md': 'heron', [keys[3]!]: corpus[keys[3]!]! })
    for (const question of [...questions, 'zebra', 'walrus', 'heron', 'zebra tea']) {
      expectSame(await search('native', folder, question), await search('python', folder, question), question)
    }
    expect(await search('python', folder, 'heron')).toHaveLength(1)
    expect((await search('python', folder, 'zebra')).map(([key]) => key).sort()).toEqual(
      ['more/new.md', keys[0], keys[1], keys[2]].sort(),
    )
    expect(Object.keys(await documents(folder)).sort()).toEqual([...keys, 'new.md', 'more/new.md'].sort())
  })

  it('holds the hashes of both, each what the other would have written', async () => {
    const [one, two] = [newFolder(), newFolder()]
    await write(writer, one, corpus)
    await write(other, two, corpus)
    const expected = Object.fromEntries(Object.entries(corpus).map(([key, text]) => [key, md5(text)]))
    expect(await hashes(one)).toEqual(expected)
    expect(await hashes(two)).toEqual(expected)
    expect(await documents(one)).toEqual(corpus)
    expect(await documents(two)).toEqual(corpus)
  })

  it('loses an entry for both when we delete it', async () => {
    const folder = newFolder()
    await write(writer, folder, { 'a.md': 'zebra heron', 'b.md': 'zebra', 'sub/c d.md': 'zebra', '***.md': 'zebra' })
    const { storage, strategy, find } = openFolder(undefined, folder)
    for (const key of ['a.md', 'sub/c d.md', '***.md']) await storage.delete(key)
    expect(await find('zebra')).toEqual(['b.md'])
    await strategy.close()
    expect((await search('python', folder, 'zebra')).map(([key]) => key)).toEqual(['b.md'])
    expect(Object.keys(await hashes(folder))).toEqual(['b.md'])
    expect(await documents(folder)).toEqual({ 'b.md': 'zebra' })
    await write('python', folder, { 'a.md': 'zebra again' })
    expect((await search('native', folder, 'zebra')).map(([key]) => key).sort()).toEqual(['a.md', 'b.md'])
  })

  it('has nothing to do for an entry that is the same', async () => {
    const folder = newFolder()
    await write(writer, folder, corpus)
    const rows = 'SELECT rowid, key FROM documents ORDER BY rowid'
    const before = await pythonSdk.sql(indexBeside(folder), rows)
    await write(other, folder, corpus)
    await write(writer, folder, corpus)
    expect(await pythonSdk.sql(indexBeside(folder), rows)).toEqual(before)
    const { storage, strategy } = openFolder(undefined, folder)
    const count = Object.keys(corpus).length
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: count, removed: 0 })
  })

  it('stays as it was made: no column, tokenizer or mode of its tables changes', async () => {
    const folder = newFolder()
    await write(writer, folder, corpus)
    const schema = `SELECT name, sql FROM sqlite_master WHERE name LIKE 'doc%' ORDER BY name`
    const before = await pythonSdk.sql(indexBeside(folder), schema)
    expect(before.map(([name]) => name)).toContain('documents')
    const { storage, strategy } = openFolder(undefined, folder)
    await storage.write('new.md', encode('zebra'))
    await storage.delete('one.md')
    await strategy.backfill(storage)
    await strategy.close()
    await write('python', folder, { 'more.md': 'zebra' })
    expect(await pythonSdk.sql(indexBeside(folder), schema)).toEqual(before)
  })

  it('at an explicit path serves both', async () => {
    const root = scratchDirectory()
    const [folder, dbPath] = [join(root, 'memory'), join(root, 'shared index.db')]
    const openNative = () =>
      new LocalFileStorage(folder, { searchStrategy: new Bm25SearchStrategy({ dbPath, match: 'all' }) })
    const writeWith = async (who: Writer, entries: Entries) =>
      who === 'python' ? pythonSdk.bm25Write(folder, entries, dbPath) : void (await fill(openNative(), entries))
    await writeWith(writer, { 'a.md': 'zebra heron' })
    await writeWith(other, { 'b.md': 'zebra' })
    expectSame(
      keysAndScores(await openNative().search('zebra')),
      await pythonSdk.bm25Search(folder, 'zebra', dbPath),
      'zebra',
    )
    expect(await openNative().search('zebra')).toHaveLength(2)
    expect(existsSync(indexBeside(folder))).toBe(false)
  })

  it('has bytes that are not UTF-8 read alike by both', async () => {
    const folder = newFolder()
    const bytes: [string, number[]][] = [
      ['latin1.md', [...Buffer.from('caf\u00e9 zebra', 'latin1')]],
      ['cut.md', [...Buffer.from('zebra 東京').subarray(0, -1)]],
      ['surrogate.md', [0xed, 0xa0, 0x80, 0x20, ...Buffer.from('zebra')]],
      ['overlong.md', [0xc0, 0xaf, 0x20, ...Buffer.from('zebra')]],
      ['bom.md', [0xef, 0xbb, 0xbf, ...Buffer.from('zebra')]],
      ['all.md', [...Array.from({ length: 256 }, (_, n) => n), ...Buffer.from(' zebra')]],
      ['high.md', [0xf0, 0x9f, 0xa6, 0x80, 0xf4, 0x90, 0x80, 0x80, 0x20, ...Buffer.from('zebra')]],
    ]
    if (writer === 'python') await pythonSdk.bm25Write(folder, Object.fromEntries(bytes))
    else {
      const { storage, strategy } = openFolder(undefined, folder)
      for (const [key, data] of bytes) await storage.write(key, Uint8Array.from(data))
      await strategy.close()
    }
    // What the other makes of them.
    const twin = newFolder()
    if (other === 'python') await pythonSdk.bm25Write(twin, Object.fromEntries(bytes))
    else {
      const { storage, strategy } = openFolder(undefined, twin)
      for (const [key, data] of bytes) await storage.write(key, Uint8Array.from(data))
      await strategy.close()
    }
    expect(await documents(folder)).toEqual(await documents(twin))
    expect(await hashes(folder)).toEqual(await hashes(twin))
    expectSame(await search('native', folder, 'zebra'), await search('python', folder, 'zebra'), 'zebra')
    expect(await search('native', folder, 'zebra')).toHaveLength(bytes.length)
  })
})

describe('Python and we, by turns', () => {
  it('keep one truth over many random changes', async () => {
    const random = seededRandom(4)
    const pick = <T>(items: T[]): T => items[Math.floor(random() * items.length)]!
    const words = ['zebra', 'heron', 'walrus', 'otter', 'lemur', 'moose', 'tapir']
    const keys = ['a.md', 'b.md', 'A.md', 'sub/a.md', 'sub/b c.md', 'x-y.md', '+.md', '復.md']
    const folder = newFolder()
    const expected: Entries = {}
    for (let round = 0; round < 120; round += 1) {
      const key = pick(keys)
      if (random() < 0.25) {
        const { storage, strategy } = openFolder(undefined, folder)
        await storage.delete(key)
        await strategy.close()
        delete expected[key]
      } else {
        const text = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(words)).join(' ')
        await write(pick(writers), folder, { [key]: text })
        expected[key] = text
      }
      if (round % 10 !== 9) continue
      expect(await documents(folder)).toEqual(expected)
      for (const word of [...words, 'zebra heron', 'md']) {
        expectSame(await search('native', folder, word), await search('python', folder, word), word)
      }
    }
    const { storage, strategy } = openFolder(undefined, folder)
    const unchanged = Object.keys(expected).length
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged, removed: 0 })
  })

  it('write while the other has the index open', async () => {
    const { folder, storage, find } = openFolder()
    for (let round = 0; round < 15; round += 1) {
      await storage.write(`ours-${round}.md`, encode(`zebra ours${round}x`))
      await pythonSdk.bm25Write(folder, { [`theirs-${round}.md`]: `zebra theirs${round}x` })
      expect(await find(`theirs${round}x`)).toEqual([`theirs-${round}.md`])
      expect((await pythonSdk.bm25Search(folder, `ours${round}x`)).map(([key]) => key)).toEqual([`ours-${round}.md`])
    }
    expect(await find('zebra')).toHaveLength(30)
    expect(await pythonSdk.bm25Search(folder, 'zebra')).toHaveLength(30)
  })

  it('write at once, and lose nothing', async () => {
    const { folder, storage, find } = openFolder()
    const ours = Array.from({ length: 100 }, (_, n) => storage.write(`ours-${n}.md`, encode('zebra')))
    const theirs = Array.from({ length: 20 }, (_, n) => pythonSdk.bm25Write(folder, { [`theirs-${n}.md`]: 'zebra' }))
    await Promise.all([...ours, ...theirs])
    expect(await find('zebra')).toHaveLength(120)
    expect(await pythonSdk.bm25Search(folder, 'zebra')).toHaveLength(120)
    expect(Object.keys(await documents(folder))).toHaveLength(120)
  })

  it('a backfill finds for Python what it never indexed, and drops what Python left behind', async () => {
    const folder = newFolder()
    await pythonSdk.bm25Write(folder, { 'a.md': 'zebra heron', 'b.md': 'zebra', '.hidden': 'zebra' })
    await fill(new LocalFileStorage(folder), { 'c.md': 'zebra', 'b.md': 'walrus' })
    await new LocalFileStorage(folder).delete('a.md')
    expect((await pythonSdk.bm25Search(folder, 'zebra')).map(([key]) => key).sort()).toEqual(['a.md', 'b.md'])
    const { storage, strategy } = openFolder(undefined, folder)
    expect(await strategy.backfill(storage)).toEqual({ indexed: 2, unchanged: 0, removed: 1 })
    await strategy.close()
    expect((await pythonSdk.bm25Search(folder, 'zebra')).map(([key]) => key)).toEqual(['c.md'])
    expect((await pythonSdk.bm25Search(folder, 'walrus')).map(([key]) => key)).toEqual(['b.md'])
    expect(await pythonSdk.bm25Search(folder, 'heron')).toEqual([])
  })

  it('agree on an index that was set aside and made anew', async () => {
    const folder = newFolder()
    await pythonSdk.bm25Write(folder, corpus)
    const { writeFileSync } = await import('node:fs')
    writeFileSync(indexBeside(folder), 'garbage '.repeat(1_000))
    await search('native', folder, 'aisle')
    for (const question of questions) {
      expectSame(await search('native', folder, question), await search('python', folder, question), question)
    }
    await pythonSdk.bm25Write(folder, { 'new.md': 'zebra' })
    expect((await search('native', folder, 'zebra')).map(([key]) => key)).toEqual(['new.md'])
  })

  it('with documents that Python has twice, or without a hash, leave one of each', async () => {
    const folder = newFolder()
    await pythonSdk.bm25Write(folder, { 'a.md': 'zebra heron', 'b.md': 'zebra' })
    // Left by a crash between two statements of another program.
    await pythonSdk.sql(
      indexBeside(folder),
      "INSERT INTO documents (key, content) VALUES ('a.md', 'zebra walrus')",
      "DELETE FROM doc_hashes WHERE key = 'b.md'",
    )
    const { storage, find } = openFolder(undefined, folder)
    await storage.write('a.md', encode('otter'))
    await storage.write('b.md', encode('lemur'))
    expect(await find('zebra')).toEqual([])
    expect([await find('otter'), await find('lemur')]).toEqual([['a.md'], ['b.md']])
    expect(await documents(folder)).toEqual({ 'a.md': 'otter', 'b.md': 'lemur' })
    expect(await find('heron walrus')).toEqual([])
  })

  it('serve the recall of a question of many words, which ours answers and the rule of Python does not', async () => {
    const folder = newFolder()
    await pythonSdk.bm25Write(folder, corpus)
    const question = 'Which seats does the user like to book when travelling on an aeroplane?'
    expect(await search('python', folder, question)).toEqual([])
    expect(await search('native', folder, question)).toEqual([])
    expect((await search('native', folder, question, {}))[0]![0]).toBe('seats.md')
  })
})
