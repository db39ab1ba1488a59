// What a TestMemoryStore remembers and finds: the SDK's and ours, call by call.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { runScript } from './child-program.js'
import { memoryStores, SdkTestMemoryStore, TestMemoryStore } from './implementations.js'
import { readRecords, record, withoutIdsAndTimes, writeRecords } from './memory-records.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf, rejectionsOf } from './settled.js'

vi.setConfig({ testTimeout: 60_000 })

const notes = (): string => join(scratchDirectory(), 'notes.json')

const contentsOf = (entries: { content: string }[]): string[] => entries.map(({ content }) => content)

describe.each(memoryStores)('a new %s TestMemoryStore', (_, Store) => {
  it.each([
    [{ name: '' }, 'TestMemoryStore: name must not be empty.'],
    [{ name: ' \t\ufeff' }, 'TestMemoryStore: name must not be empty.'],
    [{ name: 'n', path: '' }, 'TestMemoryStore: path must not be empty.'],
    [{ name: 'n', path: '  ' }, 'TestMemoryStore: path must not be empty.'],
    [{ name: 'n', path: ' ', persist: false }, 'TestMemoryStore: path must not be empty.'],
    [{ name: 'n', maxSearchResults: 0 }, 'TestMemoryStore: maxSearchResults must be at least 1.'],
    [{ name: 'n', maxSearchResults: -1 }, 'TestMemoryStore: maxSearchResults must be at least 1.'],
    [{ name: 'n', maxSearchResults: 0.5 }, 'TestMemoryStore: maxSearchResults must be at least 1.'],
    [{ name: '', path: '', maxSearchResults: 0 }, 'TestMemoryStore: name must not be empty.'],
  ])('refuses %j', (options, message) => {
    expect(() => new Store(options)).toThrow(new Error(message))
  })

  it.each([[undefined], [null], [{}], [{ name: 5 }], [{ name: 'n', path: 5 }]])(
    'throws a TypeError for %j',
    (options) => {
      expect(() => new Store(options as unknown as { name: string })).toThrow(TypeError)
    },
  )

  it('cannot be called without new', () => {
    expect(() => (Store as unknown as (options: object) => void)({ name: 'n' })).toThrow(TypeError)
  })

  it('takes inherited and computed options', () => {
    const options = Object.create({ name: 'inherited', maxSearchResults: 3 }, { writable: { get: () => false } })
    expect(new Store(options)).toMatchObject({ name: 'inherited', maxSearchResults: 3, writable: false })
  })

  it('hands on what an option throws when it is read', async () => {
    const error = new RangeError('by the getter')
    const throwing = (key: string) =>
      Object.defineProperty({ name: 'n' }, key, {
        get: () => {
          throw error
        },
      })
    for (const key of ['name', 'path', 'maxSearchResults']) expect(() => new Store(throwing(key))).toThrow(error)
    const options = throwing('maxSearchResults') as never
    expect(await rejectionOf(new Store({ name: 'n', persist: false }).search('text', options))).toBe(error)
  })

  it('shows its configuration as own properties', () => {
    const extraction = { filter: { exclude: [] } }
    const options = { name: 'n', description: 'what it is for', maxSearchResults: 3, writable: false, extraction }
    const store = new Store(options)
    expect(store).toMatchObject(options)
    expect(store.extraction).toBe(extraction)
    expect(Object.keys(store)).toEqual(expect.arrayContaining(Object.keys(options)))
  })

  it('is writable, and leaves undefined what was not given', () => {
    const store = new Store({ name: 'n' })
    expect(store.writable).toBe(true)
    expect([store.description, store.maxSearchResults, store.extraction]).toEqual([undefined, undefined, undefined])
    expect(Object.keys(store)).toEqual(
      expect.arrayContaining(['name', 'description', 'maxSearchResults', 'writable', 'extraction']),
    )
  })

  it.each([[Number.NaN], [1.5], [Number.POSITIVE_INFINITY]])('accepts a limit of %d', (maxSearchResults) => {
    expect(new Store({ name: 'n', maxSearchResults }).maxSearchResults).toBe(maxSearchResults)
  })

  it('has no method that the memory manager would take for more than search and add', () => {
    const store = new Store({ name: 'n' })
    expect(['search', 'add'].map((name) => name in store)).toEqual([true, true])
    expect(['addMessages', 'initialize', 'getTools'].map((name) => name in store)).toEqual([false, false, false])
  })

  it('can be extended', async () => {
    class Counting extends (Store as typeof TestMemoryStore) {
      searches = 0
      override async search(query: string) {
        this.searches += 1
        return super.search(query)
      }
    }
    const store = new Counting({ name: 'n', persist: false })
    await store.add('an apple')
    expect(contentsOf(await store.search('apple'))).toEqual(['an apple'])
    expect([store.searches, store.name, store instanceof Store]).toEqual([1, 'n', true])
  })

  it('reads, writes and creates nothing', async () => {
    const directory = scratchDirectory()
    new Store({ name: 'n', path: join(directory, 'deep/notes.json') })
    expect(readdirSync(directory)).toEqual([])
  })
})

