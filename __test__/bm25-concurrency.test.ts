// Many who use one BM25 index at a time: calls, strategies, threads, processes, and somebody who holds it up.
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { LocalFileStorage, StorageError } from 'strands-native/storage'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { collectWarnings, indexBeside, keysOf, openFolder } from './bm25-folder.js'
import { hasEnded, linesOf, startProgram } from './child-program.js'
import { fill } from './entries.js'
import { PythonSdk } from './python-sdk.js'
import { scratchDirectory } from './scratch-directory.js'
import { seededRandom } from './seeded-random.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

vi.setConfig({ testTimeout: 120_000 })

let pythonSdk: PythonSdk
beforeAll(async () => {
  pythonSdk = await PythonSdk.start()
})
afterAll(() => pythonSdk?.stop())

/** That the index is whole, and holds each key once. */
async function expectWhole(folder: string, keys: string[]): Promise<void> {
  const index = indexBeside(folder)
  expect(await pythonSdk.sql(index, 'PRAGMA integrity_check')).toEqual([['ok']])
  await pythonSdk.sql(index, `INSERT INTO documents(documents) VALUES ('integrity-check')`)
  for (const table of ['documents', 'doc_hashes']) {
    const found = (await pythonSdk.sql(index, `SELECT key FROM ${table}`)).flat() as string[]
    expect(found.sort()).toEqual([...keys].sort())
  }
}

/** Whether a promise has been settled by now. */
function watched<T>(promise: Promise<T>): { promise: Promise<T>; isSettled: () => boolean } {
  let settled = false
  const note = () => {
    settled = true
  }
  promise.then(note, note)
  return { promise, isSettled: () => settled }
}

const write = (storage: LocalFileStorage, label: string, n: number) =>
  storage.write(`${label}-${n}.md`, encode(`zebra ${label}word${n}x`))

describe('calls at once', () => {
  it('of two thousand writes index every one', async () => {
    const { storage, find, folder } = openFolder()
    await Promise.all(Array.from({ length: 2_000 }, (_, n) => write(storage, 'one', n)))
    expect(await find('zebra')).toHaveLength(2_000)
    expect(await find('oneword1234x')).toEqual(['one-1234.md'])
    await expectWhole(folder, await storage.list(''))
  })

  it('each find what was acknowledged before them', async () => {
    const { storage, find } = openFolder()
    const wrong: string[] = []
    await Promise.all(
      Array.from({ length: 300 }, async (_, n) => {
        await write(storage, 'one', n)
        const found = await find(`oneword${n}x`)
        if (found.length !== 1) wrong.push(`${n}: ${found}`)
      }),
    )
    expect(wrong).toEqual([])
  })

  it('of writes, deletions and searches see whole states only', async () => {
    const { storage, find } = openFolder()
    let isWriting = true
    const writing = (async () => {
      for (let n = 0; n < 150; n += 1) await write(storage, 'one', n)
      isWriting = false
    })()
    const seen: number[] = []
    while (isWriting) seen.push((await find('zebra')).length)
    await writing
    seen.push((await find('zebra')).length)
    expect(seen).toEqual([...seen].sort((left, right) => left - right))
    expect(seen.at(-1)).toBe(150)
  })

  it('of good and bad writes index the good ones', async () => {
    const { storage, find } = openFolder()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => {
        if (n % 3 === 1) return storage.write('..', encode('zebra'))
        return n % 3 === 2 ? storage.write('k', 'text' as never) : write(storage, 'good', n)
      }),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(await find('zebra')).toHaveLength(20)
  })

  it('of many strategies on one folder lose nothing of each other', async () => {
    const { folder, find, storage } = openFolder()
    const storages = Array.from(
      { length: 6 },
      () => new LocalFileStorage(folder, { searchStrategy: new Bm25SearchStrategy() }),
    )
    await Promise.all(storages.flatMap((each, s) => Array.from({ length: 50 }, (_, n) => write(each, `s${s}`, n))))
    expect(await find('zebra')).toHaveLength(300)
    for (const [s, each] of storages.entries()) {
      expect(keysOf(await each.search(`s${(s + 1) % 6}word7x`))).toEqual([`s${(s + 1) % 6}-7.md`])
    }
    await expectWhole(folder, await storage.list(''))
  })

  it('of many strategies on the same entries leave an index that says what the files say', async () => {
    const { folder, storage, find, strategy } = openFolder()
    const opened = Array.from({ length: 4 }, () => openFolder(undefined, folder))
    const wrong: string[] = []
    for (let round = 0; round < 30; round += 1) {
      const writes = opened.flatMap((each, s) =>
        Array.from({ length: 5 }, (_, n) => each.storage.write(`k${n}.md`, encode(`zebra r${round}s${s}n${n}x`))),
      )
      await Promise.all(writes)
      for (const key of await storage.list('')) {
        const word = decode(await storage.read(key))!.split(' ')[1]!
        if (!(await find(word)).includes(key)) wrong.push(`${key} holds ${word}, which does not find it`)
      }
    }
    expect(wrong).toEqual([])
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 5, removed: 0 })
  })

  it('of two strategies, by turns, find at once what the other has done', async () => {
    const { folder, storage, find } = openFolder()
    const other = openFolder(undefined, folder)
    for (let n = 0; n < 40; n += 1) {
      await write(storage, 'one', n)
      expect(await other.find(`oneword${n}x`)).toHaveLength(1)
      await other.storage.write(`one-${n}.md`, encode(`walrus otherword${n}x`))
      expect([await find(`oneword${n}x`), await find(`otherword${n}x`)]).toEqual([[], [`one-${n}.md`]])
    }
  })
})

