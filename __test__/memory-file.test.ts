// The file behind a TestMemoryStore: what may be in it, what a rewrite keeps, and where it may live.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { runScript } from './child-program.js'
import { memoryStores, TestMemoryStore } from './implementations.js'
import { layOut, readRecords, record, writeRecords } from './memory-records.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf } from './settled.js'
import { encode } from './text-bytes.js'

vi.setConfig({ testTimeout: 60_000 })

const notes = (): string => join(scratchDirectory(), 'notes.json')

/** A file with these bytes, and a store on it. */
function storeOn(bytes: string | Uint8Array) {
  const path = notes()
  writeFileSync(path, bytes)
  return { path, store: new TestMemoryStore({ name: 'n', path }) }
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

const good = '{"id": "1", "content": "good text", "createdAt": "then"}'

describe('a file that is no array of records', () => {
  const NOT_JSON: [string, string, number, number][] = [
    ['is empty', '', 1, 1],
    ['is blank', ' \n\t ', 2, 3],
    ['ends within a record', '[{"id":"1"', 1, 11],
    ['ends within a string', '[\n{"id": "1', 2, 11],
    ['ends after a comma', `[${good},`, 1, 59],
    ['goes on after its end', `[${good}]\n\n  left over`, 3, 3],
    ['goes on with another array', '[][]', 1, 3],
    ['has a bare word in the third line', '[\n  {\n    "id": nothing\n  }\n]', 3, 11],
    ['has a comma too many', `[${good},]`, 1, 59],
    ['has a key without quotes', '[{id: "1"}]', 1, 3],
    ['has a line break in a string', '[{"id": "1\n"}]', 1, 11],
    ['has an unknown escape', '["\\x"]', 1, 3],
    ['has a number that JSON does not know', '[01]', 1, 3],
    ['has single quotes', "['a']", 1, 2],
    ['ends in the middle of true', '[tru', 1, 2],
    ['ends with a NUL', '[]\0', 1, 3],
  ]

  it.each(NOT_JSON)(
    'makes search and add reject with path, line and column when it %s',
    async (_, text, line, column) => {
      const { path, store } = storeOn(text)
      const before = statSync(path, { bigint: true })
      for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
        expect(error.message).toMatch(/^TestMemoryStore: /)
        expect(error.message).toContain(path)
        const [, atLine, atColumn] = /line (\d+),? column (\d+)/.exec(error.message) ?? []
        expect([Number(atLine), Math.abs(Number(atColumn) - column) <= 2], error.message).toEqual([line, true])
      }
      expect(readFileSync(path, 'utf8')).toBe(text)
      const after = statSync(path, { bigint: true })
      expect([after.ino, after.mtimeNs, after.ctimeNs]).toEqual([before.ino, before.mtimeNs, before.ctimeNs])
      expect(readdirSync(join(path, '..'))).toEqual(['notes.json'])
    },
  )

  it('is placed by characters, and not by bytes', async () => {
    const { store } = storeOn('[\r\n  "復活\u{1f600}", x]')
    const { message } = await rejectionOf(store.search('text'))
    // The last line is `  "復活😀", x]`: the x is its tenth character.
    expect(message).toMatch(/line 2,? column 10\b/)
  })

  const NOT_RECORDS: [string, string, string][] = [
    ['is an object', '{}', 'expected a JSON array of records'],
    ['is null', 'null', 'expected a JSON array of records'],
    ['is a string', '"text"', 'expected a JSON array of records'],
    ['is a number', ' 5 ', 'expected a JSON array of records'],
    ['has a record without content', `[${good}, {"id": "2", "createdAt": "then"}]`, "'content'"],
    ['has a record without an id', '[{"content": "text", "createdAt": "then"}]', "'id'"],
    ['has a record without a time', '[{"id": "1", "content": "text"}]', "'createdAt'"],
    ['has an id that is a number', '[{"id": 1, "content": "text", "createdAt": "then"}]', "'id'"],
    ['has a content that is null', '[{"id": "1", "content": null, "createdAt": "then"}]', "'content'"],
    ['has a time that is a number', '[{"id": "1", "content": "text", "createdAt": 5}]', "'createdAt'"],
    ['has null for a record', '[null]', 'each record must'],
    ['has a string for a record', '["text"]', 'each record must'],
    ['has an array for a record', '[[]]', 'each record must'],
    [
      'has an array for metadata',
      '[{"id": "1", "content": "text", "createdAt": "then", "metadata": []}]',
      "'metadata'",
    ],
    [
      'has a string for metadata',
      '[{"id": "1", "content": "text", "createdAt": "then", "metadata": "m"}]',
      "'metadata'",
    ],
    [
      'has a content that is repeated and wrong at last',
      '[{"id": "1", "content": "a", "createdAt": "t", "content": 5}]',
      "'content'",
    ],
  ]

  it.each(NOT_RECORDS)('makes search and add reject with path and reason when it %s', async (_, text, reason) => {
    const { path, store } = storeOn(text)
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error.message).toMatch(/^TestMemoryStore: invalid backing file /)
      expect(error.message).toContain(path)
      expect(error.message).toContain(reason)
    }
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('names the record that is wrong', async () => {
    const { store } = storeOn(`[${good},\n${good},\n{"id": "3"}]`)
    expect((await rejectionOf(store.search('text'))).message).toMatch(/record 3|line 3/)
  })

  it.each([
    ['UTF-16LE', Buffer.from(`\ufeff[${good}]`, 'utf16le')],
    ['UTF-16LE without a mark', Buffer.from(`[${good}]`, 'utf16le')],
    ['UTF-16BE', Buffer.from(`\ufeff[${good}]`, 'utf16le').swap16()],
    ['Latin-1', Buffer.from('[{"id": "1", "content": "caf\u00e9", "createdAt": "then"}]', 'latin1')],
    ['a stray byte in a string', Buffer.concat([encode('["'), Buffer.of(0xff), encode('"]')])],
    ['UTF-8 that is cut off', Buffer.concat([encode('["'), encode('é').subarray(0, 1)])],
    ['a surrogate as UTF-8', Buffer.concat([encode('["'), Buffer.of(0xed, 0xa0, 0x80), encode('"]')])],
    ['too long UTF-8', Buffer.concat([encode('["'), Buffer.of(0xc0, 0xaf), encode('"]')])],
    // The SDK reads any bytes, and puts replacement characters where they are no text.
  ])('is refused with a clear error when it is %s', async (_, bytes) => {
    const { path, store } = storeOn(bytes)
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error.message).toMatch(/^TestMemoryStore: /)
      expect(error.message).toContain(path)
      // UTF-16 without a mark is valid UTF-8 with a NUL after each letter: no JSON.
      expect(error.message).toMatch(/UTF-8|JSON/)
    }
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it('says that UTF-16 is not UTF-8', async () => {
    const { store } = storeOn(Buffer.from(`\ufeff[${good}]`, 'utf16le'))
    expect((await rejectionOf(store.search('text'))).message).toMatch(/UTF-16/)
  })

  it.each([
    [
      'in metadata',
      `[{"id": "1", "content": "text", "createdAt": "then", "metadata": ${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}]`,
    ],
    [
      'in an unknown field',
      `[{"id": "1", "content": "text", "createdAt": "then", "x": ${'['.repeat(10_000)}${']'.repeat(10_000)}}]`,
    ],
    ['in place of a record', `[${'['.repeat(100_000)}${']'.repeat(100_000)}]`],
    ['without an end', '['.repeat(1_000_000)],
    ['of objects without an end', '[{"a":'.repeat(500_000)],
  ])('is refused, and does no worse, when it is nested 10,000 deep or more %s', async (_, text) => {
    const { path, store } = storeOn(text)
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error.message).toMatch(/^TestMemoryStore: /)
      expect(error.message).toContain(path)
      expect(error.message.length).toBeLessThan(1_000)
    }
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('is read again once it is mended', async () => {
    const { path, store } = storeOn('[{"id":"1"')
    expect((await rejectionOf(store.search('text'))).message).toContain('invalid JSON')
    writeFileSync(path, `[${good}]`)
    expect(await store.search('text')).toHaveLength(1)
    await store.add('more text')
    expect(readRecords(path)).toHaveLength(2)
  })

  it('fails every waiting add with the same reason, and none gets lost in silence', async () => {
    const { path, store } = storeOn('{}')
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => store.add(`text ${n}`)))
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(readFileSync(path, 'utf8')).toBe('{}')
  })
})