describe.each(memoryStores)('the add of a %s TestMemoryStore', (who, Store) => {
  it('writes a record with an id, the content, the time and the metadata, and resolves to the id alone', async () => {
    const path = notes()
    const before = Date.now()
    const result = await new Store({ name: 'n', path }).add('User prefers aisle seats', { category: 'travel' })
    const [written] = readRecords(path)
    expect(result).toStrictEqual({ id: written!.id })
    expect(Object.keys(written!)).toEqual(['id', 'content', 'createdAt', 'metadata'])
    expect(written).toMatchObject({ content: 'User prefers aisle seats', metadata: { category: 'travel' } })
    expect(written!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Date(written!.createdAt).toISOString()).toBe(written!.createdAt)
    expect(Date.parse(written!.createdAt)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(written!.createdAt)).toBeLessThanOrEqual(Date.now())
  })

  it('puts the time into the id', async () => {
    const before = Date.now()
    const { id } = await new Store({ name: 'n', persist: false }).add('text')
    const time = Number.parseInt(id.replace('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(Date.now())
  })

  it('gives ids that increase, in the order of the calls', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    const ids = (await Promise.all(Array.from({ length: 200 }, (_, n) => store.add(`fact ${n}`)))).map(({ id }) => id)
    ids.push((await store.add('one more')).id, (await store.add('and another')).id)
    expect(new Set(ids).size).toBe(202)
    expect(ids).toEqual([...ids].sort())
    expect(readRecords(path).map(({ id }) => id)).toEqual(ids)
    expect(readRecords(path)[7]!.content).toBe('fact 7')
  })

  it('creates the directories on the way to its file', async () => {
    const path = join(scratchDirectory(), 'a/b/c/notes.json')
    await new Store({ name: 'n', path }).add('text')
    expect(readRecords(path)).toHaveLength(1)
  })

  it('keeps the content as it is, spaces at its ends included', async () => {
    const store = new Store({ name: 'n', path: notes() })
    await store.add('  padded text\n')
    expect(contentsOf(await store.search('padded'))).toEqual(['  padded text\n'])
  })

  it('gives the id of the first record for the same text: at once, in another instance, and with other metadata', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    const [first, second] = await Promise.all([store.add('same text', { n: 1 }), store.add(' same text\n', { n: 2 })])
    const third = await store.add('same text')
    const fourth = await new Store({ name: 'other', path }).add('\tsame text')
    expect([second.id, third.id, fourth.id]).toEqual([first.id, first.id, first.id])
    expect(readRecords(path)).toMatchObject([{ content: 'same text', metadata: { n: 1 } }])
  })

  it('does not touch the file when there is nothing to add', async () => {
    const path = notes()
    writeFileSync(path, '[ {"id": "1", "content": "text", "createdAt": "then"} ]')
    expect(await new Store({ name: 'n', path }).add('text')).toEqual({ id: '1' })
    expect(readFileSync(path, 'utf8')).toBe('[ {"id": "1", "content": "text", "createdAt": "then"} ]')
  })

  // Every character that String.prototype.trim() takes away, and some that look as if it did.
  const SPACES = [...'\t\n\v\f\r \u00a0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000\ufeff']
  const NO_SPACES = [...'\u0085\u180e\u200b\u200c\u200d\u2060\0\u001c\u001f']

  it('compares after trimming as JavaScript does', async () => {
    const store = new Store({ name: 'n', persist: false })
    const { id } = await store.add('text')
    for (const space of SPACES)
      expect(await store.add(`${space}text${space}${space}`), JSON.stringify(space)).toEqual({ id })
    for (const other of NO_SPACES) {
      expect((await store.add(`${other}text`)).id, JSON.stringify(other)).not.toBe(id)
    }
  })

  it('takes records in the file that differ in outer spaces only for the same text', async () => {
    const path = notes()
    writeRecords(path, [record(1, '\ufeff first \u3000'), record(2, 'first')])
    expect(await new Store({ name: 'n', path }).add('first')).toEqual({ id: record(1, '').id })
  })

  it.each([
    ['no text', ''],
    ['spaces', ' \n\t'],
    ['a byte order mark', '\ufeff'],
    ['spaces of all kinds', SPACES.join('')],
  ])('refuses %s', async (_, content) => {
    const path = notes()
    const error = await rejectionOf(new Store({ name: 'n', path }).add(content))
    expect(error.message).toBe('TestMemoryStore: content must not be empty.')
    expect(existsSync(path)).toBe(false)
  })

  it('is refused where the store is not writable, whatever the content', async () => {
    const store = new Store({ name: 'n', path: notes(), writable: false })
    const errors = await rejectionsOf([store.add('text'), store.add('')])
    for (const error of errors) {
      expect(error.message).toBe(
        'TestMemoryStore: store is not writable. Set writable: true in config to enable add().',
      )
    }
    expect(await store.search('text')).toEqual([])
  })

  it('keeps four facts in scripts without Latin letters apart', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    const facts = [
      'ユーザーは窓側の席が好き',
      'ユーザーは通路側の席が好き',
      'उपयोगकर्ता को चाय पसंद है',
      'المستخدم يحب الشاي',
    ]
    for (const fact of facts) await store.add(fact)
    expect(readRecords(path).map(({ content }) => content)).toEqual(facts)
    expect(contentsOf(await store.search('الشاي'))).toEqual([facts[3]])
  })

  it.each([
    ['a number', 5],
    ['undefined', undefined],
    ['null', null],
    ['an array', ['text']],
    ['a symbol', Symbol('text')],
  ])('rejects with a TypeError, and does not throw, when the content is %s', async (_, wrong) => {
    const store = new Store({ name: 'n', persist: false })
    const call = store.add(wrong as unknown as string)
    expect(call).toBeInstanceOf(Promise)
    expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
    await store.add('goes on')
    expect(await store.search('goes')).toHaveLength(1)
  })

  it('keeps lone surrogates in content and metadata', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    const [high, low] = ['\ud800', '\udfff']
    await store.add(`high ${high}`, { [`key ${low}`]: `value ${high}${high}`, nested: [low] })
    await store.add(`high ${low}`)
    await store.add('high \u{1f600}')
    expect(readFileSync(path, 'utf8')).toContain('"high \\ud800"')
    const reader = new Store({ name: 'n', path })
    expect(contentsOf(await reader.search('high')).sort()).toEqual(
      [`high ${high}`, `high ${low}`, 'high \u{1f600}'].sort(),
    )
    const found = (await reader.search('high')).find(({ content }) => content === `high ${high}`)
    expect(found!.metadata).toEqual({ [`key ${low}`]: 'value \ud800\ud800', nested: ['\udfff'], _relevanceScore: 1 })
    expect(await store.add(`high ${high}`)).toEqual({ id: readRecords(path)[0]!.id })
  })

  it.each([
    ['BigInt', () => ({ n: 1n })],
    [
      'a cycle',
      () => {
        const cycle: Record<string, unknown> = {}
        cycle.self = cycle
        return cycle
      },
    ],
    ['BigInt deep inside', () => ({ a: [{ b: { c: [1n] } }] })],
  ])(
    'rejects metadata with %s by the TypeError of JSON.stringify, and leaves the store usable',
    async (_, metadata) => {
      const path = notes()
      const store = new Store({ name: 'n', path })
      await store.add('before')
      const expected = (() => {
        try {
          return JSON.stringify(metadata())
        } catch (error) {
          return error as Error
        }
      })() as Error
      const error = await rejectionOf(store.add('never stored', metadata() as never))
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message.split('\n')[0]).toBe(expected.message.split('\n')[0])
      await store.add('after')
      expect(readRecords(path).map(({ content }) => content)).toEqual(['before', 'after'])
    },
  )

  it.each([
    ['an error', new RangeError('by the getter')],
    ['a string', 'a plain string'],
    ['undefined', undefined],
  ])('hands on %s thrown by the metadata itself', async (_, thrown) => {
    const store = new Store({ name: 'n', persist: false })
    const throwing = {
      toJSON: () => {
        throw thrown
      },
    } as never
    expect(await rejectionOf(store.add('text', { throwing }))).toBe(thrown)
    await store.add('goes on')
    expect(await store.search('goes')).toHaveLength(1)
  })

  it('takes BigInt where the program has taught it toJSON', async () => {
    const store = new Store({ name: 'n', persist: false })
    try {
      Object.defineProperty(BigInt.prototype, 'toJSON', {
        value() {
          return `${this}`
        },
        configurable: true,
      })
      await store.add('an apple', { n: 12345678901234567890n } as never)
    } finally {
      delete (BigInt.prototype as { toJSON?: unknown }).toJSON
    }
    expect((await store.search('apple'))[0]!.metadata).toEqual({ n: '12345678901234567890', _relevanceScore: 1 })
  })

  it('rejects metadata that is nested 10,000 deep, and leaves the store usable', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    let deep: Record<string, unknown> = {}
    for (let depth = 0; depth < 10_000; depth += 1) deep = { deep }
    expect(await rejectionOf(store.add('never stored', deep as never))).toBeInstanceOf(Error)
    await store.add('after')
    expect(readRecords(path).map(({ content }) => content)).toEqual(['after'])
  })

  it('takes metadata that is nested 200 deep', async () => {
    const path = notes()
    let deep: Record<string, unknown> = {}
    for (let depth = 0; depth < 200; depth += 1) deep = { deep }
    const store = new Store({ name: 'n', path })
    await store.add('deep text', deep as never)
    expect((await store.search('deep'))[0]!.metadata).toEqual({ ...deep, _relevanceScore: 1 })
  })

  it('takes a content of one megabyte', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    const content = `needle ${'x'.repeat(1_000_000)}`
    const { id } = await store.add(content)
    expect(contentsOf(await new Store({ name: 'n', path }).search('needle'))).toEqual([content])
    expect(await store.add(content)).toEqual({ id })
  })

  it('keeps everything in memory with persist: false, apart from other instances', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path, persist: false })
    await store.add('an apple', { n: 1 })
    expect(await store.search('apple')).toEqual([{ content: 'an apple', metadata: { n: 1, _relevanceScore: 1 } }])
    expect(existsSync(path)).toBe(false)
    expect(await new Store({ name: 'n', path, persist: false }).search('apple')).toEqual([])
  })

  it('holds fifty adds that nobody waited for in between', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    const added = await Promise.all(Array.from({ length: 50 }, (_, n) => store.add(`fact ${n}`)))
    expect(readRecords(path).map(({ id }) => id)).toEqual(added.map(({ id }) => id))
  })

  it('writes beside the working directory of the moment where its path is relative', async () => {
    const root = scratchDirectory()
    for (const name of ['one', 'two']) mkdirSync(join(root, name))
    await runScript(`
      const { TestMemoryStore } = await load('${who}')
      const store = new TestMemoryStore({ name: 'n', path: './notes.json' })
      process.chdir(${JSON.stringify(join(root, 'one'))})
      await store.add('first')
      process.chdir(${JSON.stringify(join(root, 'two'))})
      await store.add('second')
      console.log('null')
    `)
    const contents = ['one', 'two'].map((name) => readRecords(join(root, name, 'notes.json')).map((r) => r.content))
    expect(contents).toEqual([['first'], ['second']])
  })
})

