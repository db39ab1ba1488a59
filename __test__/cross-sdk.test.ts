// The TypeScript SDK, the Python SDK and this package write and read one memory file, in every order.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runScript } from './child-program.js'
import { SdkTestMemoryStore, TestMemoryStore } from './implementations.js'
import { layOut, readRecords, withoutIdsAndTimes } from './memory-records.js'
import { PythonSdk } from './python-sdk.js'
import { scratchDirectory } from './scratch-directory.js'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

type Writer = 'typescript' | 'python' | 'native'
type Entry = { content: string; metadata?: Record<string, unknown> }

let pythonSdk: PythonSdk
beforeAll(async () => {
  pythonSdk = await PythonSdk.start()
})
afterAll(() => pythonSdk?.stop())

const notes = (): string => join(scratchDirectory(), 'notes.json')

const classes = { typescript: SdkTestMemoryStore, native: TestMemoryStore }

async function add(writer: Writer, path: string, content: string, metadata?: Record<string, unknown>): Promise<string> {
  if (writer === 'python') {
    return (await pythonSdk.add({ path }, content, metadata === undefined ? undefined : JSON.stringify(metadata))).id
  }
  return (await new classes[writer]({ name: 'n', path }).add(content, metadata as never)).id
}

async function search(reader: Writer, path: string, query: string): Promise<Entry[]> {
  if (reader === 'python') return pythonSdk.search({ path }, query)
  return new classes[reader]({ name: 'n', path }).search(query)
}

const orders: Writer[][] = [
  ['typescript', 'python', 'native'],
  ['typescript', 'native', 'python'],
  ['python', 'typescript', 'native'],
  ['python', 'native', 'typescript'],
  ['native', 'typescript', 'python'],
  ['native', 'python', 'typescript'],
]
const readers: Writer[] = ['typescript', 'python', 'native']

// Each writer makes the first word of its content its own, so that a search for it finds one record.
const shapes: [string, string, Record<string, unknown> | undefined][] = [
  ['plain text', 'User prefers aisle seats', undefined],
  ['flat metadata', 'text', { category: 'travel', n: 1, yes: true, no: false, nothing: null }],
  ['nested metadata', 'text', { a: { b: { c: [1, [2, [3]], { d: [] }] } }, empty: {}, list: [{}, [], null] }],
  ['floats', 'text', { f: 0.5, g: -1.25, h: 123.456, i: 0.1, j: 0.30000000000000004 }],
  ['integers', 'text', { zero: 0, minus: -7, large: 9007199254740991 }],
  ['scripts of the world', '東京 Ελλάδα हिन्दी עברית ไทย Ünïcödé', { schlüssel_名前: 'ценность' }],
  ['emoji', 'likes \u{1f600} \u{1f469}\u200d\u{1f469}\u200d\u{1f467} \u{1f1e9}\u{1f1ea}', { '\u{1f511}': '\u{1f511}' }],
  ['decomposed letters', 'cafe\u0301', { e: 'e\u0301' }],
  [
    'text to escape',
    'tab\t line\nbreak "quoted" back\\slash /slash \u0000 \u001f \u007f \u0080 \u2028 \u2029',
    { '"': '\\\b\f\r' },
  ],
  ['spaces around', 'text  ', {}],
]

describe.each(orders.map((order) => [order.join(', then '), order] as const))('written by %s', (_, order) => {
  it.each(shapes)(
    'a file of %s reads the same in all three, and has the bytes of JSON.stringify',
    async (_, content, metadata) => {
      const path = notes()
      const ids: string[] = []
      for (const writer of order) {
        const before = ids.length === 0 ? '[\n]' : readFileSync(path, 'utf8')
        ids.push(await add(writer, path, `${writer} ${content}`, metadata))
        // What was there before is there still, byte for byte.
        expect(readFileSync(path, 'utf8').startsWith(before.slice(0, -2))).toBe(true)
      }
      expect(readFileSync(path, 'utf8')).toBe(layOut(readRecords(path)))
      expect(readRecords(path).map(({ id }) => id)).toEqual(ids)
      for (const reader of readers) {
        for (const writer of order) {
          const expected = { content: `${writer} ${content}`, metadata: { ...metadata, _relevanceScore: 1 } }
          expect(await search(reader, path, writer), `${reader} reads ${writer}`).toEqual([expected])
        }
        // All three take the text for known, whoever wrote it.
        for (const [n, writer] of order.entries()) expect(await add(reader, path, `${writer} ${content}`)).toBe(ids[n])
      }
      expect(readRecords(path)).toHaveLength(3)
    },
  )
})

describe('the same adds', () => {
  it('make the same file, ids and times apart, by whichever writer', async () => {
    const files = []
    for (const writer of readers) {
      const path = notes()
      for (const [name, content, metadata] of shapes) await add(writer, path, `${name}: ${content}`, metadata)
      files.push(withoutIdsAndTimes(path))
    }
    expect(files[2]).toBe(files[0])
    expect(files[2]).toBe(files[1])
  })
})

