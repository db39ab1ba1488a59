// The option `normalize`: text is brought into a Unicode form before it is split into words. Off where it is not given.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Storage } from 'strands-native'
import { KeywordSearchStrategy, tokenize } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { fill, keysAndScores } from './entries.js'
import { nativeStorage, sdkStorage, TestMemoryStore } from './implementations.js'
import { MapSandbox } from './map-sandbox.js'
import { readRecords, record, writeRecords } from './memory-records.js'
import { scratchDirectory } from './scratch-directory.js'
import * as sdkKeyword from './sdk-keyword.js'
import { seededRandom } from './seeded-random.js'

type Form = 'NFC' | 'NFKC'
const forms: Form[] = ['NFC', 'NFKC']

// Letters with accents, composed and not; Hangul; kana; full width; ligatures; circled and superscript numbers.
const texts = [
  ...['café', 'cafe\u0301', 'Ünïcödé', 'U\u0308ni\u0308co\u0308de\u0301', '한글', '한글', 'が', 'か\u3099', 'ｶﾞ'],
  ...['Ｎａｍｅ', 'name', 'ﬁnd', 'find', '①', '1', 'x²', 'x2', '½', 'Ⅷ', 'VIII', '㎏', 'kg', '\u212a', '\u212b', 'å'],
  ...['İ', 'I\u0307', 'ﷺ', '㍿', 'ẞ', 'ß', 'ΟΔΟΣ', 'ΑΣ\u0301', 'हिन्दी', 'क\u093c', '\u0958', '\ufb1d', 'a\u0327\u0301'],
  ...['\ud800', 'a\udfffb', 'caf\ud800e\u0301', '', ' ', '\u0301', 'A\u030a B\u030a', '…', '\u2126', '\ufdfa'],
]

describe('tokenize', () => {
  it.each(texts)('takes %j as it is where no form is asked for, as the SDK does', (text) => {
    const expected = [...sdkKeyword.tokenize(text)]
    for (const options of [undefined, null, {}, { normalize: undefined }]) {
      expect([...tokenize(text, options as never)]).toEqual(expected)
    }
  })

  // A lone surrogate separates words, and no form changes that.
  describe.each(forms)('with %s', (normalize) => {
    it.each(texts)('gives the words of the normalised text: %j', (text) => {
      expect([...tokenize(text, { normalize })]).toEqual([...sdkKeyword.tokenize(text.normalize(normalize))])
    })

    it('gives the words of the normalised text for random texts', () => {
      const random = seededRandom(27)
      const pieces = [...texts, ' ', '-', '_', '\u0301', '\u0323', '\u1100', '\u1161', '\u11a8', 'Σ', 'σ', '\u200d']
      for (let n = 0; n < 3_000; n += 1) {
        let text = ''
        for (let length = random() * 6; length > 0; length -= 1) text += pieces[Math.floor(random() * pieces.length)]
        expect([text, ...tokenize(text, { normalize })]).toEqual([
          text,
          ...sdkKeyword.tokenize(text.normalize(normalize)),
        ])
      }
    })

    it('gives the words of the normalised text for each code point that a form changes', () => {
      let changed = 0
      for (let point = 0; point < 0x11_0000; point += 1) {
        const char = String.fromCodePoint(point)
        const normalized = char.normalize(normalize)
        if (normalized === char || !/\p{Assigned}/u.test(char)) continue
        changed += 1
        const text = `a${char}b`
        const expected = [...sdkKeyword.tokenize(text.normalize(normalize))]
        if (String([...tokenize(text, { normalize })]) !== String(expected)) {
          expect([point.toString(16), ...tokenize(text, { normalize })]).toEqual([point.toString(16), ...expected])
        }
      }
      expect(changed).toBeGreaterThan(1_000)
    })
  })

  it('with NFC finds composed and decomposed letters alike, and with NFKC full-width ones too', () => {
    expect(tokenize('cafe\u0301', { normalize: 'NFC' })).toEqual(new Set(['café']))
    expect(tokenize('Ｎａｍｅ', { normalize: 'NFC' })).toEqual(new Set(['ｎａｍｅ']))
    expect(tokenize('Ｎａｍｅ ﬁ', { normalize: 'NFKC' })).toEqual(new Set(['name', 'fi']))
  })
})

const wrong: unknown[] = [
  'NFD',
  'NFKD',
  'nfc',
  'NFC ',
  '',
  'none',
  0,
  1,
  true,
  false,
  null,
  {},
  ['NFC'],
  Symbol('NFC'),
  5n,
]
const wrongOptions: unknown[] = ['NFC', 5, true, Symbol('NFC')]