describe.each(memoryStores)('the search of a %s TestMemoryStore', (_, Store) => {
  it('ranks by distinct query words, and the newest first where they are equal', async () => {
    const path = notes()
    writeRecords(path, [
      record(5, 'red apple red red'),
      record(9, 'an apple'),
      record(1, 'a RED, green apple'),
      record(7, 'apple'),
      record(8, 'pear'),
    ])
    const found = await new Store({ name: 'n', path }).search('red green apple?')
    expect(found.map(({ content, metadata }) => [content, metadata!._relevanceScore])).toEqual([
      ['a RED, green apple', 3],
      ['red apple red red', 2],
      ['an apple', 1],
      ['apple', 1],
    ])
  })

  it('counts every word of the query, stop words too', async () => {
    const store = new Store({ name: 'n', persist: false })
    await store.add('what is it')
    expect((await store.search('what it is'))[0]!.metadata).toEqual({ _relevanceScore: 3 })
  })

  it('does not look into metadata or ids', async () => {
    const store = new Store({ name: 'n', persist: false })
    const { id } = await store.add('text', { category: 'travel' })
    expect(await store.search(`travel category ${id}`)).toEqual([])
  })

  it('finds nothing for a query without words, without a match, or without a file', async () => {
    const path = notes()
    const store = new Store({ name: 'n', path })
    expect(await store.search('text')).toEqual([])
    expect(existsSync(path)).toBe(false)
    await store.add('text')
    for (const query of ['', ' ', '?!', '\u{1f600}', 'absent', 'tex']) expect(await store.search(query)).toEqual([])
  })

  it('gives ten results where no limit is set', async () => {
    const path = notes()
    writeRecords(
      path,
      Array.from({ length: 25 }, (_, n) => record(n, `apple ${n}`)),
    )
    expect(contentsOf(await new Store({ name: 'n', path }).search('apple'))).toEqual(
      Array.from({ length: 10 }, (_, n) => `apple ${24 - n}`),
    )
  })

  it.each([
    [1, undefined, 1],
    [12, undefined, 12],
    [1.5, undefined, 1],
    [Number.POSITIVE_INFINITY, undefined, 25],
    [1e21, undefined, 25],
    [Number.NaN, undefined, 10],
    [undefined, undefined, 10],
    [undefined, 3, 3],
    [undefined, 2.9, 2],
    [undefined, Number.NaN, 10],
    [undefined, Number.POSITIVE_INFINITY, 25],
    [Number.NaN, 3, 3],
    [4, 3, 4],
  ])('with a limit of %d in the call and of %d in the store gives %d results', async (inCall, inStore, count) => {
    const path = notes()
    writeRecords(
      path,
      Array.from({ length: 25 }, (_, n) => record(n, `apple ${n}`)),
    )
    const store = new Store(
      inStore === undefined ? { name: 'n', path } : { name: 'n', path, maxSearchResults: inStore },
    )
    const options = inCall === undefined ? {} : { maxSearchResults: inCall }
    expect(await store.search('apple', options)).toHaveLength(count)
  })

  it.each([[0], [-1], [0.5], [-0], [Number.NEGATIVE_INFINITY]])(
    'refuses a limit of %d, even without a query',
    async (limit) => {
      const store = new Store({ name: 'n', persist: false })
      const calls = [store.search('apple', { maxSearchResults: limit }), store.search('', { maxSearchResults: limit })]
      for (const error of await rejectionsOf(calls)) {
        expect(error.message).toBe('TestMemoryStore: maxSearchResults must be at least 1.')
      }
    },
  )

  it.each([
    ['a number', 5],
    ['undefined', undefined],
    ['null', null],
    ['an object', {}],
  ])('rejects with a TypeError, and does not throw, when the query is %s', async (_, wrong) => {
    const call = new Store({ name: 'n', persist: false }).search(wrong as unknown as string)
    expect(call).toBeInstanceOf(Promise)
    expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
  })

  it('takes undefined and an empty object for no options', async () => {
    const store = new Store({ name: 'n', persist: false })
    await store.add('an apple')
    expect(await store.search('apple', undefined)).toHaveLength(1)
    expect(await store.search('apple', {})).toHaveLength(1)
  })

  it('puts its score over a _relevanceScore that the metadata had', async () => {
    const path = notes()
    writeRecords(path, [record(1, 'an apple', { _relevanceScore: 'mine', z: 1 })])
    const [entry] = await new Store({ name: 'n', path }).search('apple')
    expect(JSON.stringify(entry)).toBe('{"content":"an apple","metadata":{"_relevanceScore":1,"z":1}}')
  })

  it('reads a null for metadata as none', async () => {
    const path = notes()
    writeRecords(path, [record(1, 'an apple', null)])
    expect(await new Store({ name: 'n', path }).search('apple')).toStrictEqual([
      { content: 'an apple', metadata: { _relevanceScore: 1 } },
    ])
  })

  it('gives objects of its own each time', async () => {
    const store = new Store({ name: 'n', path: notes() })
    await store.add('an apple', { list: [1] })
    const [first] = await store.search('apple')
    first!.content = 'changed'
    ;(first!.metadata!.list as number[]).push(2)
    expect(await store.search('apple')).toEqual([{ content: 'an apple', metadata: { list: [1], _relevanceScore: 1 } }])
  })

  it('remembers across instances', async () => {
    const path = notes()
    await new Store({ name: 'n', path }).add('an apple', { n: 1 })
    expect(await new Store({ name: 'm', path }).search('apple')).toEqual([
      { content: 'an apple', metadata: { n: 1, _relevanceScore: 1 } },
    ])
  })
})

