// What every storage does, whether it keeps bytes in memory, in files or in S3.
//
// Some distributed stores list for a moment what was deleted: listings after deletions are polled.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { StorageError } from 'strands-native'
import { describe, expect, it } from 'vitest'
import { type Backend, backends, open } from './backends.js'
import { nativeStorage, storages, type Who } from './implementations.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf, rejectionsOf, type Settled, settled } from './settled.js'
import { decode, encode } from './text-bytes.js'

const NAMESPACED = Symbol.for('strands.storage.namespaced')
const EPHEMERAL = Symbol.for('strands.storage.ephemeral')

const nativeBackends = backends.filter(([who]) => who === 'native')

describe.each(backends)('%s %s', (who, backend) => {
  it('gives back the bytes that were written', async () => {
    const storage = open(who, backend)
    const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    await storage.write('deep/down/all.bin', everyByte)
    expect(await storage.read('deep/down/all.bin')).toStrictEqual(everyByte)
  })

  it('resolves a write and a delete to undefined', async () => {
    const storage = open(who, backend)
    expect(await storage.write('k', encode('v'))).toBeUndefined()
    expect(await storage.delete('k')).toBeUndefined()
  })

  it('gives null for a key that was never written', async () => {
    const storage = open(who, backend)
    expect(await storage.read('missing')).toBeNull()
    expect(await storage.read('missing/below')).toBeNull()
  })

  it('keeps an empty value apart from a missing one', async () => {
    const storage = open(who, backend)
    await storage.write('empty', new Uint8Array(0))
    expect(await storage.read('empty')).toStrictEqual(new Uint8Array(0))
    expect(await storage.list('')).toEqual(['empty'])
  })

  it('replaces the value when a key is written again', async () => {
    const storage = open(who, backend)
    await storage.write('k', encode('a longer first value'))
    await storage.write('k', encode('second'))
    expect(decode(await storage.read('k'))).toBe('second')
    await storage.write('k', new Uint8Array(0))
    expect(await storage.read('k')).toStrictEqual(new Uint8Array(0))
  })

  it('forgets a deleted key, and deleting it again does nothing', async () => {
    const storage = open(who, backend)
    await storage.write('k', encode('v'))
    await storage.delete('k')
    await storage.delete('k')
    await storage.delete('never/was')
    expect(await storage.read('k')).toBeNull()
    await expect.poll(() => storage.list('')).toEqual([])
  })

  it('reads a plain Uint8Array with a buffer of its own', async () => {
    const storage = open(who, backend)
    await storage.write('k', encode('value'))
    const value = (await storage.read('k'))!
    expect(Object.getPrototypeOf(value)).toBe(Uint8Array.prototype)
    expect([value.byteOffset, value.buffer.byteLength]).toEqual([0, 5])
  })

  it('reads a fresh copy each time', async () => {
    const storage = open(who, backend)
    await storage.write('k', encode('value'))
    ;(await storage.read('k'))!.fill(0)
    expect(decode(await storage.read('k'))).toBe('value')
  })

  it('stores only the part of a buffer that a view shows', async () => {
    const storage = open(who, backend)
    await storage.write('array', encode('..value..').subarray(2, 7))
    await storage.write('buffer', Buffer.from('..value..').subarray(2, 7))
    expect(decode(await storage.read('array'))).toBe('value')
    expect(decode(await storage.read('buffer'))).toBe('value')
  })

  it('sorts a list by UTF-16 code units, as JavaScript sorts strings', async () => {
    const storage = open(who, backend)
    // By code point '\u{1f600}' comes last; by code unit it comes before '\uff5e'. A byte sort would differ too.
    const keys = ['z', '\uff5e', '\u{1f600}', 'Z', 'a/b', 'a-b', 'a', 'ä', 'a.b', '0', 'b/c/d', 'b/c-d', '\ue000']
    for (const key of keys.filter((key) => key !== 'a')) await storage.write(key, encode(key))
    expect(await storage.list('')).toEqual(keys.filter((key) => key !== 'a').sort())
  })

  it('lists the keys that begin with the prefix, at a slash or within a name', async () => {
    const storage = open(who, backend)
    for (const key of ['mem/a', 'mem/b/c', 'memory/d', 'men', 'x/mem']) await storage.write(key, encode(key))
    expect(await storage.list('mem')).toEqual(['mem/a', 'mem/b/c', 'memory/d'])
    expect(await storage.list('mem/')).toEqual(['mem/a', 'mem/b/c'])
    expect(await storage.list('mem/b')).toEqual(['mem/b/c'])
    expect(await storage.list('/mem//b/')).toEqual(['mem/b/c'])
    expect(await storage.list('mem/a/')).toEqual([])
    expect(await storage.list('nothing')).toEqual([])
  })

  it('collapses slashes, so that one entry has one name', async () => {
    const storage = open(who, backend)
    await storage.write('//a///b/', encode('v'))
    expect(await storage.list('')).toEqual(['a/b'])
    expect(decode(await storage.read('/a/b'))).toBe('v')
    await storage.delete('a//b')
    await expect.poll(() => storage.list('')).toEqual([])
  })

  it.each([
    ['', 'Storage key must not be empty'],
    ['///', 'Storage key must not be empty'],
    ['../x', "Invalid storage key '../x': '..' path segments are not allowed"],
    ['a/..', "Invalid storage key 'a/..': '..' path segments are not allowed"],
    ['a\\b', "Invalid storage key 'a\\b': backslashes are not allowed"],
    ['..\\x', "Invalid storage key '..\\x': backslashes are not allowed"],
  ])('refuses the key %j in read, write and delete', async (key, message) => {
    const storage = open(who, backend)
    const calls = [storage.read(key), storage.write(key, encode('v')), storage.delete(key)]
    for (const error of await rejectionsOf(calls)) expect(error).toMatchObject({ name: 'StorageError', message })
    expect(await storage.list('')).toEqual([])
  })

  it('refuses a prefix that climbs or holds a backslash', async () => {
    const storage = open(who, backend)
    const climbing = "Invalid storage prefix '../': '..' path segments are not allowed"
    expect(await rejectionOf(storage.list('../'))).toMatchObject({ name: 'StorageError', message: climbing })
    const backslash = "Invalid storage prefix 'a\\': backslashes are not allowed"
    expect(await rejectionOf(storage.list('a\\'))).toMatchObject({ name: 'StorageError', message: backslash })
  })

  it.each([
    ['a number', 5],
    ['undefined', undefined],
    ['null', null],
    ['an object', {}],
    ['a symbol', Symbol('key')],
  ])('rejects with a TypeError, and does not throw, when a key is %s', async (_, wrong) => {
    const storage = open(who, backend)
    const key = wrong as string
    // Each call is made before any is awaited: a synchronous throw would fail the test here.
    const calls = [storage.read(key), storage.write(key, encode('v')), storage.delete(key), storage.list(key)]
    for (const call of calls) expect(call).toBeInstanceOf(Promise)
    for (const error of await rejectionsOf(calls)) expect(error).toBeInstanceOf(TypeError)
  })

  it('takes many calls at once', async () => {
    const storage = open(who, backend)
    const keys = Array.from({ length: 500 }, (_, n) => `dir-${n % 7}/file-${n}`)
    await Promise.all(keys.map((key) => storage.write(key, encode(key))))
    const values = await Promise.all(keys.map((key) => storage.read(key)))
    expect(values.map(decode)).toEqual(keys)
    await Promise.all(keys.map((key) => storage.delete(key)))
    await expect.poll(() => storage.list('')).toEqual([])
  })

  it('keeps one whole value when many writes to one key race', async () => {
    const storage = open(who, backend)
    const values = Array.from({ length: 40 }, (_, n) => new Uint8Array(10_000 + n).fill(n))
    await Promise.all(values.map((value) => storage.write('k', value)))
    const last = (await storage.read('k'))!
    expect(last).toStrictEqual(values[last[0]!])
  })

  it('says with a mark whether its content outlives the process', () => {
    const storage = open(who, backend)
    expect(EPHEMERAL in storage).toBe(backend === 'InMemoryStorage')
    expect(EPHEMERAL in storage.namespace('n')).toBe(backend === 'InMemoryStorage')
    expect(EPHEMERAL in storage.namespace('n').namespace!('m')).toBe(backend === 'InMemoryStorage')
  })

  it('marks a namespaced view, and only that', () => {
    const storage = open(who, backend)
    expect(NAMESPACED in storage).toBe(false)
    for (const view of [storage.namespace('n'), storage.namespace(''), storage.namespace('n').namespace!('m')]) {
      expect((view as unknown as Record<symbol, unknown>)[NAMESPACED]).toBe(true)
    }
  })

  it('shares its entries with a namespaced view, under the prefix', async () => {
    const storage = open(who, backend)
    const view = storage.namespace('/a//b')
    await view.write('c/d', encode('from the view'))
    await storage.write('a/b/e', encode('from outside'))
    expect(await storage.list('')).toEqual(['a/b/c/d', 'a/b/e'])
    expect(await view.list('')).toEqual(['c/d', 'e'])
    expect(await view.list('c/')).toEqual(['c/d'])
    expect(decode(await view.read('e'))).toBe('from outside')
    await view.delete('e')
    expect(await storage.read('a/b/e')).toBeNull()
  })

  it('nests namespaces', async () => {
    const storage = open(who, backend)
    const inner = storage.namespace('a').namespace!('b')
    await inner.write('k', encode('v'))
    expect(await storage.list('')).toEqual(['a/b/k'])
    expect(await inner.list('')).toEqual(['k'])
  })

  it('never mixes a namespace with another that begins with its name', async () => {
    const storage = open(who, backend)
    await storage.namespace('mem').write('apple', encode('mem'))
    await storage.namespace('memory').write('apple', encode('memory'))
    const view = storage.namespace('mem')
    expect(await view.list('')).toEqual(['apple'])
    expect(await view.list('o')).toEqual([])
    expect((await view.search!('apple')).map(({ key }) => key)).toEqual(['apple'])
  })

  it('gives a view of everything for an empty namespace', async () => {
    const storage = open(who, backend)
    await storage.namespace('').write('k', encode('v'))
    expect(await storage.list('')).toEqual(['k'])
    expect(await storage.namespace('/').list('')).toEqual(['k'])
  })

  it('lets no key climb out of a namespaced view', async () => {
    const storage = open(who, backend)
    await storage.write('outside', encode('v'))
    const view = storage.namespace('inside')
    const calls = [view.read('../outside'), view.delete('../outside'), view.write('../x', encode('v'))]
    for (const error of await rejectionsOf(calls)) expect(error).toMatchObject({ name: 'StorageError' })
    expect(await storage.list('')).toEqual(['outside'])
  })

  it('refuses a namespace that climbs or holds a backslash', () => {
    const storage = open(who, backend)
    expect(() => storage.namespace('../x')).toThrow("Invalid storage prefix '../x': '..' path segments are not allowed")
    expect(() => storage.namespace('a\\b')).toThrow("Invalid storage prefix 'a\\b': backslashes are not allowed")
  })
})