describe('close', () => {
  it('twice, three times, at once, and before anything was opened, is no fault', async () => {
    const { strategy, storage, find } = openFolder()
    expect(await strategy.close()).toBeUndefined()
    await write(storage, 'one', 1)
    await Promise.all([strategy.close(), strategy.close(), strategy.close()])
    await strategy.close()
    expect(await find('zebra')).toEqual(['one-1.md'])
    await strategy.close()
  })

  it('leaves one file, and every later call opens it again', async () => {
    const { strategy, storage, find, folder, index } = openFolder()
    const files = () => readdirSync(dirname(folder)).sort()
    for (let round = 0; round < 5; round += 1) {
      await write(storage, 'one', round)
      expect(await find('zebra')).toHaveLength(round + 1)
      await strategy.close()
      expect(files()).toEqual(['.__strands_memory-fts5.sqlite', 'memory'])
      expect(statSync(index).size).toBeGreaterThan(0)
      expect(await find('zebra')).toHaveLength(round + 1)
      await strategy.close()
      expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: round + 1, removed: 0 })
      await strategy.close()
      await storage.delete('absent.md')
      await strategy.close()
    }
  })

  it('during searches, writes and a backfill lets all of them succeed', async () => {
    const { strategy, storage, find, folder } = openFolder()
    for (let n = 0; n < 50; n += 1) await write(storage, 'before', n)
    for (let round = 0; round < 10; round += 1) {
      const searches = Array.from({ length: 20 }, () => find('beforeword7x'))
      const writes = Array.from({ length: 20 }, (_, n) => write(storage, `r${round}n`, n))
      const backfill = strategy.backfill(storage)
      const closing = [strategy.close(), strategy.close()]
      const more = Array.from({ length: 20 }, () => find('beforeword7x'))
      for (const found of await Promise.all([...searches, ...more])) expect(found).toEqual(['before-7.md'])
      await Promise.all([...writes, ...closing, backfill])
      expect(await find(`r${round}nword19x`)).toHaveLength(1)
    }
    await strategy.close()
    await expectWhole(folder, await storage.list(''))
  })

  it('waits for what is being written', async () => {
    const { strategy, storage, folder } = openFolder()
    const writes = Array.from({ length: 200 }, (_, n) => strategy.index(storage, `k${n}.md`, encode('zebra')))
    await strategy.close()
    await Promise.all(writes)
    await expectWhole(
      folder,
      Array.from({ length: 200 }, (_, n) => `k${n}.md`),
    )
  })

  it('of one strategy leaves others on the same folder open', async () => {
    const { strategy, storage, folder } = openFolder()
    await write(storage, 'one', 1)
    const other = openFolder(undefined, folder)
    expect(await other.find('zebra')).toHaveLength(1)
    await strategy.close()
    expect(await other.find('zebra')).toHaveLength(1)
    await write(other.storage, 'other', 1)
    expect(await other.find('zebra')).toHaveLength(2)
  })

  it('is what `await using` calls, where Node has it', async () => {
    const { asyncDispose } = Symbol as unknown as { asyncDispose?: symbol }
    const { strategy, storage, folder, find } = openFolder()
    await write(storage, 'one', 1)
    const methods = strategy as unknown as Record<symbol, (() => Promise<void>) | undefined>
    const dispose = asyncDispose && methods[asyncDispose]
    expect(typeof dispose).toBe(asyncDispose ? 'function' : 'undefined')
    await dispose?.call(strategy)
    expect(readdirSync(dirname(folder))).toHaveLength(dispose ? 2 : 4)
    expect(await find('zebra')).toEqual(['one-1.md'])
  })
})

