// Bm25SearchStrategy: what a question finds, in which order, and under which keys.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bm25SearchStrategyOptions, StorageSearchResult } from 'strands-native'
import * as everything from 'strands-native'
import { StorageError } from 'strands-native/storage'
import { Bm25SearchStrategy, STOP_WORDS } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { keysOf, openFolder } from './bm25-folder.js'
import { type Entries, fill, keysAndScores } from './entries.js'
import { seededRandom } from './seeded-random.js'
import { rejectionOf } from './settled.js'
import { encode } from './text-bytes.js'

type Match = 'any' | 'all'
const matches: Match[] = ['any', 'all']

/** A folder that holds these texts. */
async function folderOf(entries: Entries, options?: Bm25SearchStrategyOptions) {
  const opened = openFolder(options)
  await fill(opened.storage, entries)
  return opened
}

describe('a BM25 search', () => {
  it('finds what was written, by words of its content, with a score between 0 and 1 and nothing else', async () => {
    const { storage } = await folderOf({ 'auth.md': 'OAuth2 authentication flow', 'food.md': 'Pears and plums' })
    const results = await storage.search('authentication')
    expect(keysOf(results)).toEqual(['auth.md'])
    expect(Object.keys(results[0]!)).toEqual(['key', 'score'])
    expect(results[0]!.score).toBeGreaterThan(0)
    expect(results[0]!.score).toBeLessThan(1)
  })

  it('finds by the words of a key as well', async () => {
    const { find } = await folderOf({ 'travel/window-seats.md': 'Nothing of the kind', 'food.md': 'Pears' })
    expect(await find('seats')).toEqual(['travel/window-seats.md'])
    expect(await find('travel')).toEqual(['travel/window-seats.md'])
  })

  it('finds words in any case, and words that begin with what was asked for', async () => {
    const { find } = await folderOf({ 'auth.md': 'OAuth2 AUTHENTICATION flow', 'food.md': 'Pears and plums' })
    for (const query of ['authentication', 'Authentication', 'auth', 'OAUTH', 'authent flo']) {
      expect(await find(query), query).toEqual(['auth.md'])
    }
    expect(await find('uthentication')).toEqual([])
  })

  it('makes neither the index nor the folder, and finds nothing, where nothing was indexed', async () => {
    const { folder, storage, strategy } = openFolder()
    expect(await storage.search('anything')).toEqual([])
    expect(await strategy.search(storage, 'anything')).toEqual([])
    expect(existsSync(folder)).toBe(false)
    expect(readdirSync(dirname(folder))).toEqual([])
  })

  it('finds what was indexed before it was asked for by another strategy of the same folder', async () => {
    const { folder } = await folderOf({ 'auth.md': 'OAuth2 authentication flow' })
    const other = openFolder({ match: 'all' }, folder)
    expect(await other.find('authentication flow')).toEqual(['auth.md'])
  })

  it('gives new results each time, which the caller may change', async () => {
    const { storage } = await folderOf({ 'auth.md': 'OAuth2 authentication flow' })
    const results = await storage.search('authentication')
    results[0]!.key = 'other'
    results.pop()
    expect(keysOf(await storage.search('authentication'))).toEqual(['auth.md'])
  })

  it('of a thousand questions at once answers each with its own', async () => {
    const entries = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}.md`, `fact_${n}x in words`]))
    const { find } = await folderOf(entries)
    const found = await Promise.all(Array.from({ length: 1_000 }, (_, n) => find(`fact_${n % 50}x`)))
    expect(found).toEqual(Array.from({ length: 1_000 }, (_, n) => [`k${n % 50}.md`]))
  })
})

describe.each(matches)('no text is syntax, with match %s:', (match) => {
  const manyTerms = Array.from({ length: 5_000 }, (_, n) => `term${n}`).join(' ')
  // A text, which is a question too, and whether any term is left of it.
  const texts: [name: string, text: string, hasTerms: boolean][] = [
    ['pve-01', 'pve-01', true],
    ['memory:safe', 'memory:safe', true],
    ['C++', 'C++', false],
    ["don't", "don't", true],
    ['20.04', '20.04', true],
    ['foo AND bar', 'foo AND bar', true],
    ['foo OR bar', 'foo OR bar', true],
    ['foo NOT bar', 'foo NOT bar', true],
    ['NOT', 'NOT', false],
    ['NEAR(', 'NEAR(', true],
    ['NEAR(foo bar, 5)', 'NEAR(foo bar, 5)', true],
    ['say "hi', 'say "hi', true],
    ['two double quotes', '"foo" "bar"', true],
    ['doubled double quotes', 'foo""bar', true],
    ["single quotes and a statement's end", "foo'; DROP TABLE documents; --", true],
    ['(x', '(x', false],
    ['(foo', '(foo', true],
    ['((((((((', '((((((((', false],
    ['*', '*', false],
    ['foo*', 'foo*', true],
    ['^x', '^x', false],
    ['^foo', '^foo', true],
    ['key:a', 'key:a', true],
    ['content : foo', 'content : foo', true],
    ['{key content} : foo', '{key content} : foo', true],
    ['-key:foo', '-key:foo', true],
    ['foo + bar', 'foo + bar', true],
    ['foo_bar', 'foo_bar', true],
    ['underscores alone', '__', false],
    ['NUL inside', 'nul\0inside', true],
    ['NUL alone', '\0', false],
    ['NUL in front', '\0foo', true],
    ['a backslash', 'foo\\bar', true],
    ['a percent sign', '100% %s %d', true],
    ['a question mark and names of parameters', 'foo ? ?1 :name @name $name', true],
    ['a line break', 'foo\r\nbar', true],
    ['a lone surrogate', 'foo \ud800 bar', true],
    ['a byte order mark', '\ufefffoo', true],
    ['a character beyond the BMP', '\u{20bb7}野家', true],
    ['an emoji', '\u{1f980}', false],
    ['only blanks', ' \t\n', false],
    ['nothing', '', false],
    ['100 kB of one word', 'x'.repeat(100_000), true],
    ['100 kB of words', 'lorem ipsum '.repeat(8_334), true],
    ['100 kB of quotes', '"'.repeat(100_000), false],
    ['100 kB of brackets', '('.repeat(100_000), false],
    ['5,000 terms', manyTerms, true],
  ]

  it.each(texts)('%s', async (_, text, hasTerms) => {
    const { storage, find } = openFolder({ match })
    await storage.write('other.md', encode('Nothing of the kind, at all'))
    await storage.write('text.md', encode(text))
    expect(await find(text)).toEqual(hasTerms ? ['text.md'] : [])
    // What is syntax to FTS5 neither widens a question nor narrows it.
    await storage.write('words.md', encode('zebra'))
    if (text.length < 1_000) expect(await find(`zebra ${match === 'any' ? text : ''}`)).toContain('words.md')
    expect(await storage.list('')).toEqual(['other.md', 'text.md', 'words.md'])
  })

  it('a thousand made of what FTS5 has for syntax', async () => {
    const random = seededRandom(17)
    const parts = ['"', "'", '*', '^', ':', '(', ')', '{', '}', '+', '-', ',', ' ', 'AND', 'OR', 'NOT', 'NEAR', 'NEAR(']
    parts.push('foo', 'key', 'content', 'rank', 'documents', '\0', '\\', ';', '%', '_', '5', 'é', '復', '\ud83e', '--')
    const { storage, find } = await folderOf({ 'foo.md': 'foo bar', 'other.md': 'nothing' }, { match })
    const wrong: string[] = []
    await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const length = 1 + Math.floor(random() * 12)
        const text = Array.from({ length }, () => parts[Math.floor(random() * parts.length)]).join('')
        const found = await find(text).catch((error: Error) => [String(error), 'foo.md'])
        const isWrong = found.some((key) => !key.endsWith('.md'))
        const asksForFoo = match === 'any' && /(^|[^\p{L}\p{N}_])foo([^\p{L}\p{N}_]|$)/u.test(text)
        if (isWrong || (asksForFoo && !found.includes('foo.md'))) wrong.push(`${JSON.stringify(text)}: ${found}`)
      }),
    )
    expect(wrong).toEqual([])
    expect(await storage.list('')).toEqual(['foo.md', 'other.md'])
  })

  it('a key, whatever it holds, which comes back as it was written', async () => {
    const keys = [
      "it's; DROP TABLE documents.md",
      'say "hi".md',
      'a b/c d.md',
      'my file.md',
      'my-file.md',
      'a_b.md',
      'a.b.c',
      'no-extension',
      '100%.md',
      'x?y#z&q=1.md',
      '復/é.md',
      'e\u0301.md',
      '\u{1f980}.md',
      '-x.md',
      '*.md',
      'NEAR(.md',
      'line\nbreak.md',
      '~.md',
      '...md/k.md',
      `${'long '.repeat(40)}.md`,
    ]
    const { storage, find } = await folderOf(Object.fromEntries(keys.map((key) => [key, 'zebra'])), { match })
    expect((await find('zebra')).sort()).toEqual([...keys].sort())
    for (const key of keys) await storage.write(key, encode('walrus'))
    expect(await find('zebra')).toEqual([])
    expect((await find('walrus')).sort()).toEqual([...keys].sort())
    for (const key of keys.slice(1)) await storage.delete(key)
    expect(await find('walrus')).toEqual([keys[0]])
  })
})

describe('the terms of a question', () => {
  const long = 'What did the green parrot say when Miranda opened its rusty cage yesterday evening?'

  it('need not all be in an entry: of nine words, eight are enough', async () => {
    // "cage" is missing.
    const text = 'Yesterday evening the green parrot did not say what Miranda opened, though it was rusty'
    const { find } = await folderOf({ 'parrot.md': text, 'other.md': 'A walrus' })
    expect(await find(long)).toEqual(['parrot.md'])
  })

  it("must all be in an entry with match 'all'", async () => {
    const text = 'Yesterday evening the green parrot had a say, as Miranda opened the rusty'
    const { storage, find } = await folderOf({ 'parrot.md': text }, { match: 'all' })
    expect(await find(long)).toEqual([])
    await storage.write('parrot.md', encode(`${text} cage`))
    expect(await find(long)).toEqual(['parrot.md'])
  })

  it('may be one in the key and one in the content', async () => {
    for (const match of matches) {
      const { find } = await folderOf({ 'parrot.md': 'It is green' }, { match })
      expect(await find('green parrot')).toEqual(['parrot.md'])
    }
  })

  it.each(['', ' ', 'the', 'The Who', 'what is it?', 'a', 'x', '5', 'I', '\u{1f980}', '?!', 'C++'])(
    'find nothing if none is left: %j',
    async (query) => {
      for (const match of matches) {
        const { find } = await folderOf({ 'who.md': `The Who: ${query} and what it is, a b c x 5 I` }, { match })
        expect(await find(query)).toEqual([])
      }
    },
  )

  it('lack every stop word', async () => {
    const { find } = await folderOf({ 'stop.md': [...STOP_WORDS].join(' ') })
    for (const word of STOP_WORDS) expect(await find(word), word).toEqual([])
    expect(await find([...STOP_WORDS].join(' '))).toEqual([])
  })

  it('that are stop words or single letters do not keep an entry from being found', async () => {
    for (const match of matches) {
      const { find } = await folderOf({ 'seats.md': 'aisle seats' }, { match })
      expect(await find('What are the aisle seats of x and 5?')).toEqual(['seats.md'])
    }
  })

  it.each(['復', 'é', 'ж', '我', 'א', '\u{20bb7}', '٣'])('may be one character beyond ASCII: %s', async (character) => {
    for (const match of matches) {
      const { find } = await folderOf({ 'one.md': `word ${character} word`, 'other.md': 'word' }, { match })
      expect(await find(character)).toEqual(['one.md'])
      expect(await find(`The ${character}?`)).toEqual(['one.md'])
    }
  })

  it.each([
    ['Cyrillic', 'Пользователь любит груши', 'ГРУШИ'],
    ['Greek', 'Ο ΔΡΟΜΟΣ είναι μακρύς', 'δρομος'],
    ['German', 'Die Straße ist GROß', 'straße'],
    ['French', 'Élève à l’école', 'ÉLÈVE'],
    ['Turkish', 'ılık çay', 'ÇAY'],
    ['Hebrew', 'שלום עולם', 'עולם'],
    ['Arabic', 'مرحبا بالعالم', 'بالعالم'],
    ['Hindi', 'नमस्ते दुनिया', 'दुनिया'],
    ['Thai', 'สวัสดี ชาวโลก', 'ชาวโลก'],
    ['Korean', '안녕 세상', '세상'],
    ['Japanese, by the beginning of a run', '東京タワーの近く', '東京'],
    ['Chinese, by the beginning of a run', '记忆存储，很快', '很快'],
    ['numbers of a script', '٣٤ and ①②', '٣٤'],
  ])('are found in %s', async (_, text, query) => {
    for (const match of matches) {
      const { find } = await folderOf({ 'text.md': text, 'other.md': 'nothing of the kind' }, { match })
      expect(await find(query), match).toEqual(['text.md'])
    }
  })

  it.each([
    'İstanbul',
    'ΟΔΟΣ',
    'Straße ẞ',
    '\u212aelvin',
    'ﬁne',
    'Ⅷ ² ½',
    'a_b',
    'cafe\u0301',
    'e\u0301le\u0300ve',
    'नमस्ते',
    'ไทย',
    'ǅ',
  ])('find the very text they were written in: %s', async (text) => {
    const { find } = await folderOf({ 'text.md': text, 'other.md': 'nothing of the kind' })
    expect(await find(text)).toEqual(['text.md'])
  })

  it('are those of the whole text, however much of it there is', async () => {
    const text = `${'padding words '.repeat(100_000)} zebra`
    const { find } = await folderOf({ 'long.md': text, 'short.md': 'a walrus' })
    expect(await find('zebra')).toEqual(['long.md'])
    expect(await find(text)).toEqual(['long.md'])
  })
})

describe('the ranking', () => {
  const isFalling = (results: StorageSearchResult[]) =>
    results.every(({ score }, n) => n === 0 || score <= results[n - 1]!.score)

  it('of one entry alone gives it a score above 0 and below 1', async () => {
    const { storage } = await folderOf({ 'only.md': 'zebra' })
    const [{ score }] = (await storage.search('zebra')) as [StorageSearchResult]
    expect(score).toBeGreaterThan(0)
    expect(score).toBeLessThan(1)
  })

  it('of entries that all hold the term puts those with most of it first', async () => {
    const entries = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`k${n}.md`, `${'zebra '.repeat(n + 1)}${'other '.repeat(20 - n)}`]),
    )
    for (const match of matches) {
      const { storage } = await folderOf(entries, { match })
      const results = await storage.search('zebra')
      expect(keysOf(results)).toEqual(Object.keys(entries).reverse())
      expect(isFalling(results)).toBe(true)
      for (const { score } of results) expect(score > 0 && score < 1, String(score)).toBe(true)
    }
  })

  it('prefers a rare term to a frequent one, and a short entry to a long one', async () => {
    const filler = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`filler${n}.md`, 'common words here']))
    const { find } = await folderOf({
      ...filler,
      'rare.md': 'unusual words here',
      'long.md': `unusual ${'z '.repeat(99)}`,
    })
    const found = await find('common unusual')
    expect(found.slice(0, 2)).toEqual(['rare.md', 'long.md'])
    expect(found).toHaveLength(32)
  })

  it('prefers the entry with more of the terms', async () => {
    const filler = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`filler${n}.md`, 'nothing of the kind']))
    const { find } = await folderOf({ ...filler, 'one.md': 'aisle tables here', 'both.md': 'aisle seats here' })
    expect(await find('aisle seats')).toEqual(['both.md', 'one.md'])
  })

  it('keeps the order in which entries were first written where scores are equal', async () => {
    const keys = ['b.md', 'c.md', 'a.md', 'd.md']
    const { storage } = await folderOf(Object.fromEntries(keys.map((key) => [key, 'zebra'])))
    const results = await storage.search('zebra')
    expect(keysOf(results)).toEqual(keys)
    expect(new Set(results.map(({ score }) => score)).size).toBe(1)
  })

  it('holds where entries are empty, of one word, or not UTF-8', async () => {
    const { storage, find } = await folderOf({ 'empty.md': '', 'one.md': 'zebra' })
    await storage.write('bytes.md', new Uint8Array([0xff, 0x20, ...encode('zebra'), 0xfe]))
    await storage.write('nul.md', encode('heron\0zebra\0walrus'))
    expect((await find('zebra')).sort()).toEqual(['bytes.md', 'nul.md', 'one.md'])
    expect(await find('empty')).toEqual(['empty.md'])
    expect(await find('walrus')).toEqual(['nul.md'])
  })

  it('is the same for the words of a question in any order', async () => {
    const entries = { 'a.md': 'aisle seats and tea', 'b.md': 'green tea', 'c.md': 'an aisle' }
    for (const match of matches) {
      const { storage } = await folderOf(entries, { match })
      const forward = keysAndScores(await storage.search('green aisle tea seats'))
      expect(keysAndScores(await storage.search('seats tea aisle green'))).toEqual(forward)
      expect(keysAndScores(await storage.search('tea TEA tea, green aisle; seats'))).toEqual(forward)
    }
  })
})

describe('a limit', () => {
  const entries = Object.fromEntries(
    Array.from({ length: 12 }, (_, n) => [`k${n}.md`, `${'zebra '.repeat(12 - n)}${'spare '.repeat(n)}`]),
  )

  it.each([1, 2, 5, 11, 12, 13, 1_000, Number.MAX_SAFE_INTEGER])(
    'of %d gives the best of all results',
    async (limit) => {
      const { storage, folder } = await folderOf(entries)
      const all = await storage.search('zebra')
      expect(all).toHaveLength(12)
      const limited = openFolder({ limit }, folder)
      expect(await limited.storage.search('zebra')).toEqual(all.slice(0, limit))
      const both = openFolder({ limit, match: 'all' }, folder)
      expect(keysOf(await both.storage.search('zebra spare'))).toHaveLength(Math.min(limit, 11))
    },
  )
})

describe('options', () => {
  it.each<[string, unknown]>([
    ['another match', { match: 'some' }],
    ['an empty match', { match: '' }],
    ['a match that is no string', { match: 1 }],
    ['a limit of 0', { limit: 0 }],
    ['a limit of -1', { limit: -1 }],
    ['a limit of 1.5', { limit: 1.5 }],
    ['a limit of NaN', { limit: Number.NaN }],
    ['a limit that is a string', { limit: '3' }],
    ['a limit that is a BigInt', { limit: 3n }],
    ['an empty dbPath', { dbPath: '' }],
    ['a dbPath that is no string', { dbPath: 5 }],
    ['a dbPath that is an object', { dbPath: new URL('file:///tmp/x') }],
    ['a dbPath with a NUL inside', { dbPath: '/tmp/a\0b' }],
    ['another normalize', { normalize: 'NFD' }],
    ['a normalize that is no string', { normalize: true }],
    ['a string', 'any'],
    ['a number', 5],
  ])('are refused with a TypeError: %s', (_, options) => {
    expect(() => new Bm25SearchStrategy(options as never)).toThrow(TypeError)
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['none', {}],
    ['all undefined', { dbPath: undefined, match: undefined, limit: undefined, normalize: undefined }],
    ['unknown ones', { tokenizer: 'trigram' }],
  ])('may be %s', async (_, options) => {
    const { storage, find } = openFolder(options as never)
    await storage.write('k.md', encode('aisle seats'))
    expect(await find('aisle tables')).toEqual(['k.md'])
  })

  it('open and make nothing', () => {
    const { index, folder, strategy } = openFolder()
    expect(strategy.requiresHostFs).toBe(true)
    expect([existsSync(index), existsSync(folder)]).toEqual([false, false])
    const dbPath = join(folder, 'deep/index.sqlite')
    expect(new Bm25SearchStrategy({ dbPath }).requiresHostFs).toBe(true)
    expect(existsSync(dirname(dbPath))).toBe(false)
  })

  it('are taken once: changing the object later changes nothing', async () => {
    const options: Bm25SearchStrategyOptions = { match: 'all', limit: 1 }
    const { find } = await folderOf({ 'a.md': 'aisle seats', 'b.md': 'aisle seats', 'c.md': 'aisle' }, options)
    options.match = 'any'
    options.limit = 3
    expect(await find('aisle seats')).toHaveLength(1)
  })

  it('need `new`', () => {
    const call = Bm25SearchStrategy as unknown as () => unknown
    expect(() => call()).toThrow(TypeError)
  })

  it('of a subclass are its own, and its methods are called', async () => {
    const queries: string[] = []
    class Noting extends Bm25SearchStrategy {
      constructor() {
        super({ limit: 1 })
      }
      override async search(...[storage, query]: Parameters<Bm25SearchStrategy['search']>) {
        queries.push(query)
        return super.search(storage, `${query} seats`)
      }
    }
    const strategy = new Noting()
    const storage = new everything.LocalFileStorage(openFolder().folder, { searchStrategy: strategy })
    await fill(storage, { 'a.md': 'aisle', 'b.md': 'seats' })
    expect(await storage.search('window')).toMatchObject([{ key: 'b.md' }])
    expect(queries).toEqual(['window'])
    expect(strategy).toBeInstanceOf(Bm25SearchStrategy)
  })
})

describe('normalisation', () => {
  const hangul = '\ud55c\uad6d\uc5b4'

  it('is off by default', async () => {
    const { find } = await folderOf({ 'text.md': hangul.normalize('NFD'), 'wide.md': 'ｗｉｎｄｏｗ' })
    expect(await find(hangul)).toEqual([])
    expect(await find('window')).toEqual([])
  })

  it('NFC finds composed letters by decomposed ones and the reverse', async () => {
    const entries = { 'nfd.md': hangul.normalize('NFD'), 'nfc.md': hangul, 'wide.md': 'ｗｉｎｄｏｗ' }
    for (const match of matches) {
      const { find } = await folderOf(entries, { normalize: 'NFC', match })
      expect((await find(hangul)).sort()).toEqual(['nfc.md', 'nfd.md'])
      expect((await find(hangul.normalize('NFD'))).sort()).toEqual(['nfc.md', 'nfd.md'])
      expect(await find('window')).toEqual([])
    }
  })

  it('NFKC finds narrow letters by wide ones and the reverse', async () => {
    const { find } = await folderOf(
      { 'wide.md': 'ｗｉｎｄｏｗ', 'narrow.md': 'window', 'ﬁ.md': 'ﬁne' },
      { normalize: 'NFKC' },
    )
    expect((await find('window')).sort()).toEqual(['narrow.md', 'wide.md'])
    expect((await find('ＷＩＮＤＯＷ')).sort()).toEqual(['narrow.md', 'wide.md'])
    expect(await find('fine')).toEqual(['ﬁ.md'])
  })

  it('leaves keys as they are', async () => {
    const keys = ['e\u0301 ｗ.md', '\u00e9 ｗ.md']
    const { storage, find } = await folderOf(Object.fromEntries(keys.map((key) => [key, 'zebra'])), {
      normalize: 'NFKC',
    })
    expect((await find('zebra')).sort()).toEqual([...keys].sort())
    await storage.delete(keys[0]!)
    expect(await find('zebra')).toEqual([keys[1]])
  })
})

describe('every method', () => {
  const thrower = (): never => {
    throw new RangeError('thrown by the argument')
  }
  const zoo: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['a boolean', true],
    ['a number', 5],
    ['a BigInt', 5n],
    ['a symbol', Symbol('s')],
    ['a function', () => 'text'],
    ['an array', ['text']],
    ['an object without prototype', Object.create(null)],
    ['a promise', Promise.resolve('text')],
    ['a Date', new Date(Number.NaN)],
    ['an object that throws when it is read', new Proxy({}, { get: thrower, has: thrower, ownKeys: thrower })],
    ['a conversion that throws', { toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower }],
  ]

  it.each(zoo)('rejects, and does not throw, with %s in the place of each argument', async (_, value) => {
    const { strategy, storage, find } = await folderOf({ 'k.md': 'zebra' })
    const wrong = value as never
    const calls: [string, () => Promise<unknown>][] = [
      ['search in', () => strategy.search(wrong, 'zebra')],
      ['search of', () => strategy.search(storage, wrong)],
      ['index in', () => strategy.index(wrong, 'k.md', encode('zebra'))],
      ['index of the key', () => strategy.index(storage, wrong, encode('zebra'))],
      ['index of the data', () => strategy.index(storage, 'k.md', wrong)],
      ['remove in', () => strategy.remove(wrong, 'k.md')],
      ['remove of', () => strategy.remove(storage, wrong)],
      ['backfill of', () => strategy.backfill(wrong)],
    ]
    for (const [name, call] of calls) {
      let promise: Promise<unknown> | undefined
      expect(() => (promise = call()), name).not.toThrow()
      expect(promise, name).toBeInstanceOf(Promise)
      const error = await rejectionOf(promise!)
      expect(error, name).toBeInstanceOf(Error)
    }
    expect(await find('zebra')).toEqual(['k.md'])
  })

  it('rejects with a TypeError without arguments', async () => {
    const { strategy } = openFolder()
    const bare = strategy as unknown as Record<string, () => Promise<unknown>>
    for (const name of ['search', 'index', 'remove', 'backfill']) {
      const call = bare[name]!()
      expect(call, name).toBeInstanceOf(Promise)
      await expect(call, name).rejects.toBeInstanceOf(TypeError)
    }
  })

  it.each<[string, (s: Bm25SearchStrategy, storage: everything.LocalFileStorage) => Promise<unknown>]>([
    ['a query that is a number', (strategy, storage) => strategy.search(storage, 5 as never)],
    ['a query that is undefined', (strategy, storage) => strategy.search(storage, undefined as never)],
    ['data that are a string', (strategy, storage) => strategy.index(storage, 'k', 'text' as never)],
    ['a key that is a number', (strategy, storage) => strategy.index(storage, 5 as never, encode(''))],
    ['a storage that is a string', (strategy) => strategy.search('./memory' as never, 'q')],
    ['no storage', (strategy) => strategy.search(null as never, 'q')],
    ['options that are a number', (strategy, storage) => strategy.backfill(storage, 5 as never)],
    ['a progress that is no function', (strategy, storage) => strategy.backfill(storage, { onProgress: 5 as never })],
  ])('rejects with a TypeError for %s', async (_, call) => {
    const { strategy, storage } = openFolder()
    await expect(call(strategy, storage)).rejects.toBeInstanceOf(TypeError)
  })

  it.each(['', '..', 'a/../b', 'a\\b'])('rejects a key that the storage would not take: %j', async (key) => {
    const { strategy, storage } = openFolder()
    await expect(strategy.index(storage, key, encode('zebra'))).rejects.toBeInstanceOf(StorageError)
    await expect(strategy.remove(storage, key)).rejects.toBeInstanceOf(StorageError)
  })

  it('rejects when it is called on something else', async () => {
    const { storage } = openFolder()
    const { search, index, backfill, close } = Bm25SearchStrategy.prototype
    for (const other of [{}, undefined, 5, storage]) {
      await expect(search.call(other as never, storage, 'q')).rejects.toThrow()
      await expect(index.call(other as never, storage, 'k', encode(''))).rejects.toThrow()
      await expect(backfill.call(other as never, storage)).rejects.toThrow()
      await expect(close.call(other as never)).rejects.toThrow()
    }
  })

  it('takes the bytes at the time of the call', async () => {
    const { strategy, storage, find } = openFolder()
    const data = encode('zebra')
    const writing = storage.write('k.md', data)
    data.fill(120)
    await writing
    expect(await find('zebra')).toEqual(['k.md'])
    const more = encode('walrus')
    const indexing = strategy.index(storage, 'k.md', more)
    more.fill(120)
    await indexing
    expect(await find('walrus')).toEqual(['k.md'])
  })

  it('takes any view of bytes', async () => {
    const { strategy, storage, find } = await folderOf({ 'k.md': 'zebra', 'l.md': 'zebra' })
    const bytes = encode('..walrus..')
    await strategy.index(storage, 'k.md', bytes.subarray(2, 8))
    await strategy.index(storage, 'l.md', Buffer.from('walrus'))
    expect((await find('walrus')).sort()).toEqual(['k.md', 'l.md'])
    expect(await find('zebra')).toEqual([])
  })
})

describe('the class', () => {
  it('is one, whichever entry point it comes from', () => {
    expect(everything.Bm25SearchStrategy).toBe(Bm25SearchStrategy)
    expect(new Bm25SearchStrategy()).toBeInstanceOf(everything.Bm25SearchStrategy)
  })
})