describe.each(storages)('%s InMemoryStorage', (_, { InMemoryStorage }) => {
  it('copies the bytes at the call, so changing the buffer afterwards changes nothing', async () => {
    const storage = new InMemoryStorage()
    const buffer = encode('value')
    const written = storage.write('k', buffer)
    buffer.fill(0)
    await written
    expect(decode(await storage.read('k'))).toBe('value')
  })

  it('shows each call the effect of those before it, whether anybody waited for them or not', async () => {
    const storage = new InMemoryStorage()
    const calls = [
      storage.write('k', encode('v')),
      storage.read('k').then(decode),
      storage.delete('k'),
      storage.read('k'),
      storage.list(''),
    ]
    expect(await Promise.all(calls)).toEqual([undefined, 'v', undefined, null, []])
  })

  it('forgets everything on clear, views included', async () => {
    const storage = new InMemoryStorage()
    const view = storage.namespace('n')
    await view.write('k', encode('v'))
    expect(storage.clear()).toBeUndefined()
    expect(await storage.list('')).toEqual([])
    expect(await view.read('k')).toBeNull()
  })

  it('shares nothing with another instance', async () => {
    const [one, other] = [new InMemoryStorage(), new InMemoryStorage()]
    await one.write('k', encode('v'))
    expect(await other.list('')).toEqual([])
  })
})