describe.each(memoryStores)('a file that %s TestMemoryStore accepts', (_, Store) => {
  it('may have a byte order mark and CRLF, which the next rewrite drops', async () => {
    const path = notes()
    const records = [record(1, 'an apple', { n: 1 }), record(2, 'a pear')]
    writeFileSync(path, `\ufeff${layOut(records).replaceAll('\n', '\r\n')}\r\n`)
    const store = new Store({ name: 'n', path })
    expect(await store.search('apple')).toEqual([{ content: 'an apple', metadata: { n: 1, _relevanceScore: 1 } }])
    await store.add('a plum')
    expect(readFileSync(path, 'utf8')).toBe(layOut([...records, readRecords(path)[2]]))
  })

  it('may be an empty array', async () => {
    const path = notes()
    writeFileSync(path, ' [ ] ')
    const store = new Store({ name: 'n', path })
    expect(await store.search('text')).toEqual([])
    await store.add('text')
    expect(readFileSync(path, 'utf8')).toBe(layOut(readRecords(path)))
  })

  it('may have any white space, which the next rewrite lays out like JSON.stringify', async () => {
    const path = notes()
    const records = [
      { ...record(1, 'one', { empty: {}, list: [], nested: { a: [1, [2], { b: {} }] } }), extra: [[], {}, [{}]] },
      record(2, 'two'),
    ]
    writeFileSync(path, layOut(records).replaceAll(/\n\s*/g, ' \r\t'))
    await new Store({ name: 'n', path }).add('three')
    expect(readFileSync(path, 'utf8')).toBe(layOut([...records, readRecords(path)[2]]))
  })

  it('may have its fields in any order, and fields that nobody knows', async () => {
    const path = notes()
    const odd = {
      z: [1],
      metadata: { k: 'v' },
      createdAt: '2025-01-01T00:00:00.000Z',
      content: 'odd one',
      id: 'any id',
      a: null,
    }
    writeRecords(path, [odd])
    const store = new Store({ name: 'n', path })
    expect(await store.search('odd')).toEqual([{ content: 'odd one', metadata: { k: 'v', _relevanceScore: 1 } }])
    expect(await store.add('odd one')).toEqual({ id: 'any id' })
    await store.add('new one')
    expect(readFileSync(path, 'utf8')).toBe(layOut([odd, readRecords(path)[1]]))
  })

  it('may repeat a key: the last one counts', async () => {
    const path = notes()
    writeFileSync(
      path,
      '[{"id":"1","content":"first","createdAt":"t","metadata":{"k":1,"k":2},"content":"last","id":"2"}]',
    )
    const store = new Store({ name: 'n', path })
    expect(await store.search('first')).toEqual([])
    expect(await store.search('last')).toEqual([{ content: 'last', metadata: { k: 2, _relevanceScore: 1 } }])
    expect(await store.add('last')).toEqual({ id: '2' })
  })

  it('may escape what needs no escape, and the text is the same', async () => {
    const path = notes()
    writeFileSync(path, String.raw`[{"\u0069d":"1","content":"caf\u00e9 \ud83d\ude00 \/ \u0000","createdAt":"t"}]`)
    const store = new Store({ name: 'n', path })
    expect(await store.search('café')).toEqual([{ content: 'café \u{1f600} / \0', metadata: { _relevanceScore: 1 } }])
    expect(await store.add('café \u{1f600} / \0')).toEqual({ id: '1' })
  })
})