describe('worker threads', () => {
  it('index into one folder together, and with the main thread', async () => {
    const { folder, storage, find } = openFolder()
    const start = async (label: string) => {
      const workerData = { folder, label, count: 50 }
      const worker = new Worker(new URL('programs/bm25-worker.mjs', import.meta.url), { workerData })
      return ((await once(worker, 'message')) as [number])[0]
    }
    const workers = ['a', 'b', 'c', 'd'].map(start)
    const ours = Array.from({ length: 50 }, (_, n) => write(storage, 'main', n))
    expect(await Promise.all(workers)).toEqual([50, 50, 50, 50])
    await Promise.all(ours)
    expect(await find('zebra')).toHaveLength(250)
    expect(await find('cword49x')).toEqual(['c-49.md'])
    await expectWhole(folder, await storage.list(''))
  })
})

describe('processes', () => {
  it.each(['one-by-one', 'burst'])('eight with a hundred writes each, %s, lose nothing', async (pace) => {
    const { folder, storage, find } = openFolder()
    const labels = Array.from({ length: 8 }, (_, n) => `p${n}`)
    const programs = labels.map((label) => startProgram('bm25-write-many.mjs', [folder, label, '100', pace]))
    const acknowledged: string[] = []
    const errors = programs.map(async (program) => {
      let text = ''
      for await (const chunk of program.stderr.setEncoding('utf8')) text += String(chunk)
      return text
    })
    const reading = programs.map(async (program) => {
      for await (const key of linesOf(program)) acknowledged.push(key)
    })
    let searches = 0
    while (!programs.every(hasEnded)) {
      // All that was acknowledged before a search is found by it.
      const known = [...acknowledged]
      const found = new Set(await find('zebra'))
      expect(known.filter((key) => !found.has(key))).toEqual([])
      searches += 1
      await sleep(1)
    }
    await Promise.all(reading)
    const endings = programs.map(({ exitCode }) => exitCode)
    expect(endings, (await Promise.all(errors)).join('\n')).toEqual(labels.map(() => 0))
    expect(searches).toBeGreaterThan(0)
    expect(acknowledged).toHaveLength(800)
    expect((await find('zebra')).sort()).toEqual(acknowledged.sort())
    await expectWhole(folder, await storage.list(''))
    expect(
      readdirSync(dirname(folder))
        .filter((name) => !/-(wal|shm)$/.test(name))
        .sort(),
    ).toEqual(['.__strands_memory-fts5.sqlite', 'memory'])
  })

  it('that open an empty index at once each find what they wrote', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { folder, find } = openFolder()
      const programs = [0, 1, 2].map((n) => startProgram('bm25-write-many.mjs', [folder, `p${n}`, '3', 'burst']))
      const acknowledged: string[] = []
      await Promise.all(
        programs.map(async (program) => {
          for await (const key of linesOf(program)) acknowledged.push(key)
        }),
      )
      expect(acknowledged).toHaveLength(9)
      expect((await find('zebra')).sort()).toEqual(acknowledged.sort())
      await expectWhole(folder, acknowledged)
    }
  })

  it('that write and delete the same entries leave an index that says what the files say', async () => {
    const { folder, storage, find, strategy } = openFolder()
    const wrong: string[] = []
    for (let round = 0; round < 4; round += 1) {
      const programs = ['a', 'b', 'c'].map((label) =>
        startProgram('bm25-write-same.mjs', [folder, `r${round}${label}`, '20']),
      )
      await Promise.all(programs.map((program) => once(program, 'close')))
      expect(programs.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0])
      const keys = await storage.list('')
      expect((await find('zebra')).sort()).toEqual(keys)
      for (const key of keys) {
        const word = decode(await storage.read(key))!.split(' ')[1]!
        if (!(await find(word)).includes(key))
          wrong.push(`round ${round}: ${key} holds ${word}, which does not find it`)
      }
      const { indexed, removed } = await strategy.backfill(storage)
      if (indexed + removed > 0) wrong.push(`round ${round}: a backfill had ${indexed + removed} entries to put right`)
    }
    expect(wrong).toEqual([])
  })

  it('keep every acknowledged write in the index, which stays whole, however often they are killed', async () => {
    const { folder, find, strategy, storage } = openFolder()
    const random = seededRandom(20)
    const acknowledged: string[] = []
    const { settled } = collectWarnings()
    for (let round = 0; round < 15; round += 1) {
      const program = startProgram('bm25-write-until-killed.mjs', [folder, `r${round}`])
      const reading = (async () => {
        for await (const key of linesOf(program)) acknowledged.push(key)
      })()
      const before = acknowledged.length
      while (acknowledged.length === before) await sleep(1)
      await sleep(random() * 40)
      program.kill('SIGKILL')
      await reading
      const found = new Set(await find('zebra'))
      expect(acknowledged.filter((key) => !found.has(key))).toEqual([])
      if (round % 3 === 0) await strategy.close()
    }
    // What was written and not indexed before the kill is found after a backfill.
    await strategy.backfill(storage)
    const keys = await storage.list('')
    expect((await find('zebra')).sort()).toEqual(keys)
    await expectWhole(folder, keys)
    expect(await settled()).toEqual([])
  })
})