describe('records of equal score and time', () => {
  // CONTRACT.md decides: the later entry in the file first. The SDK's sort is stable and keeps the order of the file.
  it.each(memoryStores)('come out of %s by their place in the file', async (who, Store) => {
    const path = notes()
    const records = [1, 2, 3, 4].map((n) => ({ ...record(n, `apple ${n}`), createdAt: '2025-01-01T00:00:00.000Z' }))
    writeRecords(path, records)
    const inFile = records.map(({ content }) => content)
    expect(contentsOf(await new Store({ name: 'n', path }).search('apple'))).toEqual(
      who === 'native' ? inFile.reverse() : inFile,
    )
  })
})

describe('both stores', () => {
  const metadata: [string, unknown][] = [
    ['undefined', undefined],
    ['an empty object', {}],
    ['null', null],
    [
      'every kind of value',
      { s: 'text', n: 1.5, t: true, f: false, z: null, a: [1, 'two', null, []], o: { p: { q: {} } } },
    ],
    ['numbers', { a: -0, b: 1e21, c: 1e-7, d: 123456789012345680000, e: 0.1 + 0.2, f: 5e-324, g: 2 ** 53, h: -1e400 }],
    ['what is no number', { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: [Number.NEGATIVE_INFINITY] }],
    ['undefined inside', { gone: undefined, list: [undefined, () => 1, Symbol('s')], also: () => 1, s: Symbol('s') }],
    [
      'dates and toJSON',
      { d: new Date(0), j: { toJSON: (key: string) => `called with ${key}` }, n: { toJSON: () => undefined } },
    ],
    ['a toJSON of its own', { toJSON: (key: string) => ({ key }) }],
    ['wrapped primitives', { s: new String('s'), n: new Number(1), b: new Boolean(false) }],
    ['typed arrays and maps', { u: Uint8Array.of(1, 2), m: new Map([[1, 2]]), s: new Set([1]), r: /x/ }],
    ['number-like keys', { b: 1, 2: 'two', 1: 'one', '-1': 'minus', '01': 'padded' }],
    ['odd keys', JSON.parse('{"__proto__":{"x":1},"constructor":1,"toString":2,"":3,"a b":4,"\\u0000":5}')],
    ['text to escape', { q: '"\\/\b\f\n\r\t\u0000\u001f\u007f\u0080\u2028\u2029\ufeff', e: '\u{1f600}', k: 'é' }],
    ['lone surrogates', { '\ud800': '\udfff\ud800', ok: '\ud83d\ude00' }],
    [
      'inherited and hidden keys',
      Object.create({ inherited: 1 }, { hidden: { value: 1 }, own: { value: 2, enumerable: true } }),
    ],
    [
      'a getter',
      {
        get computed() {
          return 'once'
        },
      },
    ],
  ]

  it.each(metadata)('write the same bytes for metadata: %s', async (_, value) => {
    const [ours, theirs] = [notes(), notes()]
    await new TestMemoryStore({ name: 'n', path: ours }).add('an apple', value as never)
    await new SdkTestMemoryStore({ name: 'n', path: theirs }).add('an apple', value as never)
    expect(withoutIdsAndTimes(ours)).toBe(withoutIdsAndTimes(theirs))
  })

  it.each(metadata)('find equal entries, key by key, for metadata: %s', async (_, value) => {
    const path = notes()
    await new SdkTestMemoryStore({ name: 'n', path }).add('an apple', value as never)
    const [ours] = await new TestMemoryStore({ name: 'n', path }).search('apple')
    const [theirs] = await new SdkTestMemoryStore({ name: 'n', path }).search('apple')
    expect(ours).toStrictEqual(theirs)
    expect(JSON.stringify(ours)).toBe(JSON.stringify(theirs))
    expect(Object.getPrototypeOf(ours!.metadata)).toBe(Object.prototype)
  })

  it.each(metadata)('find equal entries without a file for metadata: %s', async (_, value) => {
    const entries = []
    for (const [, Store] of memoryStores) {
      const store = new Store({ name: 'n', persist: false })
      await store.add('an apple', value as never)
      entries.push(await store.search('apple'))
    }
    expect(entries[1]).toStrictEqual(entries[0])
  })

  it('write the same file for the same sequence of adds', async () => {
    const [ours, theirs] = [notes(), notes()]
    const contents = [
      'plain',
      ' padded ',
      'plain',
      'line\nbreak',
      '"quoted" \\ back',
      '復活 é e\u0301',
      '\u{1f600}',
      '\ud800',
      'last',
    ]
    const [native, sdk] = [
      new TestMemoryStore({ name: 'n', path: ours }),
      new SdkTestMemoryStore({ name: 'n', path: theirs }),
    ]
    for (const [n, content] of contents.entries()) {
      const value = n % 2 === 0 ? { n, content } : undefined
      await native.add(content, value)
      await sdk.add(content, value)
      expect(withoutIdsAndTimes(ours)).toBe(withoutIdsAndTimes(theirs))
    }
    expect(readRecords(ours)).toHaveLength(8)
  })

  it('rank a thousand records alike', async () => {
    const path = notes()
    const words = ['apple', 'pear', 'plum', 'fig', 'kiwi', 'Apfel', 'яблоко', '東京', 'x_1']
    writeRecords(
      path,
      Array.from({ length: 1_000 }, (_, n) =>
        record((n * 617) % 1_009, words.filter((_, w) => (n * 7919) % (w + 3) === 0).join(' ')),
      ),
    )
    const [native, sdk] = [new TestMemoryStore({ name: 'n', path }), new SdkTestMemoryStore({ name: 'n', path })]
    for (const query of ['apple', 'apple pear plum', 'ЯБЛОКО 東京 kiwi', 'x_1 x 1', words.join(' ')]) {
      for (const maxSearchResults of [1, 7, 100, 5_000]) {
        const options = { maxSearchResults }
        expect(await native.search(query, options)).toStrictEqual(await sdk.search(query, options))
      }
    }
  })
})

