// Whatever is passed to a method that returns a promise, it returns a promise: a fault is a rejection.
import { describe, expect, it } from 'vitest'
import { nativeStorage, TestMemoryStore } from './implementations.js'
import { ourS3Storages } from './s3.js'
import { scratchDirectory } from './scratch-directory.js'

const thrower = (): never => {
  throw new RangeError('thrown by the argument')
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

/** Values that make trouble when they are looked at, converted or serialised. */
const zoo: [string, () => unknown][] = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['a boolean', () => true],
  ['a number', () => 0],
  ['NaN', () => Number.NaN],
  ['a BigInt', () => 1n],
  ['a symbol', () => Symbol('s')],
  ['an empty string', () => ''],
  ['a lone surrogate', () => '\ud800'],
  ['a String object', () => new String('text')],
  ['a function', () => () => 'text'],
  ['a class', () => class {}],
  ['an array', () => ['text']],
  ['an object without prototype', () => Object.create(null)],
  ['a Date', () => new Date(Number.NaN)],
  ['a promise', () => Promise.resolve('text')],
  ['a Map', () => new Map()],
  ['a DataView', () => new DataView(new ArrayBuffer(8))],
  ['an ArrayBuffer', () => new ArrayBuffer(8)],
  ['shared memory', () => new Uint8Array(new SharedArrayBuffer(8))],
  [
    'a Uint8Array whose buffer is gone',
    () => {
      const array = new Uint8Array(8)
      structuredClone(array.buffer, { transfer: [array.buffer] })
      return array
    },
  ],
  ['an object that throws when it is read', () => new Proxy({}, { get: thrower, has: thrower, ownKeys: thrower })],
  ['a getter that throws', () => Object.defineProperty({}, 'maxSearchResults', { get: thrower, enumerable: true })],
  [
    'a conversion that throws',
    () => ({ toString: thrower, valueOf: thrower, toJSON: thrower, [Symbol.toPrimitive]: thrower }),
  ],
  ['a proxy of a string array', () => new Proxy(['text'], {})],
  ['a revoked proxy', revokedProxy],
]

type Call = (value: never) => Promise<unknown>

const storages: [
  string,
  () => InstanceType<(typeof nativeStorage)['InMemoryStorage' | 'LocalFileStorage' | 'S3Storage']>,
][] = [
  ['InMemoryStorage', () => new nativeStorage.InMemoryStorage()],
  ['LocalFileStorage', () => new nativeStorage.LocalFileStorage(scratchDirectory())],
  ...ourS3Storages,
]

/** Makes each call with each value of the zoo, and tells which of them threw or gave no promise. */
async function misbehaving(calls: Record<string, Call>): Promise<string[]> {
  const found: string[] = []
  const settled: Promise<unknown>[] = []
  for (const [name, call] of Object.entries(calls)) {
    for (const [kind, make] of zoo) {
      try {
        const promise = call(make() as never)
        if (!(promise instanceof Promise)) found.push(`${name} with ${kind} gave no promise`)
        settled.push(Promise.resolve(promise).catch(() => {}))
      } catch (error) {
        found.push(`${name} with ${kind} threw ${String(error)}`)
      }
    }
  }
  await Promise.all(settled)
  return found
}

describe.each(storages)('every method of native %s returns a promise', (_, open) => {
  it('for any argument', async () => {
    const storage = open()
    const view = open().namespace('n')
    const calls: Record<string, Call> = {
      read: (value) => storage.read(value),
      delete: (value) => storage.delete(value),
      list: (value) => storage.list(value),
      search: (value) => storage.search(value),
      'write of a key': (value) => storage.write(value, new Uint8Array(1)),
      'write of data': (value) => storage.write('k', value),
      'read of a view': (value) => view.read(value),
      'write of a view': (value) => view.write('k', value),
      'list of a view': (value) => view.list(value),
      'search of a view': (value) => view.search!(value),
    }
    expect(await misbehaving(calls)).toEqual([])
  })

  it('without arguments', async () => {
    const storage = open()
    const bare = storage as unknown as Record<string, () => Promise<unknown>>
    for (const name of ['read', 'write', 'delete', 'list', 'search']) {
      const call = bare[name]!()
      expect(call).toBeInstanceOf(Promise)
      await expect(call).rejects.toBeInstanceOf(TypeError)
    }
  })
})

describe('every method of native TestMemoryStore returns a promise', () => {
  it('for any argument, and the store is usable afterwards', async () => {
    const store = new TestMemoryStore({ name: 'n', persist: false })
    const calls: Record<string, Call> = {
      'search of a query': (value) => store.search(value),
      'search with options': (value) => store.search('text', value),
      'search with a limit': (value) => store.search('text', { maxSearchResults: value }),
      'add of a content': (value) => store.add(value),
      'add of metadata': (value) => store.add('text', value),
      'add of metadata inside': (value) => store.add('text', { value }),
    }
    expect(await misbehaving(calls)).toEqual([])
    await store.add('an apple')
    expect(await store.search('apple')).toHaveLength(1)
  })

  it('without arguments', async () => {
    const bare = new TestMemoryStore({ name: 'n', persist: false }) as unknown as Record<string, () => Promise<unknown>>
    for (const name of ['search', 'add']) {
      const call = bare[name]!()
      expect(call).toBeInstanceOf(Promise)
      await expect(call).rejects.toBeInstanceOf(TypeError)
    }
  })
})

describe('every constructor', () => {
  it('throws an Error or builds an object, for any argument', () => {
    const wrong: string[] = []
    for (const [name, Class] of Object.entries({ ...nativeStorage, TestMemoryStore })) {
      for (const [kind, make] of zoo) {
        try {
          const built = new (Class as unknown as new (value: unknown) => object)(make())
          if (!(built instanceof Class)) wrong.push(`${name} of ${kind} built something else`)
        } catch (error) {
          if (!(error instanceof Error)) wrong.push(`${name} of ${kind} threw ${String(error)}`)
        }
      }
    }
    expect(wrong).toEqual([])
  })
})