describe.each(nativeBackends)('%s %s, unlike the SDK,', (who, backend) => {
  // The SDK's LocalFileStorage awaits an import before it looks at the bytes; CONTRACT.md: "copied at the call".
  it('copies the bytes at the call, even when the buffer is taken away in the next line', async () => {
    const storage = open(who, backend)
    const buffer = encode('value')
    const written = storage.write('k', buffer)
    structuredClone(buffer.buffer, { transfer: [buffer.buffer as ArrayBuffer] })
    await written
    expect(decode(await storage.read('k'))).toBe('value')
  })

  // No file name can hold one: the SDK puts a replacement character there, and so makes one file of many keys.
  it('refuses a lone surrogate in a key, a prefix and a namespace', async () => {
    const storage = open(who, backend)
    for (const key of ['\ud800', 'a\udfffb', 'a/\ude00\ud83d']) {
      const calls = [storage.read(key), storage.write(key, encode('v')), storage.delete(key), storage.list(key)]
      for (const error of await rejectionsOf(calls)) expect(error).toBeInstanceOf(StorageError)
      expect(() => storage.namespace(key)).toThrow(StorageError)
    }
    expect(await storage.list('')).toEqual([])
  })

  // The SDK's memory storage hands out Buffers that share memory, as Buffer's `slice` makes no copy.
  it('neither keeps nor returns a Buffer', async () => {
    const storage = open(who, backend)
    const buffer = Buffer.from('value')
    await storage.write('k', buffer)
    buffer.fill(0)
    const value = (await storage.read('k'))!
    expect(Object.getPrototypeOf(value)).toBe(Uint8Array.prototype)
    expect(decode(value)).toBe('value')
  })

  // The SDK's view of a memory storage cuts one character too many off each listed key.
  it('takes a namespace with a slash at its end for the same namespace', async () => {
    const storage = open(who, backend)
    await storage.write('a/b/key', encode('v'))
    const view = storage.namespace('a/b/')
    expect(await view.list('')).toEqual(['key'])
    expect(await view.list('k')).toEqual(['key'])
    expect(decode(await view.read('key'))).toBe('v')
  })

  // The SDK writes a string's text, and keeps it as a string in memory; CONTRACT.md: wrong types reject.
  it.each([
    ['a string', 'text'],
    ['undefined', undefined],
    ['null', null],
    ['an array', [1, 2]],
    ['a number', 7],
    ['an ArrayBuffer', new ArrayBuffer(2)],
    ['a Uint16Array', new Uint16Array(2)],
    ['an object like one', { length: 1, 0: 1 }],
  ])('rejects a value that is %s, and keeps the old one', async (_, wrong) => {
    const storage = open(who, backend)
    await storage.write('k', encode('old'))
    const call = storage.write('k', wrong as unknown as Uint8Array)
    expect(call).toBeInstanceOf(Promise)
    expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
    expect(decode(await storage.read('k'))).toBe('old')
  })

  // The SDK's view of a memory storage reads the entry that is named like the namespace itself.
  it('refuses an empty key in a namespaced view', async () => {
    const storage = open(who, backend)
    await storage.write('n', encode('outside the view'))
    const view = storage.namespace('n')
    expect(await rejectionOf(view.read(''))).toBeInstanceOf(StorageError)
    expect(await rejectionOf(view.delete('/'))).toBeInstanceOf(StorageError)
    expect(await storage.list('')).toEqual(['n'])
  })

  it('rejects wrong arguments of a namespaced view too, and never throws', async () => {
    const view = open(who, backend).namespace('n')
    const wrong = 5 as unknown as string
    const calls = [view.read(wrong), view.list(wrong), view.delete(wrong), view.search!(wrong)]
    for (const call of calls) expect(call).toBeInstanceOf(Promise)
    for (const error of await rejectionsOf(calls)) expect(error).toBeInstanceOf(TypeError)
  })
})

