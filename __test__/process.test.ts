// The addon as a guest in a process: it neither keeps it alive, nor brings it down, nor eats its memory.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { runProgram, runScript } from './child-program.js'
import { nativeStorage, TestMemoryStore } from './implementations.js'
import { readRecords } from './memory-records.js'
import { scratchDirectory } from './scratch-directory.js'

vi.setConfig({ testTimeout: 120_000 })

/** A program that has not ended after this time never will: nothing it does takes a second. */
const timeoutMs = 15_000

describe('a process', () => {
  it('survives 200 worker threads that are terminated while they work, and its files are whole', async () => {
    const directory = scratchDirectory()
    const printed = await runProgram('terminate-workers.mjs', [directory, '32'], { timeoutMs: 100_000 })
    expect(JSON.parse(printed)).toEqual({ workers: 200 })
    const contents = readRecords(join(directory, 'notes.json')).map(({ content }) => content)
    expect(contents.at(-1)).toBe('after all of them')
    expect(new Set(contents).size).toBe(contents.length)
    expect(contents.length).toBeGreaterThan(100)
    for (const key of ['key_0', 'key_1', 'key_2']) {
      const value = readFileSync(join(directory, 'files', key))
      expect(value.equals(Buffer.alloc(100_000, value[0]))).toBe(true)
    }
    expect(readdirSync(directory).sort()).toEqual(['files', 'notes.json'])
    expect(readdirSync(join(directory, 'files')).sort()).toEqual(['key_0', 'key_1', 'key_2'])
  })

  it('ends by itself after a call to one of each class', async () => {
    const directory = scratchDirectory()
    const source = `
      const { InMemoryStorage, LocalFileStorage, TestMemoryStore } = await load('native')
      const memory = new InMemoryStorage()
      const files = new LocalFileStorage(${JSON.stringify(directory)})
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(join(directory, 'notes.json'))} })
      await memory.write('k', new Uint8Array(1))
      await files.write('k', new Uint8Array(1))
      await store.add('an apple')
      console.log(JSON.stringify([await memory.list(''), await files.list(''), (await store.search('apple')).length]))
    `
    expect(await runScript(source, { timeoutMs })).toEqual([['k'], ['k', 'notes.json'], 1])
  })

  it('ends by itself when it builds one of each class and does nothing', async () => {
    const source = `
      const { InMemoryStorage, LocalFileStorage, TestMemoryStore } = await load('native')
      globalThis.kept = [new InMemoryStorage(), new LocalFileStorage('x'), new TestMemoryStore({ name: 'n' })]
      console.log('null')
    `
    expect(await runScript(source, { timeoutMs })).toBeNull()
  })

  it('does not end before a write that nobody waits for has landed', async () => {
    const directory = scratchDirectory()
    const source = `
      const { LocalFileStorage, TestMemoryStore } = await load('native')
      new LocalFileStorage(${JSON.stringify(directory)}).write('k', new Uint8Array(3))
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(join(directory, 'notes.json'))} })
      for (let n = 0; n < 100; n += 1) store.add('fact ' + n)
      console.log('null')
    `
    expect(await runScript(source, { timeoutMs })).toBeNull()
    expect(readRecords(join(directory, 'notes.json'))).toHaveLength(100)
    expect(readdirSync(directory).sort()).toEqual(['k', 'notes.json'])
  })

  // A call that fails leaves nothing behind that would keep Node alive.
  it.each([
    `new InMemoryStorage().read('..')`,
    `new InMemoryStorage().write('k', 'text')`,
    `new InMemoryStorage().search(5)`,
    `new LocalFileStorage(directory).read('..')`,
    `new LocalFileStorage(directory).read('sub')`,
    `new LocalFileStorage(directory).write('sub', new Uint8Array(1))`,
    `new LocalFileStorage(directory).write('k', 'text')`,
    `new LocalFileStorage(directory).delete(5)`,
    `new LocalFileStorage(directory).list('..')`,
    `new LocalFileStorage(directory).search(5)`,
    `new TestMemoryStore({ name: 'n', path: directory }).search('text')`,
    `new TestMemoryStore({ name: 'n', path: directory }).add('text')`,
    `new TestMemoryStore({ name: 'n', persist: false }).search(5)`,
    `new TestMemoryStore({ name: 'n', persist: false }).search('text', { maxSearchResults: 0 })`,
    `new TestMemoryStore({ name: 'n', persist: false }).add(5)`,
    `new TestMemoryStore({ name: 'n', persist: false }).add(' ')`,
    `new TestMemoryStore({ name: 'n', persist: false }).add('text', 'metadata')`,
    `new TestMemoryStore({ name: 'n', persist: false }).add('text', { n: 1n })`,
    `new TestMemoryStore({ name: 'n', persist: false }).add('text', { toJSON() { throw 'a string' } })`,
    `new TestMemoryStore({ name: 'n', writable: false }).add('text')`,
  ])('ends by itself after %s was rejected', async (call) => {
    const directory = scratchDirectory()
    const source = `
      import { mkdirSync } from 'node:fs'
      const { InMemoryStorage, LocalFileStorage, TestMemoryStore } = await load('native')
      const directory = ${JSON.stringify(directory)}
      mkdirSync(directory + '/sub')
      console.log(JSON.stringify(await ${call}.then(() => 'fulfilled', () => 'rejected')))
    `
    expect(await runScript(source, { timeoutMs })).toBe('rejected')
  })

  it('goes on with its event loop while a burst of adds is written', async () => {
    const directory = scratchDirectory()
    const source = `
      const { TestMemoryStore } = await load('native')
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(join(directory, 'notes.json'))} })
      let turns = 0
      let writing = true
      const turn = () => { turns += 1; if (writing) setImmediate(turn) }
      setImmediate(turn)
      for (let n = 0; n < 30; n += 1) await store.add('fact ' + n + ' ' + 'x'.repeat(200_000))
      writing = false
      console.log(JSON.stringify(turns))
    `
    // Were the work done on the JavaScript thread, there would be one turn for each add.
    expect(await runScript<number>(source, { timeoutMs: 60_000 })).toBeGreaterThan(300)
  })

  it('ends with the error, and not with a crash, when nobody handles a rejection', async () => {
    const source = `
      const { InMemoryStorage } = await load('native')
      new InMemoryStorage().read('..')
    `
    await expect(runScript(source, { timeoutMs })).rejects.toThrow(
      /ended with 1\n[\s\S]*StorageError: Invalid storage key '\.\.'/,
    )
  })
})

