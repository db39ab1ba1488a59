// The words of a text: the SDK's tokenizer and ours, on all of Unicode.

import { STOP_WORDS, tokenize, tokenOverlapScore } from 'strands-native/storage/search'
import { describe, expect, it, vi } from 'vitest'
import { runScript } from './child-program.js'
import * as sdk from './sdk-keyword.js'
import { seededRandom } from './seeded-random.js'

vi.setConfig({ testTimeout: 120_000 })

const same = (ours: Set<string>, theirs: Set<string>): boolean => {
  if (ours.size !== theirs.size) return false
  const expected = theirs.values()
  for (const token of ours) if (token !== expected.next().value) return false
  return true
}

/** The texts of which the tokens, or their order, differ from the SDK's. */
const misfits = (texts: Iterable<string>): string[] => {
  const found: string[] = []
  for (const text of texts) if (found.length < 10 && !same(tokenize(text), sdk.tokenize(text))) found.push(text)
  return found
}

describe('tokenize', () => {
  it.each([
    ['', []],
    ['The quick, brown fox', ['the', 'quick', 'brown', 'fox']],
    ['b a b A', ['b', 'a']],
    ['a_b c-d e.f', ['a_b', 'c', 'd', 'e', 'f']],
    ["don't C++ 20.04 pve-01", ['don', 't', 'c', '20', '04', 'pve', '01']],
    ['__proto__ constructor', ['__proto__', 'constructor']],
    ['\u{1f600} ?! \n', []],
    ['İ', ['i']],
  ])('splits %j into %j', (text, tokens) => {
    expect([...tokenize(text)]).toEqual(tokens)
    expect([...sdk.tokenize(text)]).toEqual(tokens)
  })

  it('gives a real Set of strings, a new one each time', () => {
    const tokens = tokenize('one two')
    expect(Object.getPrototypeOf(tokens)).toBe(Set.prototype)
    expect(tokens).toStrictEqual(new Set(['one', 'two']))
    tokens.add('three')
    expect(tokenize('one two').size).toBe(2)
  })

  it.each([
    ...[
      'İ',
      'ı',
      'I',
      'ß',
      'ẞ',
      'STRASSE ẞ',
      'ΟΔΟΣ',
      'οδος',
      'ΟΔΟΣ. ΟΔΟΣ',
      'Σ',
      'ΣΣ',
      'AΣ',
      'AΣ\u0301',
      'A\u0301Σ',
      'Σ_Σ',
      'AΣ_',
    ],
    ...[
      'AΣ\u00adB',
      'AΣ\u00ad',
      'A.Σ',
      "A'Σ",
      'A:Σ:B',
      '\u212a',
      '\u212b',
      'ﬁ',
      'ŉ',
      'ǰ',
      'ΐ',
      'և',
      'ẚ',
      'Ǆǅǆ',
      'ᾼ',
      'ᾼΣ',
    ],
    ...['हिन्दी में लिखा', 'தமிழ் சொல்', 'ภาษาไทย ไม่มีช่องว่าง', 'العَرَبِيَّة بِالتَّشْكِيل', 'עִבְרִית', 'e\u0301te\u0301 cafe\u0301'],
    ...[
      'Ⅷ ² ½ ٣ ①',
      '٣٤٥ ௧௨ ๑๒',
      'a_b',
      '_',
      '__',
      'ａｂＣ',
      '𝐀𝐁 𝟙',
      '𐐀𐐨',
      '東京タワー、大阪',
      '한국어 단어',
      'e\u200dx',
      'a\u200bb',
      'a\u00adb',
    ],
    ...[
      '\ud800',
      'a\ud800b',
      '\udc00\ud800',
      'Σ\ud800',
      'AΣ\udfff',
      '\ud83dx\ude00',
      '\u{10ffff}',
      '\u{e000}',
      'ᲀ Ꭰꭰ Ა',
      'ꟊ',
    ],
  ])('gives the tokens of the SDK, in its order, for %j', (text) => {
    expect([...tokenize(text)]).toEqual([...sdk.tokenize(text)])
    expect(tokenize(text)).toStrictEqual(sdk.tokenize(text))
  })

  const codePoints = function* () {
    const assigned = /^\P{Cn}$/u
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code)
      if (assigned.test(character)) yield character
    }
  }

  it.each<[string, (character: string) => string]>([
    ['alone', (c) => c],
    ['between letters', (c) => `a${c}b`],
    ['where a final sigma is decided', (c) => `Σ${c} ${c}Σ A${c}Σ`],
  ])('gives the tokens of the SDK for every assigned code point %s, surrogates included', (_, context) => {
    let count = 0
    const texts = function* () {
      for (const character of codePoints()) {
        count += 1
        yield context(character)
      }
    }
    expect(misfits(texts())).toEqual([])
    expect(count).toBeGreaterThan(280_000)
  })

  it('gives the tokens of the SDK for 100,000 random strings with any code unit', () => {
    const random = seededRandom(26)
    const pick = <T>(list: readonly T[] | string): T | string => list[Math.floor(random() * list.length)]!
    const assigned = /^\P{Cn}$/u
    const piece = (): string => {
      const kind = random()
      if (kind < 0.25) return String(pick('abcXYZ019_'))
      if (kind < 0.4) return String(pick(' .,-\'"/\n\t\u00a0\u2028'))
      if (kind < 0.5)
        return String(pick(['Σ', 'σ', 'ς', 'İ', 'ı', 'ß', 'ẞ', 'ﬁ', '\u0301', '\u00ad', '\u0345', '.', ':', '\u2019']))
      if (kind < 0.6) return String.fromCharCode(0xd800 + Math.floor(random() * 0x800))
      const character = String.fromCodePoint(Math.floor(random() * (kind < 0.85 ? 0x3000 : 0x11_0000)))
      return assigned.test(character) ? character : 'z'
    }
    const texts = function* () {
      for (let n = 0; n < 100_000; n += 1) yield Array.from({ length: Math.floor(random() * 24) }, piece).join('')
    }
    expect(misfits(texts())).toEqual([])
  })

  it('gives the tokens of the SDK for a text of a million characters', () => {
    const random = seededRandom(5)
    const words = Array.from({ length: 120_000 }, () =>
      Math.floor(random() * 1e9)
        .toString(36)
        .toUpperCase(),
    )
    expect(misfits([words.join(' '), words.join(' ¡ςΣ! ')])).toEqual([])
    expect(tokenize('x'.repeat(1_000_000))).toStrictEqual(new Set(['x'.repeat(1_000_000)]))
  })

  it('does not depend on the locale', async () => {
    const source = `
      const { tokenize } = await import('strands-native/storage/search')
      console.log(JSON.stringify([...tokenize('TITLE İstanbul ISI ırmak IĞDIR Ì̇ ΟΔΟΣ ß')]))
    `
    const expected = [...sdk.tokenize('TITLE İstanbul ISI ırmak IĞDIR Ì̇ ΟΔΟΣ ß')]
    for (const locale of ['tr_TR.UTF-8', 'tr_TR', 'C', 'lt_LT.UTF-8', 'az_AZ.UTF-8']) {
      expect(await runScript(source, { env: { LANG: locale, LC_ALL: locale } }), locale).toEqual(expected)
    }
  })

  it.each([
    ['a number', 5],
    ['undefined', undefined],
    ['null', null],
    ['an object', {}],
  ])('throws a TypeError for %s', (_, wrong) => {
    expect(() => tokenize(wrong as unknown as string)).toThrow(TypeError)
    expect(() => sdk.tokenize(wrong as unknown as string)).toThrow(TypeError)
  })
})