describe('a form that is none', () => {
  it.each(wrong)('is refused by name: %s', (normalize) => {
    const options = { normalize } as never
    for (const call of [
      () => tokenize('text', options),
      () => new KeywordSearchStrategy(options),
      () => new TestMemoryStore({ name: 'n', persist: false, normalize: normalize as never }),
    ]) {
      expect(call).toThrow(TypeError)
      expect(call).toThrow(/normalize/)
    }
  })

  it.each(wrongOptions)('options that are none are refused: %s', (options) => {
    expect(() => tokenize('text', options as never)).toThrow(TypeError)
    expect(() => new KeywordSearchStrategy(options as never)).toThrow(TypeError)
  })
})

const nfcText = 'Café Ünïcödé 한글'
const nfdText = nfcText.normalize('NFD')

describe.each<[string, () => Storage]>([
  ['our InMemoryStorage', () => new nativeStorage.InMemoryStorage()],
  ['our LocalFileStorage', () => new nativeStorage.LocalFileStorage(scratchDirectory())],
  ['a view of ours', () => new nativeStorage.InMemoryStorage().namespace('mem')],
  ['our LocalFileStorage in a sandbox', () => new nativeStorage.LocalFileStorage('/box', new MapSandbox())],
  ["the SDK's InMemoryStorage", () => new sdkStorage.InMemoryStorage()],
])('keyword search in %s', (_, open) => {
  const found = async (storage: Storage, query: string, normalize?: Form) =>
    keysAndScores(await new KeywordSearchStrategy({ normalize }).search(storage, query))

  it('tells the forms apart where none is asked for', async () => {
    const storage = await fill(open(), { composed: nfcText, decomposed: nfdText })
    expect(await found(storage, nfcText)).toEqual([['composed', 3]])
    expect(keysAndScores(await KeywordSearchStrategy.search(storage, nfcText))).toEqual([['composed', 3]])
    expect((await found(storage, nfdText))[0]![0]).toBe('decomposed')
  })

  it.each(forms)(
    'with %s finds text of either form with a query of either form, in keys as well',
    async (normalize) => {
      const storage = await fill(open(), {
        composed: nfcText,
        decomposed: nfdText,
        'cafe\u0301.md': 'key',
        'é.md': 'key',
      })
      for (const query of [nfcText, nfdText, nfcText.toUpperCase(), nfdText.toLowerCase()]) {
        expect(await found(storage, query, normalize)).toEqual([
          ['composed', 3],
          ['decomposed', 3],
          ['cafe\u0301.md', 1],
        ])
      }
      expect(await found(storage, 'e\u0301', normalize)).toEqual([['é.md', 1]])
    },
  )

  it('with NFKC finds full-width letters, ligatures and other numbers by plain ones', async () => {
    const storage = await fill(open(), { wide: 'Ｎａｍｅ ﬁnd ①', plain: 'name find 1' })
    for (const query of ['name find 1', 'ＮＡＭＥ ﬁnd ①']) {
      expect(await found(storage, query, 'NFKC')).toEqual([
        ['plain', 3],
        ['wide', 3],
      ])
    }
    expect(await found(storage, 'name find 1', 'NFC')).toEqual([['plain', 3]])
  })

  it('leaves stop words out after normalisation, and gives bytes and keys as they are', async () => {
    const storage = await fill(open(), { 'ｔｈｅ.md': 'ｔｈｅ Ｎａｍｅ' })
    expect(await found(storage, 'ｔｈｅ', 'NFKC')).toEqual([])
    expect(await found(storage, 'ｔｈｅ')).toEqual([['ｔｈｅ.md', 1]])
    const [hit] = await new KeywordSearchStrategy({ normalize: 'NFKC' }).search(storage, 'name')
    expect([hit!.key, new TextDecoder().decode(hit!.data)]).toEqual(['ｔｈｅ.md', 'ｔｈｅ Ｎａｍｅ'])
  })

  it('serves several forms in turn, and each sees every change', async () => {
    const storage = open()
    for (const text of [nfdText, nfcText, 'other', nfdText]) {
      await storage.write('k', new TextEncoder().encode(text))
      const isFound = async (normalize?: Form) => (await found(storage, nfcText, normalize)).length > 0
      expect([text, await isFound('NFC'), await isFound(), await isFound('NFKC')]).toEqual([
        text,
        text !== 'other',
        text === nfcText,
        text !== 'other',
      ])
    }
  })
})