describe('the addon', () => {
  it('is one module, however it is loaded', async () => {
    const source = `
      import { createRequire } from 'node:module'
      const require = createRequire(process.cwd() + '/x.js')
      const names = ['strands-native', 'strands-native/storage', 'strands-native/vended-memory-stores', 'strands-native/vended-memory-stores/test-memory-store']
      const modules = [...await Promise.all(names.map((name) => import(name))), ...names.map((name) => require(name))]
      const sizes = ['InMemoryStorage', 'LocalFileStorage', 'StorageError', 'TestMemoryStore'].map((name) =>
        new Set(modules.map((module) => module[name]).filter((value) => value !== undefined)).size)
      console.log(JSON.stringify(sizes))
    `
    expect(await runScript(source, { timeoutMs })).toEqual([1, 1, 1, 1])
  })

  it('works again after the require cache was cleared, beside what was loaded before', async () => {
    const directory = scratchDirectory()
    const source = `
      import { createRequire } from 'node:module'
      const require = createRequire(process.cwd() + '/x.js')
      const path = ${JSON.stringify(join(directory, 'notes.json'))}
      const seen = []
      const stores = []
      const classes = []
      for (let round = 0; round < 5; round += 1) {
        for (const file of Object.keys(require.cache)) delete require.cache[file]
        const { InMemoryStorage, StorageError, TestMemoryStore, tokenize } = require('strands-native')
        classes.push(TestMemoryStore)
        for (const Class of classes) stores.push(new Class({ name: 'n', path }))
        await Promise.all(stores.map((store, n) => store.add('round ' + round + ' store ' + n)))
        const error = await new InMemoryStorage().read('..').catch((error) => error)
        seen.push([error instanceof StorageError, error instanceof Error, error.name, tokenize('A b').size])
      }
      console.log(JSON.stringify([seen, (await stores[0].search('round', { maxSearchResults: 100 })).length]))
    `
    const each = [true, true, 'StorageError', 2]
    // Each round adds one store for each class that was ever loaded: 1 + 3 + 6 + 10 + 15 memories.
    expect(await runScript(source, { timeoutMs })).toEqual([Array.from({ length: 5 }, () => each), 35])
  })

  it('can be loaded in a worker thread alone, and again in the next', async () => {
    const source = `
      import { Worker } from 'node:worker_threads'
      import { once } from 'node:events'
      const code = \`
        const { parentPort } = require('node:worker_threads')
        const { InMemoryStorage, StorageError } = require(\${JSON.stringify(process.cwd())})
        const storage = new InMemoryStorage()
        storage.write('k', new Uint8Array(2))
          .then(() => storage.read('..'))
          .catch((error) => parentPort.postMessage([error instanceof StorageError, error.message]))
      \`
      const seen = []
      for (let n = 0; n < 4; n += 1) {
        const worker = new Worker(code, { eval: true, execArgv: [] })
        // Both may be told in one turn.
        const [[message]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
        seen.push(message)
      }
      console.log(JSON.stringify(seen))
    `
    const each = [true, "Invalid storage key '..': '..' path segments are not allowed"]
    expect(await runScript(source, { timeoutMs })).toEqual([each, each, each, each])
  })

  it.each(['InMemoryStorage', 'LocalFileStorage', 'TestMemoryStore'])(
    'refuses to call %s without new',
    async (name) => {
      const source = `
      import { createRequire } from 'node:module'
      const exported = createRequire(process.cwd() + '/x.js')('strands-native')
      const before = Object.keys(globalThis)
      const call = new Function('Class', 'options', 'return Class(options)')
      let thrown = 'nothing'
      try { call(exported.${name}, ${name === 'TestMemoryStore' ? "{ name: 'n' }" : 'undefined'}) } catch (error) { thrown = error.name }
      console.log(JSON.stringify({ thrown, global: Object.keys(globalThis).length - before.length }))
    `
      expect(await runScript(source, { timeoutMs })).toEqual({ thrown: 'TypeError', global: 0 })
    },
  )

  it('refuses methods that are called on something else', async () => {
    const { InMemoryStorage } = nativeStorage
    for (const other of [
      {},
      Object.create(InMemoryStorage.prototype),
      5,
      undefined,
      new Proxy(new InMemoryStorage(), {}),
    ]) {
      await expect(InMemoryStorage.prototype.read.call(other as never, 'k')).rejects.toThrow()
    }
    const { search } = new TestMemoryStore({ name: 'n', persist: false })
    await expect(search('text')).rejects.toThrow()
  })
})

