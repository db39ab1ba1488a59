// BM25 search as a guest in a process: it neither keeps it alive, nor brings it down, nor eats its memory or its files.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openFolder } from './bm25-folder.js'
import { runProgram, runScript } from './child-program.js'
import { PythonSdk } from './python-sdk.js'
import { scratchDirectory } from './scratch-directory.js'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

/** A program that has not ended after this time never will: nothing it does takes a second. */
const timeoutMs = 15_000

let pythonSdk: PythonSdk
beforeAll(async () => {
  pythonSdk = await PythonSdk.start()
})
afterAll(() => pythonSdk?.stop())

/** Source that has a storage with a strategy, and `encode`. */
const prelude = (folder: string) => `
  const { InMemoryStorage, LocalFileStorage } = await load('native')
  const { Bm25SearchStrategy } = await import('strands-native/storage/search')
  const encode = (text) => new TextEncoder().encode(text)
  const strategy = new Bm25SearchStrategy()
  const storage = new LocalFileStorage(${JSON.stringify(folder)}, { searchStrategy: strategy })
`

const newFolder = (): string => join(scratchDirectory(), 'memory')

describe('a process', () => {
  it('ends by itself after a write and a search, without close', async () => {
    const source = `${prelude(newFolder())}
      await storage.write('k.md', encode('zebra'))
      console.log(JSON.stringify((await storage.search('zebra')).length))
    `
    expect(await runScript(source, { timeoutMs })).toBe(1)
  })

  it.each([
    ['building a strategy', 'globalThis.kept = [strategy, storage]'],
    ['a backfill', 'await strategy.backfill(storage, { onProgress: () => {} })'],
    ["a backfill of a user's storage", `await ofPlain.backfill(plain, { onProgress: () => {} })`],
    ["a search of a user's storage", `await ofPlain.search(plain, 'zebra')`],
    ['closing twice', 'await strategy.close(); await strategy.close()'],
    ['closing without waiting', `await storage.write('k.md', encode('zebra')); strategy.close()`],
    ['a search that nobody waits for', `await storage.write('k.md', encode('zebra')); storage.search('zebra')`],
  ])('ends by itself after %s', async (_, calls) => {
    const folder = newFolder()
    const source = `${prelude(folder)}
      const plain = { list: async () => ['k.md'], read: async () => encode('zebra'), write: async () => {}, delete: async () => {} }
      const ofPlain = new Bm25SearchStrategy({ dbPath: ${JSON.stringify(join(dirname(folder), 'index.sqlite'))} })
      ${calls}
      console.log('null')
    `
    expect(await runScript(source, { timeoutMs })).toBeNull()
  })

  // A call that fails leaves nothing behind that would keep Node alive.
  it.each([
    `strategy.search(new InMemoryStorage(), 'zebra')`,
    `strategy.search(storage, 5)`,
    `strategy.index(storage, '..', encode(''))`,
    `strategy.index(storage, 'k', 'text')`,
    `strategy.remove(storage, '')`,
    `strategy.backfill(storage, { onProgress: 5 })`,
    `strategy.backfill(storage, { onProgress: () => { throw 'enough' } })`,
    `strategy.backfill(failing)`,
    `ofFailing.backfill(failing)`,
    `ofFailing.backfill(failing, { onProgress: () => {} })`,
    `ofDirectory.search(storage, 'zebra')`,
    `ofDirectory.index(storage, 'k.md', encode('zebra'))`,
    `ofDirectory.backfill(storage)`,
  ])('ends by itself after %s was rejected', async (call) => {
    const folder = newFolder()
    const source = `${prelude(folder)}
      import { mkdirSync } from 'node:fs'
      const directory = ${JSON.stringify(dirname(folder))}
      mkdirSync(directory + '/a directory')
      await storage.write('k.md', encode('zebra'))
      const fail = () => Promise.reject(new Error('broken'))
      const failing = { list: fail, read: fail, write: fail, delete: fail }
      const ofFailing = new Bm25SearchStrategy({ dbPath: directory + '/index.sqlite' })
      const ofDirectory = new Bm25SearchStrategy({ dbPath: directory + '/a directory' })
      console.log(JSON.stringify(await ${call}.then(() => 'fulfilled', () => 'rejected')))
    `
    expect(await runScript(source, { timeoutMs })).toBe('rejected')
  })

  it('does not end before what nobody waits for is written and indexed', async () => {
    const folder = newFolder()
    const source = `${prelude(folder)}
      for (let n = 0; n < 100; n += 1) storage.write('k' + n + '.md', encode('zebra word' + n + 'x'))
      console.log('null')
    `
    expect(await runScript(source, { timeoutMs })).toBeNull()
    const { find } = openFolder(undefined, folder)
    expect(await find('zebra')).toHaveLength(100)
    expect(await find('word77x')).toEqual(['k77.md'])
  })

  it('that calls process.exit in the midst of its work leaves an index that works', async () => {
    for (let round = 0; round < 5; round += 1) {
      const folder = newFolder()
      const source = `${prelude(folder)}
        for (let n = 0; n < 100; n += 1) storage.write('k' + n + '.md', encode('zebra'))
        strategy.backfill(storage)
        storage.search('zebra')
        await storage.write('awaited.md', encode('walrus'))
        console.log('null')
        process.exit(0)
      `
      expect(await runScript(source, { timeoutMs })).toBeNull()
      const { find, storage, strategy } = openFolder(undefined, folder)
      expect(await find('walrus')).toEqual(['awaited.md'])
      await strategy.backfill(storage)
      expect((await find('zebra')).sort()).toEqual((await storage.list('k')).sort())
    }
  })

  it('that is killed in the midst of a backfill leaves an index that the next backfill completes', async () => {
    const folder = newFolder()
    mkdirSync(folder)
    for (let n = 0; n < 3_000; n += 1) writeFileSync(join(folder, `k${n}.md`), `zebra word${n}x`)
    const source = `${prelude(folder)}
      await strategy.backfill(storage, { onProgress: ({ done }) => { if (done > 300) process.kill(process.pid, 'SIGKILL') } })
    `
    await expect(runScript(source, { timeoutMs })).rejects.toThrow('ended with SIGKILL')
    const { find, storage, strategy } = openFolder(undefined, folder)
    const before = (await find('zebra')).length
    expect(before).toBeGreaterThan(300)
    expect(before).toBeLessThan(3_000)
    const result = await strategy.backfill(storage)
    expect(result).toEqual({ indexed: 3_000 - before, unchanged: before, removed: 0 })
    expect(await find('zebra')).toHaveLength(3_000)
  })

  it('ends with the error, and not with a crash, when nobody handles a rejection', async () => {
    const source = `${prelude(newFolder())}
      strategy.search(new InMemoryStorage(), 'zebra')
    `
    await expect(runScript(source, { timeoutMs })).rejects.toThrow(/ended with 1\n[\s\S]*StorageError: [^\n]*dbPath/)
  })

  it('goes on with its event loop while much is written, searched and backfilled', async () => {
    const folder = newFolder()
    mkdirSync(folder)
    const text = Array.from({ length: 20_000 }, (_, n) => `word${n}x`).join(' ')
    for (let n = 0; n < 60; n += 1) writeFileSync(join(folder, `k${n}.md`), `zebra${n}x ${text}`)
    const source = `${prelude(folder)}
      let turns = 0
      let working = true
      const turn = () => { turns += 1; if (working) setImmediate(turn) }
      setImmediate(turn)
      const { indexed } = await strategy.backfill(storage)
      const ofBackfill = turns
      for (let n = 0; n < 5; n += 1) await storage.search(${JSON.stringify(text.slice(0, 20_000))})
      const ofSearch = turns - ofBackfill
      working = false
      console.log(JSON.stringify({ indexed, ofBackfill, ofSearch }))
    `
    const seen = await runScript<{ indexed: number; ofBackfill: number; ofSearch: number }>(source, {
      timeoutMs: 60_000,
    })
    // Were the work done on the JavaScript thread, there would be a turn or two for each call.
    expect(seen.indexed).toBe(60)
    expect(seen.ofBackfill).toBeGreaterThan(100)
    expect(seen.ofSearch).toBeGreaterThan(100)
  })

  it('goes on with its event loop, and with other files, while another holds the index up', async () => {
    const { folder, index, storage } = openFolder()
    await storage.write('k.md', new TextEncoder().encode('zebra'))
    await pythonSdk.hold(index, 'BEGIN IMMEDIATE')
    const source = `${prelude(folder)}
      import { readFileSync } from 'node:fs'
      let isWritten = 0
      const writes = Array.from({ length: 100 }, (_, n) => storage.write('w' + n + '.md', encode('zebra')).then(() => { isWritten += 1 }))
      const other = new LocalFileStorage(${JSON.stringify(join(scratchDirectory(), 'other'))})
      // More than there are threads for file work: none of them may be taken by waiting.
      for (let n = 0; n < 200; n += 1) {
        await other.write('k', encode('text'))
        await other.read('k')
        await import('node:fs/promises').then(({ readFile }) => readFile('/proc/self/stat'))
      }
      console.log(JSON.stringify({ isWritten, found: (await storage.search('zebra')).length }))
      process.exit(0)
    `
    expect(await runScript(source, { timeoutMs })).toEqual({ isWritten: 0, found: 1 })
    await pythonSdk.sql(index, 'ROLLBACK')
  })

  it('survives 60 worker threads that are terminated while they index, and the index is whole', async () => {
    const directory = scratchDirectory()
    const printed = await runProgram('bm25-terminate-workers.mjs', [directory, '33'], { timeoutMs: 100_000 })
    const { workers, found, keys } = JSON.parse(printed) as { workers: number; found: string[]; keys: string[] }
    expect(workers).toBe(60)
    expect(found).toContain('last.md')
    expect(found).toEqual(keys)
    const { index } = openFolder(undefined, join(directory, 'memory'))
    expect(await pythonSdk.sql(index, 'PRAGMA integrity_check')).toEqual([['ok']])
    expect(readdirSync(directory).filter((name) => name.includes('broken'))).toEqual([])
  })

  it('can load and use it in a worker thread alone, and again in the next', async () => {
    const folder = newFolder()
    const source = `
      import { Worker } from 'node:worker_threads'
      import { once } from 'node:events'
      const code = \`
        const { parentPort, workerData } = require('node:worker_threads')
        const { Bm25SearchStrategy, LocalFileStorage } = require(\${JSON.stringify(process.cwd())})
        const storage = new LocalFileStorage(workerData.folder, { searchStrategy: new Bm25SearchStrategy() })
        storage.write('k' + workerData.n, new TextEncoder().encode('zebra'))
          .then(() => storage.search('zebra'))
          .then((results) => parentPort.postMessage(results.length))
      \`
      const seen = []
      for (let n = 0; n < 4; n += 1) {
        const worker = new Worker(code, { eval: true, execArgv: [], workerData: { folder: ${JSON.stringify(folder)}, n } })
        // Both may be told in one turn.
        const [[message]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')])
        seen.push(message)
      }
      console.log(JSON.stringify(seen))
    `
    expect(await runScript(source, { timeoutMs })).toEqual([1, 2, 3, 4])
  })

  it('lets storages and strategies be collected when their calls have ended', async () => {
    const source = `${prelude(newFolder())}
      const uses = {
        nothing: async () => {},
        search: (own, files) => files.search('zebra'),
        write: (own, files) => files.write('k.md', encode('zebra')),
        both: (own, files) => files.write('k.md', encode('zebra')).then(() => files.search('zebra')),
        backfill: (own, files) => own.backfill(files, { onProgress: () => own }),
        close: (own, files) => files.write('k.md', encode('zebra')).then(() => own.close()),
      }
      const collected = {}
      const registry = new FinalizationRegistry((name) => { collected[name] = (collected[name] ?? 0) + 1 })
      async function useOnce(name) {
        const own = new Bm25SearchStrategy()
        const files = new LocalFileStorage(${JSON.stringify(newFolder())}, { searchStrategy: own })
        registry.register(own, name)
        registry.register(files, name)
        const call = uses[name](own, files)
        globalThis.gc()
        await call
      }
      for (const name of Object.keys(uses)) for (let n = 0; n < 5; n += 1) await useOnce(name)
      const isDone = () => Object.keys(uses).every((name) => collected[name] === 10)
      for (let n = 0; n < 100 && !isDone(); n += 1) {
        await new Promise((resolve) => setTimeout(resolve, 10))
        globalThis.gc()
      }
      console.log(JSON.stringify(collected))
    `
    const each = { nothing: 10, search: 10, write: 10, both: 10, backfill: 10, close: 10 }
    expect(await runScript(source, { timeoutMs, nodeOptions: ['--expose-gc'] })).toEqual(each)
  })
})