describe('a record that we did not write', () => {
  // The SDKs parse and print every record anew at each add, and so change it; CONTRACT.md: kept exactly.
  it.each([
    ['64-bit integers', '"n": 1161888007138312192'],
    ['1.0 and 1e22', '"f": 1.0, "e": 1e22, "g": 1E+2, "z": -0, "y": 0.10, "x": 1e400, "w": 5e-999'],
    ['more digits than a double has', '"d": 3.14159265358979323846264338327950288'],
    ['unknown fields', '"tags": ["a", {"b": null}], "": "empty key"'],
    ['repeated keys', '"metadata": {"k": 1, "k": 2}, "k": 1, "k": [2]'],
    ['escapes', String.raw`"s": "caf\u00e9 \u2028 \/ \u0041 \ud83d\ude00", "\u006b": 1`],
    ['lone surrogates', String.raw`"s": "\ud800 \uDFFF", "\uD800": 1`],
    ['raw control characters that JSON allows', '"s": "\u007f\u0080\u2028\u2029\ufeff"'],
    ['NaN and Infinity', '"metadata": {"a": NaN, "b": Infinity, "c": [-Infinity]}, "n": NaN'],
    ['a metadata of null', '"metadata": null'],
    ['__proto__', '"__proto__": {"x": 1}, "metadata": {"__proto__": {"y": 2}}'],
  ])('is unchanged by our rewrite: %s', async (_, fields) => {
    const path = notes()
    const written = `{"createdAt": "then", ${fields}, "content": "an apple", "id": "1"}`
    writeFileSync(path, `[${written}, ${written.replace('apple', 'pear')}]`)
    const store = new TestMemoryStore({ name: 'n', path })
    await store.add('one')
    await Promise.all([store.add('two'), store.add('three')])
    await new TestMemoryStore({ name: 'n', path }).add('four')
    const text = readFileSync(path, 'utf8')
    // Apart from white space outside of strings, both records stand there as they were.
    const squeezed = squeeze(text)
    expect(squeezed.startsWith(`[${squeeze(written)},${squeeze(written.replace('apple', 'pear'))},{"id":`)).toBe(true)
    expect(text.match(/"content": "(one|two|three|four)"/g)).toHaveLength(4)
  })

  it('is laid out like JSON.stringify does', async () => {
    const { path, store } = storeOn(
      '[{"id":"1","content":"an apple","createdAt":"t","n":1.0,"a":[ ],"o":{ },"l":[1,{"x":NaN}]}]',
    )
    await store.add('a pear')
    const head = [
      '[',
      '  {',
      '    "id": "1",',
      '    "content": "an apple",',
      '    "createdAt": "t",',
      '    "n": 1.0,',
      '    "a": [],',
      '    "o": {},',
      '    "l": [',
      '      1,',
      '      {',
      '        "x": NaN',
      '      }',
      '    ]',
      '  },',
      '  {',
      '    "id": "',
    ]
    expect(readFileSync(path, 'utf8').startsWith(head.join('\n'))).toBe(true)
  })

  it('gives NaN and Infinity, as Python writes them, as numbers', async () => {
    const { store } = storeOn(
      '[{"id": "1", "content": "an apple", "createdAt": "t", "metadata": {"a": NaN, "b": Infinity, "c": [-Infinity, {"d": NaN}]}}]',
    )
    expect(await store.search('apple')).toStrictEqual([
      {
        content: 'an apple',
        metadata: {
          a: Number.NaN,
          b: Number.POSITIVE_INFINITY,
          c: [Number.NEGATIVE_INFINITY, { d: Number.NaN }],
          _relevanceScore: 1,
        },
      },
    ])
  })

  it('gives numbers as JSON.parse does', async () => {
    const numbers =
      '[1161888007138312192, 1.0, 1e22, -0, -0.0, 1e400, -1e400, 5e-324, 2e-324, 0.1, 123456789012345678901234567890, 9007199254740993]'
    const { store } = storeOn(`[{"id": "1", "content": "an apple", "createdAt": "t", "metadata": {"n": ${numbers}}}]`)
    const [entry] = await store.search('apple')
    expect(entry!.metadata!.n).toStrictEqual(JSON.parse(numbers))
  })

  it('gives __proto__ in metadata as an own key, and touches no prototype', async () => {
    const { store } = storeOn(
      '[{"id": "1", "content": "an apple", "createdAt": "t", "metadata": {"__proto__": {"polluted": 1}, "o": {"__proto__": 2}}}]',
    )
    const metadata = (await store.search('apple'))[0]!.metadata!
    expect(Object.keys(metadata)).toEqual(['__proto__', 'o', '_relevanceScore'])
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype)
    expect(JSON.stringify(metadata)).toBe('{"__proto__":{"polluted":1},"o":{"__proto__":2},"_relevanceScore":1}')
    expect('polluted' in metadata).toBe(false)
    expect('polluted' in {}).toBe(false)
  })
})