describe('memory is given back', () => {
  // Allocators take memory in steps of some megabytes. What a call leaks, it leaks each time: the calls are as many as it
  // takes for a few hundred bytes a call, and for less where calls are cheap, to be more than that.
  it.each([
    ['memory write', 500_000],
    ['memory read', 500_000],
    ['memory search', 50_000],
    ['large read', 20],
    ['file write', 10_000],
    ['file read', 30_000],
    ['file list', 30_000],
    ['store search', 40_000],
    ['store known add', 40_000],
    ['file store search', 40_000],
    ['rejected calls', 40_000],
    ['constructors', 50_000],
    ['tokenize', 200_000],
    ['s3 write', 20_000],
    ['s3 read', 20_000],
    ['s3 search', 10_000],
    ['s3 faults', 10_000],
    ['s3 constructors', 20_000],
  ])('after each %s, %d times and as often again', async (operation, calls) => {
    const printed = await runProgram('measure-growth.mjs', [operation, String(calls)], { nodeOptions: ['--expose-gc'] })
    const grown = JSON.parse(printed) as number
    expect(grown).toBeLessThan(24_000_000)
  })

  it('for values of no, one and fifty million bytes, which come back whole', async () => {
    const storage = new nativeStorage.LocalFileStorage(scratchDirectory())
    for (const size of [0, 1, 50_000_000]) {
      const value = new Uint8Array(size).fill(size % 251)
      await storage.write(`of-${size}`, value)
      const read = (await storage.read(`of-${size}`))!
      expect([read.length, Buffer.compare(read, value)]).toEqual([size, 0])
    }
  })
})