describe.each<Backend>(['InMemoryStorage', 'LocalFileStorage'])('the key rules of %s', (backend) => {
  const keys = [
    ...['../x', 'a/../../b', '..\\x', 'C:/w', '//srv/x', '....//x', 'a/./b', ' ', '\0', 'a\0b', 'a:b', 'CON', 'x.'],
    ...['%2e%2e/x', '.', './x', '', '/', '..', 'a/..', 'a//b', '/a/', '...', '.../x', '.hidden', '-x', '~'],
    ...['line\nbreak', '*', '?', 'a|b', '"', "'", '__proto__', 'constructor', 'toString', '\ufeff', '\u0085'],
    ...['復/é', 'e\u0301', '\u{1f600}', 'a b', '${x}', '%s', 'key.json.__strands'],
  ]

  it.each(keys.map((key) => [key]))('are those of the SDK for %j', async (key) => {
    const deeds = async (who: Who): Promise<Settled[]> => {
      const root = join(scratchDirectory(), 'root')
      const storage = open(who, backend, root)
      await storage.write('another', encode('v'))
      const outcomes = [
        await settled(() => storage.write(key, encode('v'))),
        await settled(() => storage.read(key)),
        await settled(() => storage.list('')),
        await settled(() => storage.list(key)),
        await settled(() => storage.delete(key)),
        await settled(() => storage.list('')),
      ]
      expect(readdirSync(join(root, '..')).filter((name) => name !== 'root')).toEqual([])
      return outcomes
    }
    expect(await deeds('native')).toEqual(await deeds('sdk'))
  })

  it.each(['', '/', 'a', 'a/', 'a//', '/a', 'a/b', 'a/b/', './', '.', 'a/.', 'a/./b', 'a\0', '\u{1f600}', ' '])(
    'are those of the SDK for the prefix %j',
    async (prefix) => {
      const listed = async (who: Who): Promise<Settled> => {
        const storage = open(who, backend)
        for (const key of ['a/b/c', 'a/bc', 'ab', 'b', './d', '\u{1f600}/e', ' /f'])
          await storage.write(key, encode('v'))
        return settled(() => storage.list(prefix))
      }
      expect(await listed('native')).toEqual(await listed('sdk'))
    },
  )
})

describe('StorageError', () => {
  it('is an Error that carries its name, message and cause', () => {
    const cause = new Error('why')
    const error = new StorageError('what', { cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'StorageError', message: 'what', cause })
    expect(error.stack).toContain('StorageError')
    expect('cause' in new StorageError('without one')).toBe(false)
    expect(Object.getPrototypeOf(StorageError.prototype)).toBe(Error.prototype)
  })

  it('is the class that the storages reject with', async () => {
    const error = await rejectionOf(new nativeStorage.InMemoryStorage().read('..'))
    expect(error).toBeInstanceOf(StorageError)
    expect(error.constructor).toBe(StorageError)
  })

  it('is thrown by a refused namespace', () => {
    expect(() => new nativeStorage.InMemoryStorage().namespace('..')).toThrow(StorageError)
    expect(() => new nativeStorage.LocalFileStorage(scratchDirectory()).namespace('..')).toThrow(StorageError)
  })
})