describe('the default path', () => {
  const names = [
    'notes',
    '../../etc',
    'a/b',
    'a\\b',
    '.',
    '..',
    '...',
    '\u{1f600}',
    'a b',
    'é',
    'x.y-z_1',
    'e\u0301',
    'A',
    '-',
    '\ud800',
    '復',
    'n'.repeat(190),
  ]

  it('is ~/.strands/memory/<name>.json, the name made as the SDK makes it', async () => {
    const [ours, theirs] = [scratchDirectory(), scratchDirectory()]
    const program = (who: string) => `
      const { TestMemoryStore } = await load('${who}')
      for (const name of ${JSON.stringify(names)}) await new TestMemoryStore({ name }).add(name + ' text')
      console.log('null')
    `
    await runScript(program('native'), { env: { HOME: ours } })
    await runScript(program('sdk'), { env: { HOME: theirs } })
    const files = (home: string) => readdirSync(join(home, '.strands/memory')).sort()
    expect(files(ours)).toEqual(files(theirs))
    expect(readdirSync(join(ours, '.strands'))).toEqual(['memory'])
    expect(readdirSync(ours)).toEqual(['.strands'])
    // By UTF-16 unit: an emoji becomes two underscores. The Python SDK makes it one.
    expect(files(ours)).toEqual(expect.arrayContaining(['notes.json', '__.json', 'x.y-z_1.json']))
  })

  it.each(memoryStores)('of %s is made from HOME as it is at the first call', async (who) => {
    const home = scratchDirectory()
    await runScript(`
      const { TestMemoryStore } = await load('${who}')
      const store = new TestMemoryStore({ name: 'notes' })
      process.env.HOME = ${JSON.stringify(join(home, 'first'))}
      await store.add('text')
      process.env.HOME = ${JSON.stringify(join(home, 'second'))}
      await store.add('more text')
      console.log('null')
    `)
    expect(readRecords(join(home, 'first/.strands/memory/notes.json'))).toHaveLength(2)
    expect(readdirSync(home)).toEqual(['first'])
  })
})