describe('the place of the file', () => {
  // In the first three the SDK puts a new file in the place of what was there.
  it('may be a symbolic link, which is written through', async () => {
    const [directory, elsewhere] = [scratchDirectory(), scratchDirectory()]
    writeRecords(join(elsewhere, 'real.json'), [record(1, 'an apple')])
    symlinkSync(join(elsewhere, 'real.json'), join(directory, 'notes.json'))
    const path = join(directory, 'notes.json')
    const store = new TestMemoryStore({ name: 'n', path })
    expect(await store.search('apple')).toHaveLength(1)
    await store.add('a pear')
    expect(readlinkSync(path)).toBe(join(elsewhere, 'real.json'))
    expect(readRecords(join(elsewhere, 'real.json'))).toHaveLength(2)
    expect([readdirSync(directory), readdirSync(elsewhere)]).toEqual([['notes.json'], ['real.json']])
  })

  it('may be a dangling link: the first add creates what it points to', async () => {
    const [directory, elsewhere] = [scratchDirectory(), scratchDirectory()]
    const path = join(directory, 'notes.json')
    symlinkSync(join(elsewhere, 'new/real.json'), path)
    mkdirSync(join(elsewhere, 'new'))
    const store = new TestMemoryStore({ name: 'n', path })
    expect(await store.search('apple')).toEqual([])
    await store.add('an apple')
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    expect(readRecords(join(elsewhere, 'new/real.json'))).toHaveLength(1)
    expect(await store.search('apple')).toHaveLength(1)
  })

  it('may be reached by two names, whose stores lose nothing of each other', async () => {
    const directory = scratchDirectory()
    mkdirSync(join(directory, 'sub'))
    symlinkSync('../real.json', join(directory, 'sub/link.json'))
    symlinkSync('sub', join(directory, 'sub-link'))
    const names = ['real.json', 'sub/link.json', 'sub/../real.json', 'sub-link/link.json', './/real.json']
    const stores = names.map((name) => new TestMemoryStore({ name: 'n', path: `${directory}/${name}` }))
    await Promise.all(Array.from({ length: 100 }, (_, n) => stores[n % stores.length]!.add(`fact ${n}`)))
    expect(new Set(readRecords(join(directory, 'real.json')).map(({ content }) => content)).size).toBe(100)
    for (const store of stores) expect(await store.search('fact', { maxSearchResults: 1_000 })).toHaveLength(100)
  })

  it.each(['600', '640', '444', '666'])('keeps the mode %s of an existing file', async (mode) => {
    const { path, store } = storeOn('[]')
    chmodSync(path, Number.parseInt(mode, 8))
    await store.add('text')
    expect(modeOf(path)).toBe(mode)
    expect(readRecords(path)).toHaveLength(1)
  })

  it.each(memoryStores)('gets what the umask leaves when %s creates it', async (who) => {
    const directory = scratchDirectory()
    await runScript(`
      const { TestMemoryStore } = await load('${who}')
      process.umask(0o077)
      await new TestMemoryStore({ name: 'n', path: ${JSON.stringify(join(directory, 'private/notes.json'))} }).add('text')
      console.log('null')
    `)
    expect([modeOf(join(directory, 'private')), modeOf(join(directory, 'private/notes.json'))]).toEqual(['700', '600'])
  })

  it('may not be a directory', async () => {
    const path = notes()
    mkdirSync(path)
    const store = new TestMemoryStore({ name: 'n', path })
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'EISDIR' } })
      expect(error.message).toMatch(/^TestMemoryStore: /)
      expect(error.message).toContain(path)
    }
    expect(readdirSync(path)).toEqual([])
  })

  it('may not be a link that leads back to itself', async () => {
    const path = notes()
    symlinkSync('notes.json', path)
    const store = new TestMemoryStore({ name: 'n', path })
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'ELOOP' } })
      expect(error.message).toContain(path)
    }
  })

  it('may not have a NUL in its name', async () => {
    const directory = scratchDirectory()
    const store = new TestMemoryStore({ name: 'n', path: join(directory, 'a\0b.json') })
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error.message).toMatch(/^TestMemoryStore: /)
    }
    expect(readdirSync(directory)).toEqual([])
  })

  it('may have a name of 255 bytes', async () => {
    const path = join(scratchDirectory(), `${'n'.repeat(250)}.json`)
    await new TestMemoryStore({ name: 'n', path }).add('text')
    expect(readRecords(path)).toHaveLength(1)
  })

  it('is named in full when its name is too long', async () => {
    const path = join(scratchDirectory(), 'n'.repeat(256))
    const store = new TestMemoryStore({ name: 'n', path })
    for (const error of [await rejectionOf(store.search('text')), await rejectionOf(store.add('text'))]) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'ENAMETOOLONG' } })
      expect(error.message).toContain(path)
    }
  })

  it('is named in full when the path was relative', async () => {
    const directory = scratchDirectory()
    const result = await runScript<{ message: string }>(`
      import { writeFileSync } from 'node:fs'
      const { TestMemoryStore } = await load('native')
      process.chdir(${JSON.stringify(directory)})
      writeFileSync('notes.json', '{}')
      console.log(JSON.stringify(await outcome(new TestMemoryStore({ name: 'n', path: 'notes.json' }).search('text'))))
    `)
    expect(result.message).toContain(join(directory, 'notes.json'))
  })

  it('can be read and not written in a read-only directory', async () => {
    const directory = scratchDirectory()
    const path = join(directory, 'notes.json')
    writeRecords(path, [record(1, 'an apple')])
    const before = readFileSync(path, 'utf8')
    chmodSync(directory, 0o555)
    const [found, again, added] = await runScript<Record<string, unknown>[]>(`
      const { TestMemoryStore } = await load('native')
      dropRights()
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(path)} })
      console.log(JSON.stringify([
        await outcome(store.search('apple')),
        await outcome(store.add('an apple')),
        await outcome(store.add('a pear')),
      ]))
    `)
    chmodSync(directory, 0o755)
    expect(found).toMatchObject({ value: [{ content: 'an apple' }] })
    expect(again).toEqual({ value: { id: record(1, '').id } })
    expect(added).toEqual({
      rejected: 'StorageError',
      message: expect.stringMatching(/^TestMemoryStore: /),
      code: 'EACCES',
    })
    expect(added!.message).toContain(path)
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(directory)).toEqual(['notes.json'])
  })

  it('can be written in a directory that cannot be listed', async () => {
    const directory = scratchDirectory()
    const path = join(directory, 'open/notes.json')
    mkdirSync(join(directory, 'open'))
    chmodSync(directory, 0o755)
    chmodSync(join(directory, 'open'), 0o333)
    const result = await runScript(
      `
      const { TestMemoryStore } = await load('native')
      dropRights()
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(path)} })
      await store.add('an apple')
      console.log(JSON.stringify(await outcome(store.search('apple'))))
      `,
    )
    chmodSync(join(directory, 'open'), 0o755)
    expect(result).toEqual({ value: [{ content: 'an apple', metadata: { _relevanceScore: 1 } }] })
    expect(readdirSync(join(directory, 'open'))).toEqual(['notes.json'])
  })

  it('is not taken for missing when it may not be read', async () => {
    const directory = scratchDirectory()
    const path = join(directory, 'notes.json')
    writeRecords(path, [record(1, 'an apple')])
    chmodSync(path, 0o000)
    chmodSync(directory, 0o777)
    const outcomes = await runScript<Record<string, unknown>[]>(`
      const { TestMemoryStore } = await load('native')
      dropRights()
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(path)} })
      console.log(JSON.stringify([await outcome(store.search('apple')), await outcome(store.add('a pear'))]))
    `)
    for (const outcome of outcomes) {
      expect(outcome).toEqual({ rejected: 'StorageError', message: expect.stringContaining(path), code: 'EACCES' })
    }
    chmodSync(path, 0o600)
    expect(readRecords(path)).toHaveLength(1)
  })

  it('leaves no scratch file and the old records when the disk is full', async () => {
    const directory = scratchDirectory()
    const path = join(directory, 'notes.json')
    writeRecords(path, [record(1, 'an apple')])
    const [failed, found] = await runScript<Record<string, unknown>[]>(
      `
      const { TestMemoryStore } = await load('native')
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(path)} })
      const failed = await outcome(store.add('x'.repeat(1_000_000)))
      await store.add('small')
      console.log(JSON.stringify([failed, await outcome(store.search('small apple'))]))
      `,
      { ulimit: '-f 64' },
    )
    expect(failed).toEqual({ rejected: 'StorageError', message: expect.stringContaining(path), code: 'EFBIG' })
    expect(found).toMatchObject({ value: [{ content: 'small' }, { content: 'an apple' }] })
    expect(readdirSync(directory)).toEqual(['notes.json'])
  })

  it('has nothing visible beside it, whatever was done', async () => {
    const path = notes()
    const store = new TestMemoryStore({ name: 'n', path })
    await Promise.all(Array.from({ length: 30 }, (_, n) => store.add(`fact ${n}`)))
    await rejectionOf(store.add('text', { n: 1n } as never))
    await store.search('fact')
    expect(readdirSync(join(path, '..'))).toEqual(['notes.json'])
  })

  it('is not created by a search, nor by an add that fails', async () => {
    const directory = scratchDirectory()
    const store = new TestMemoryStore({ name: 'n', path: join(directory, 'sub/notes.json') })
    await store.search('text')
    await rejectionOf(store.add(' '))
    await rejectionOf(store.add('text', { n: 1n } as never))
    expect(existsSync(join(directory, 'sub/notes.json'))).toBe(false)
  })
})

describe('a file of 100,000 records', () => {
  it('is searched and added to, and keeps every record', async () => {
    const path = notes()
    const records = Array.from({ length: 100_000 }, (_, n) => record(n, `fact ${n} of group${n % 1_000}`, { n }))
    writeRecords(path, records)
    const before = readFileSync(path, 'utf8')
    const store = new TestMemoryStore({ name: 'n', path })
    const found = await store.search('group77 99077')
    expect(found.map(({ content }) => content).slice(0, 2)).toEqual(['fact 99077 of group77', 'fact 98077 of group77'])
    expect(await store.add('fact 500 of group500')).toEqual({ id: records[500]!.id })
    await store.add('a needle')
    const after = readFileSync(path, 'utf8')
    expect(after.startsWith(before.slice(0, -2))).toBe(true)
    expect(readRecords(path)).toHaveLength(100_001)
    expect(await store.search('needle')).toHaveLength(1)
  })
})

/** JSON text without the white space between its tokens. */
function squeeze(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text: string | undefined) => text ?? '')
}