describe('a storage that was given a strategy with a form', () => {
  it('searches by it', async () => {
    const searchStrategy = new KeywordSearchStrategy({ normalize: 'NFC' })
    for (const storage of [
      new nativeStorage.InMemoryStorage(searchStrategy),
      new nativeStorage.LocalFileStorage(scratchDirectory(), { searchStrategy }),
      new nativeStorage.LocalFileStorage('/box', { searchStrategy, sandbox: new MapSandbox() }),
      new sdkStorage.InMemoryStorage(searchStrategy),
    ]) {
      await fill(storage as Storage, { 'n/k': nfdText })
      expect(keysAndScores(await storage.search('café'))).toEqual([['n/k', 1]])
      expect(keysAndScores(await (storage as Storage).namespace!('n').search!('café'))).toEqual([['k', 1]])
    }
  })

  it('has in common with another only what is in common', async () => {
    const root = scratchDirectory()
    const [plain, nfc] = [undefined, 'NFC' as const].map(
      (normalize) =>
        new nativeStorage.LocalFileStorage(root, { searchStrategy: new KeywordSearchStrategy({ normalize }) }),
    )
    await fill(plain!, { k: nfdText })
    expect(await plain!.search('café')).toEqual([])
    expect(await nfc!.search('café')).toHaveLength(1)
    expect(await plain!.search('café')).toEqual([])
  })
})

describe('a TestMemoryStore', () => {
  const stores = (path: string) => ({
    plain: new TestMemoryStore({ name: 'n', path }),
    nfc: new TestMemoryStore({ name: 'n', path, normalize: 'NFC' }),
    nfkc: new TestMemoryStore({ name: 'n', path, normalize: 'NFKC' }),
  })
  const contents = async (store: TestMemoryStore, query: string) =>
    (await store.search(query)).map(({ content }) => content)

  it('finds by its own form in a file that stores of other forms share', async () => {
    const path = join(scratchDirectory(), 'notes.json')
    const { plain, nfc, nfkc } = stores(path)
    await nfc.add('cafe\u0301 in NFD')
    await plain.add('café in NFC')
    await nfkc.add('ｃａｆé in full width')
    for (let round = 0; round < 3; round += 1) {
      expect(await contents(plain, 'café')).toEqual(['café in NFC'])
      expect(await contents(nfc, 'café')).toEqual(['café in NFC', 'cafe\u0301 in NFD'])
      expect(await contents(nfkc, 'cafe\u0301')).toEqual(['ｃａｆé in full width', 'café in NFC', 'cafe\u0301 in NFD'])
    }
    await plain.add('another cafe\u0301')
    expect((await contents(nfc, 'café'))[0]).toBe('another cafe\u0301')
    expect(await contents(plain, 'café')).toEqual(['café in NFC'])
    // A change that nobody told us of is seen by each.
    writeRecords(path, [record(1, 'cafe\u0301'), record(2, 'ｃａｆé')])
    expect([await contents(plain, 'café'), await contents(nfc, 'café'), await contents(nfkc, 'café')]).toEqual([
      [],
      ['cafe\u0301'],
      ['ｃａｆé', 'cafe\u0301'],
    ])
  })

  it('keeps what it is given as it is given, and compares contents as they are', async () => {
    const path = join(scratchDirectory(), 'notes.json')
    const { nfkc } = stores(path)
    const ids = new Set<string>()
    for (const content of ['café', 'cafe\u0301', 'ｃａｆé', 'café']) ids.add((await nfkc.add(content)).id)
    expect(ids.size).toBe(3)
    expect(readRecords(path).map(({ content }) => content)).toEqual(['café', 'cafe\u0301', 'ｃａｆé'])
    expect(readFileSync(path, 'utf8')).toContain('"cafe\u0301"')
  })

  it('does so in memory as well', async () => {
    for (const [normalize, count] of [
      [undefined, 1],
      ['NFC', 2],
      ['NFKC', 3],
    ] as const) {
      const store = new TestMemoryStore({ name: 'n', persist: false, normalize })
      for (const content of ['café', 'cafe\u0301', 'ｃａｆé']) await store.add(content)
      const results = await store.search('café')
      expect(results).toHaveLength(count)
      for (const { metadata } of results) expect(metadata).toEqual({ _relevanceScore: 1 })
    }
  })

  it('counts distinct words after normalisation', async () => {
    const store = new TestMemoryStore({ name: 'n', persist: false, normalize: 'NFKC' })
    await store.add('café Ｎａｍｅ')
    const [entry] = await store.search('cafe\u0301 café ｃａｆé name Name')
    expect(entry!.metadata!._relevanceScore).toBe(2)
  })
})