describe('native TestMemoryStore, unlike the SDK,', () => {
  // The SDK serialises metadata when its turn comes. Ours takes it at the call, as CONTRACT.md says of bytes.
  it('takes the metadata as it is at the call', async () => {
    const store = new TestMemoryStore({ name: 'n', persist: false })
    const metadata = { n: 1 }
    const added = store.add('an apple', metadata)
    metadata.n = 2
    await added
    expect((await store.search('apple'))[0]!.metadata).toEqual({ n: 1, _relevanceScore: 1 })
  })

  // The SDK writes each of these, and refuses to read the file ever after.
  it.each([
    ['a string', 'text'],
    ['a number', 5],
    ['an array', [1]],
    ['a Date, which JSON makes a string', new Date(0)],
    ['what toJSON makes an array', { toJSON: () => [] }],
    ['what toJSON makes a number', { toJSON: () => 5 }],
  ])('refuses metadata that is %s, as no record may hold it', async (_, metadata) => {
    const path = notes()
    const store = new TestMemoryStore({ name: 'n', path })
    await store.add('before')
    const call = store.add('never stored', metadata as never)
    expect(call).toBeInstanceOf(Promise)
    expect((await rejectionOf(call)).message).toMatch(/^TestMemoryStore: metadata /)
    expect(readRecords(path).map(({ content }) => content)).toEqual(['before'])
    expect(await store.search('before')).toHaveLength(1)
  })

  it('rejects options that are no object, and limits that are no number', async () => {
    const store = new TestMemoryStore({ name: 'n', persist: false })
    const wrong = [5, 'ten', { maxSearchResults: 'ten' }, { maxSearchResults: {} }] as never[]
    const calls = wrong.map((options) => store.search('apple', options))
    for (const call of calls) expect(call).toBeInstanceOf(Promise)
    for (const error of await rejectionsOf(calls)) expect(error).toBeInstanceOf(TypeError)
  })

  // The SDK takes 'ten' for a limit, and then finds nothing.
  it.each([['ten'], [null], [{}]])('refuses a limit of %j', (maxSearchResults) => {
    expect(() => new TestMemoryStore({ name: 'n', maxSearchResults: maxSearchResults as never })).toThrow(TypeError)
  })
})