describe('with 128 file descriptors', () => {
  it('20,000 small files are backfilled, found and written', async () => {
    const folder = newFolder()
    for (let n = 0; n < 200; n += 1) {
      const sub = join(folder, `sub${n}`)
      mkdirSync(sub, { recursive: true })
      for (let m = 0; m < 100; m += 1) writeFileSync(join(sub, `k${m}.md`), `zebra word${n}x${m}x`)
    }
    const source = `${prelude(folder)}
      const result = await strategy.backfill(storage)
      const all = (await storage.search('zebra')).length
      const one = (await storage.search('word77x42x')).map(({ key }) => key)
      const many = await Promise.all(Array.from({ length: 500 }, (_, n) => storage.search('word' + (n % 200) + 'x7x')))
      await Promise.all(Array.from({ length: 1_000 }, (_, n) => storage.write('new/k' + n, encode('walrus'))))
      const written = (await storage.search('walrus')).length
      const again = await strategy.backfill(storage)
      console.log(JSON.stringify([result, all, one, many.filter(({ length }) => length === 1).length, written, again]))
    `
    expect(await runScript(source, { ulimit: '-n 128', timeoutMs: 100_000 })).toEqual([
      { indexed: 20_000, unchanged: 0, removed: 0 },
      20_000,
      ['sub77/k42.md'],
      500,
      1_000,
      { indexed: 0, unchanged: 21_000, removed: 0 },
    ])
  })

  it('a strategy serves dozens of folders one after the other, and closes them all', async () => {
    const root = scratchDirectory()
    const source = `${prelude(join(root, 'first'))}
      import { readdirSync } from 'node:fs'
      const open = () => readdirSync('/proc/self/fd').length
      await storage.write('k.md', encode('zebra'))
      await storage.search('zebra')
      await strategy.close()
      const before = open()
      const found = []
      for (let n = 0; n < 60; n += 1) {
        const each = new LocalFileStorage(${JSON.stringify(root)} + '/folder' + n, { searchStrategy: strategy })
        await each.write('k.md', encode('zebra'))
        found.push((await each.search('zebra')).length)
        if (n % 10 === 9) await strategy.close()
      }
      console.log(JSON.stringify([found.every((length) => length === 1), open() - before]))
    `
    expect(await runScript(source, { ulimit: '-n 128', timeoutMs: 60_000 })).toEqual([true, 0])
  })
})

describe('memory is given back', () => {
  /** What allocators and the garbage collector keep for a while. */
  const SLACK = 24_000_000

  it.each<[string, number, number?]>([
    ['search', 20_000],
    ['search that finds nothing', 20_000],
    ['write of the same', 10_000],
    ['write', 5_000],
    ['index and remove', 5_000],
    ['backfill', 3_000],
    ["backfill of a user's storage", 1_000],
    ["search of a user's storage", 5_000],
    ['close', 1_000],
    // Each has a connection of some hundred kilobytes, until it is collected.
    ['strategies', 2_000, 3 * SLACK],
    ['faults', 5_000],
  ])('after each %s, %d times and as often again', async (operation, calls, slack = SLACK) => {
    const options = { nodeOptions: ['--expose-gc'], timeoutMs: 110_000 }
    const printed = await runProgram('bm25-measure-growth.mjs', [operation, String(calls)], options)
    expect(JSON.parse(printed)).toBeLessThan(slack)
  })
})