describe('what Python writes and JavaScript cannot', () => {
  it('survives our rewrite: NaN, Infinity, 1.0 and large integers', async () => {
    const path = notes()
    const metadata = '{"nan": NaN, "list": [Infinity, -Infinity], "one": 1.0, "big": 1161888007138312192, "e": 1e22}'
    await pythonSdk.add({ path }, 'python fact', metadata)
    const before = readFileSync(path, 'utf8')
    await add('native', path, 'native fact')
    expect(readFileSync(path, 'utf8').startsWith(before.slice(0, -2))).toBe(true)
    expect(before).toContain('"nan": NaN,')
    expect(before).toContain('"one": 1.0,')
    expect(before).toContain('"big": 1161888007138312192,')
    expect(await search('native', path, 'python')).toEqual([
      {
        content: 'python fact',
        metadata: {
          nan: Number.NaN,
          list: [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
          one: 1,
          big: 1161888007138312192,
          e: 1e22,
          _relevanceScore: 1,
        },
      },
    ])
    // Python goes on with its own file.
    await add('python', path, 'another fact')
    expect(contentsByPattern(path)).toEqual(['python fact', 'native fact', 'another fact'])
  })

  it('keeps its order and its ids, which are of another version than ours', async () => {
    const path = notes()
    const python = await add('python', path, 'python fact')
    const native = await add('native', path, 'native fact')
    expect([python[14], native[14]]).toEqual(['4', '7'])
    expect(readRecords(path).map(({ id }) => id)).toEqual([python, native])
  })
})

describe('what we write and the others must read', () => {
  it('holds numbers that JavaScript prints with an exponent, or without a fraction', async () => {
    const path = notes()
    const metadata = { a: 1e21, b: 1e-7, c: -0, d: 100, e: 123456789012345680000, f: 5e-324, g: 1.7976931348623157e308 }
    await add('native', path, 'numbers', metadata)
    const [python] = await search('python', path, 'numbers')
    expect(python!.metadata).toEqual({ ...metadata, c: 0, _relevanceScore: 1 })
  })

  it('holds lone surrogates as escapes, which both can read', async () => {
    const path = notes()
    await add('native', path, 'lone \ud800 one', { k: '\udfff' })
    for (const reader of readers) {
      expect(await search(reader, path, 'lone')).toEqual([
        { content: 'lone \ud800 one', metadata: { k: '\udfff', _relevanceScore: 1 } },
      ])
    }
    // And the TypeScript SDK writes them back alike.
    const before = readFileSync(path, 'utf8')
    await add('typescript', path, 'typescript fact')
    await add('native', path, 'native fact')
    expect(readFileSync(path, 'utf8').startsWith(before.slice(0, -2))).toBe(true)
  })

  it('lets Python rank our records by its own rule: newest first', async () => {
    const path = notes()
    for (let n = 0; n < 3; n += 1) {
      await add('native', path, `apple ${n}`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const expected = ['apple 2', 'apple 1', 'apple 0']
    for (const reader of readers) {
      expect((await search(reader, path, 'apple')).map(({ content }) => content)).toEqual(expected)
    }
  })
})

describe('the default path', () => {
  it('of a name is one file for all three', async () => {
    const home = scratchDirectory()
    const javascript = (who: string) => `
      const { TestMemoryStore } = await load('${who}')
      await new TestMemoryStore({ name: '../my notes/é' }).add('${who} fact')
      console.log('null')
    `
    await runScript(javascript('sdk'), { env: { HOME: home } })
    await pythonSdk.add({ name: '../my notes/é', home }, 'python fact')
    await runScript(javascript('native'), { env: { HOME: home } })
    expect(readdirSync(join(home, '.strands/memory'))).toEqual(['__my_notes__.json'])
    const contents = readRecords(join(home, '.strands/memory/__my_notes__.json')).map(({ content }) => content)
    expect(contents).toEqual(['sdk fact', 'python fact', 'native fact'])
  })
})

describe('a file that Python left in the midst of a crash', () => {
  it('is refused by all three and touched by none', async () => {
    const directory = scratchDirectory()
    mkdirSync(join(directory, 'sub'))
    const path = join(directory, 'sub/notes.json')
    await add('python', path, 'python fact')
    const cut = readFileSync(path, 'utf8').slice(0, -20)
    writeFileSync(path, cut)
    for (const reader of readers) {
      await expect(search(reader, path, 'fact')).rejects.toThrow('TestMemoryStore: invalid JSON in ')
      await expect(add(reader, path, 'more')).rejects.toThrow('TestMemoryStore: invalid JSON in ')
    }
    expect(readFileSync(path, 'utf8')).toBe(cut)
  })
})

/** The contents of a file with numbers that `JSON.parse` does not know. */
function contentsByPattern(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/"content": "(.*)"/g)].map(([, content]) => content!)
}