describe('tokenOverlapScore', () => {
  it.each([
    ['dark mode', 'Dark mode, dark', 2],
    ['dark mode', 'nothing of it', 0],
    ['', 'text', 0],
    ['text', '', 0],
    ['a b c', 'c b a', 3],
    ['ΟΔΟΣ', 'η οδος', 1],
    ['\ud800 x', '\ud801 x', 1],
  ])('of the tokens of %j in %j is %d', (query, content, score) => {
    expect(tokenOverlapScore(tokenize(query), content)).toBe(score)
    expect(sdk.tokenOverlapScore(sdk.tokenize(query), content)).toBe(score)
  })

  it('compares tokens as they are, and does not fold those of the query', () => {
    for (const score of [tokenOverlapScore, sdk.tokenOverlapScore]) {
      expect(score(new Set(['Dark', 'two words', 'mode']), 'Dark two words mode')).toBe(1)
    }
  })

  it('gives the scores of the SDK for random queries and contents', () => {
    const random = seededRandom(9)
    const words = ['apple', 'Pear', 'ΟΔΟΣ', 'İ', 'x_1', '東京', '\ud800', 'ﬁ', 'ß', '12']
    const text = () =>
      Array.from({ length: Math.floor(random() * 8) }, () => words[Math.floor(random() * words.length)]).join(' ')
    const wrong: [string, string][] = []
    for (let n = 0; n < 5_000; n += 1) {
      const [query, content] = [text(), text()]
      const theirs = sdk.tokenOverlapScore(sdk.tokenize(query), content)
      if (tokenOverlapScore(tokenize(query), content) !== theirs) wrong.push([query, content])
    }
    expect(wrong).toEqual([])
  })

  it.each([
    ['an array', ['a']],
    ['undefined', undefined],
    ['a string', 'a'],
  ])('throws a TypeError where the query tokens are %s', (_, wrong) => {
    expect(() => tokenOverlapScore(wrong as unknown as Set<string>, 'a')).toThrow(TypeError)
  })

  it('throws a TypeError where the content is no string', () => {
    expect(() => tokenOverlapScore(new Set(['a']), 5 as unknown as string)).toThrow(TypeError)
  })
})

describe('STOP_WORDS', () => {
  it('are those of the SDK, in a real Set', () => {
    expect(Object.getPrototypeOf(STOP_WORDS)).toBe(Set.prototype)
    expect(STOP_WORDS).toStrictEqual(sdk.STOP_WORDS)
  })
})