describe('a native TestMemoryStore that cannot reach its file', () => {
  const program = (body: string) => `
    const { TestMemoryStore } = await load('native')
    ${body}
    const store = new TestMemoryStore({ name: 'notes' })
    console.log(JSON.stringify([await outcome(store.search('text')), await outcome(store.add('text'))]))
  `

  it('fails to add below a HOME that is a file, naming the backing file, and finds nothing', async () => {
    const home = join(scratchDirectory(), 'file')
    writeFileSync(home, '')
    const [found, added] = await runScript<Record<string, string>[]>(program(''), { env: { HOME: home } })
    expect(found).toEqual({ value: [] })
    expect(added!.rejected).toBe('StorageError')
    expect(added!.message).toMatch(/^TestMemoryStore: /)
    expect(added!.message).toContain(join(home, '.strands/memory/notes.json'))
    expect(['ENOTDIR', 'EEXIST']).toContain(added!.code)
  })

  it('creates a HOME that is missing', async () => {
    const home = join(scratchDirectory(), 'not/yet')
    const [found, added] = await runScript<Record<string, unknown>[]>(program(''), { env: { HOME: home } })
    expect(found).toEqual({ value: [] })
    expect(added).toEqual({ value: { id: expect.stringMatching(/^[0-9a-f-]{36}$/) } })
    expect(readRecords(join(home, '.strands/memory/notes.json'))).toHaveLength(1)
  })

  it('fails to add below a read-only HOME, naming the backing file', async () => {
    const home = scratchDirectory()
    const open = `import { chmodSync } from 'node:fs'; chmodSync(${JSON.stringify(home)}, 0o555); dropRights()`
    const [found, added] = await runScript<Record<string, string>[]>(program(open), { env: { HOME: home } })
    expect(found).toEqual({ value: [] })
    expect(added).toEqual({
      rejected: 'StorageError',
      message: expect.stringContaining(join(home, '.strands/memory/notes.json')),
      code: 'EACCES',
    })
  })

  it('asks the user database where HOME is unset', async () => {
    const home = await runScript<string>(`import os from 'node:os'; console.log(JSON.stringify(os.userInfo().homedir))`)
    const source = `
      import { existsSync } from 'node:fs'
      const { TestMemoryStore } = await load('native')
      const store = new TestMemoryStore({ name: 'strands native test, never written' })
      console.log(JSON.stringify(await outcome(store.search('text'))))
    `
    expect(home).toMatch(/^\//)
    expect(await runScript(source, { env: { HOME: undefined } })).toEqual({ value: [] })
  })

  // A user without a passwd entry has no home at all: only root can become one.
  it('rejects, and nothing worse, for a user without a home', async () => {
    const source = `
      const { TestMemoryStore } = await load('native')
      dropRights(54321)
      const store = new TestMemoryStore({ name: 'notes' })
      const volatile = new TestMemoryStore({ name: 'notes', persist: false })
      const volatileAdd = await outcome(volatile.add('text'))
      console.log(JSON.stringify([process.geteuid(), await outcome(store.search('text')), await outcome(store.add('text')), volatileAdd]))
    `
    const [user, found, added, volatile] = await runScript<[number, ...Record<string, string>[]]>(source, {
      env: { HOME: undefined },
    })
    expect(volatile).toHaveProperty('value.id')
    if (user === 54321) {
      expect(found!.message).toMatch(/^TestMemoryStore: .*notes\.json/)
      expect(added!.message).toMatch(/^TestMemoryStore: .*notes\.json/)
    } else {
      expect(found).toEqual({ value: [] })
    }
  })
})