describe('a process that holds a write transaction', () => {
  /** A folder whose index another process has begun to write. */
  async function heldFolder(begin = 'BEGIN IMMEDIATE') {
    const opened = openFolder()
    await fill(opened.storage, { 'a.md': 'zebra heron', 'b.md': 'zebra walrus' })
    await pythonSdk.hold(opened.index, begin)
    const release = () => pythonSdk.sql(opened.index, 'COMMIT')
    return { ...opened, release }
  }

  it('does not keep searches from answering, of this strategy or a new one', async () => {
    const { folder, find, release } = await heldFolder()
    for (let n = 0; n < 20; n += 1) expect(await find('heron')).toEqual(['a.md'])
    const other = openFolder(undefined, folder)
    expect((await other.find('zebra')).sort()).toEqual(['a.md', 'b.md'])
    expect(await other.find('nothing_of_the_kind')).toEqual([])
    await release()
  })

  it('keeps writes, deletions and a backfill waiting, and they succeed when it is done', async () => {
    const { folder, storage, strategy, find, release } = await heldFolder()
    const waiting = [
      watched(storage.write('c.md', encode('otter'))),
      watched(storage.delete('b.md')),
      watched(strategy.backfill(storage)),
      watched(openFolder(undefined, folder).storage.write('d.md', encode('otter'))),
    ]
    // The bytes land meanwhile, and searches go on.
    while (decode(await storage.read('c.md')) !== 'otter' || decode(await storage.read('d.md')) !== 'otter') {
      expect(await find('heron')).toEqual(['a.md'])
    }
    for (let n = 0; n < 20; n += 1) {
      expect(await find('heron')).toEqual(['a.md'])
      expect(await find('otter')).toEqual([])
    }
    expect(waiting.map(({ isSettled }) => isSettled())).toEqual([false, false, false, false])
    await release()
    await Promise.all(waiting.map(({ promise }) => promise))
    expect((await find('otter')).sort()).toEqual(['c.md', 'd.md'])
    expect(await find('walrus')).toEqual([])
    expect(await find('zebra')).toEqual(['a.md'])
  })

  it('is waited for by a process that opens the index for the first time', async () => {
    const { folder, index, storage, find } = openFolder()
    // Somebody else is about to make it.
    await pythonSdk.hold(
      index,
      'PRAGMA journal_mode = wal',
      'BEGIN IMMEDIATE',
      'CREATE VIRTUAL TABLE documents USING fts5(key, content)',
      'CREATE TABLE doc_hashes (key TEXT PRIMARY KEY, hash TEXT NOT NULL)',
    )
    const writing = watched(storage.write('c.md', encode('otter')))
    while (decode(await storage.read('c.md')) !== 'otter') expect(await find('otter')).toEqual([])
    for (let n = 0; n < 20; n += 1) expect(await find('otter')).toEqual([])
    expect(writing.isSettled()).toBe(false)
    await pythonSdk.sql(index, 'COMMIT')
    await writing.promise
    expect(await find('otter')).toEqual(['c.md'])
    expect(readdirSync(dirname(folder)).filter((name) => name.includes('broken'))).toEqual([])
  })

  it('in the way of older files, where it keeps readers out too, is waited for', async () => {
    const folder = join(scratchDirectory(), 'memory')
    await pythonSdk.bm25Write(folder, { 'a.md': 'zebra heron' })
    const index = indexBeside(folder)
    expect(await pythonSdk.sql(index, 'PRAGMA journal_mode')).toEqual([['delete']])
    const { find, storage } = openFolder(undefined, folder)
    await pythonSdk.hold(index, 'BEGIN EXCLUSIVE')
    const searching = watched(find('heron'))
    const writing = watched(storage.write('b.md', encode('otter')))
    while (decode(await storage.read('b.md')) !== 'otter') await sleep(1)
    expect([searching.isSettled(), writing.isSettled()]).toEqual([false, false])
    await pythonSdk.sql(index, 'COMMIT')
    expect(await searching.promise).toEqual(['a.md'])
    await writing.promise
    expect(await find('otter')).toEqual(['b.md'])
    expect(readdirSync(dirname(folder)).filter((name) => name.includes('broken'))).toEqual([])
  })

  it('for longer than anybody waits has writes say that they are stored and not indexed, and is not taken for broken', async () => {
    const { settled } = collectWarnings()
    const { folder, storage, strategy, find, release } = await heldFolder()
    const other = openFolder(undefined, folder)
    const calls = {
      write: storage.write('c.md', encode('otter')),
      overwrite: other.storage.write('a.md', encode('lemur')),
      index: strategy.index(storage, 'a.md', encode('moose')),
      remove: strategy.remove(storage, 'b.md'),
      backfill: openFolder(undefined, folder).strategy.backfill(storage),
    }
    const waiting = Object.values(calls).map((call) => rejectionOf(call))
    expect(await find('heron')).toEqual(['a.md'])
    const [write, overwrite, index, remove, backfill] = await Promise.all(waiting)
    for (const error of [write!, overwrite!, index!, remove!, backfill!]) {
      expect(error).toBeInstanceOf(StorageError)
      expect(error.cause?.code).toBe('SQLITE_BUSY')
    }
    expect(write!.message).toMatch(/[Ww]rote 'c\.md'.*not indexed/)
    expect(overwrite!.message).toMatch(/[Ww]rote 'a\.md'.*not indexed/)
    expect(index!.message).toMatch(/'a\.md'.*not indexed/)
    expect(remove!.message).toMatch(/'b\.md'/)
    expect(backfill!.message).toContain(indexBeside(folder))
    // All that was promised: the bytes are there, the old index answers, and nothing was set aside.
    expect(decode(await storage.read('c.md'))).toBe('otter')
    expect(await find('walrus')).toEqual(['b.md'])
    await release()
    expect(await strategy.backfill(storage)).toEqual({ indexed: 2, unchanged: 1, removed: 0 })
    expect([await find('otter'), await find('lemur')]).toEqual([['c.md'], ['a.md']])
    expect(await find('heron')).toEqual([])
    expect(await settled()).toEqual([])
    expect(readdirSync(dirname(folder)).filter((name) => name.includes('broken'))).toEqual([])
  })

  it('of one folder delays no other folder of the same strategy', async () => {
    const { strategy, storage, release } = await heldFolder()
    const held = watched(storage.write('c.md', encode('otter')))
    const folders = Array.from({ length: 12 }, () => join(scratchDirectory(), 'memory'))
    const others = folders.map((folder) => new LocalFileStorage(folder, { searchStrategy: strategy }))
    await Promise.all(others.map((other) => other.write('k.md', encode('zebra'))))
    for (const other of others) expect(keysOf(await other.search('zebra'))).toEqual(['k.md'])
    expect(held.isSettled()).toBe(false)
    await release()
    await held.promise
  })

  it('of many folders keeps neither files nor other storages from being read', async () => {
    const folders = await Promise.all(Array.from({ length: 8 }, () => heldFolder()))
    const held = folders.map(({ storage }) => watched(storage.write('c.md', encode('otter'))))
    const free = openFolder()
    await free.storage.write('k.md', encode('zebra'))
    expect(await free.find('zebra')).toEqual(['k.md'])
    for (const { find, storage } of folders) {
      expect(await find('heron')).toEqual(['a.md'])
      expect(decode(await storage.read('a.md'))).toBe('zebra heron')
    }
    expect(held.some(({ isSettled }) => isSettled())).toBe(false)
    for (const { release } of folders) await release()
    await Promise.all(held.map(({ promise }) => promise))
  })

  it('and then dies is as if it had written nothing', async () => {
    const { folder, index, storage, find } = openFolder()
    await fill(storage, { 'a.md': 'zebra heron' })
    const mortal = await PythonSdk.start()
    await mortal.hold(index, 'BEGIN IMMEDIATE', 'DELETE FROM doc_hashes', 'DELETE FROM documents')
    const writing = watched(storage.write('b.md', encode('otter')))
    for (let n = 0; n < 10; n += 1) expect(await find('heron')).toEqual(['a.md'])
    expect(writing.isSettled()).toBe(false)
    await mortal.stop()
    await writing.promise
    expect((await find('heron otter')).sort()).toEqual(['a.md', 'b.md'])
    await expectWhole(folder, ['a.md', 'b.md'])
  })
})

describe('somebody who reads the index for a long time', () => {
  it('delays no write, and the index of the others moves on', async () => {
    const { index, storage, find } = openFolder()
    await fill(storage, { 'a.md': 'zebra heron' })
    await pythonSdk.hold(index, 'BEGIN', 'SELECT count(*) FROM documents')
    for (let n = 0; n < 20; n += 1) {
      await storage.write(`k${n}.md`, encode('otter'))
      expect(await find('otter')).toHaveLength(n + 1)
    }
    await pythonSdk.sql(index, 'COMMIT')
    expect(await find('otter')).toHaveLength(20)
  })
})
