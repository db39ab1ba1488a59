// Many who write one memory file at a time: calls, instances, threads, processes, SDKs, and programs that know nothing of us.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, expect, it, vi } from 'vitest'
import { hasEnded, linesOf, runScript, startProgram } from './child-program.js'
import { memoryStores, SdkTestMemoryStore, TestMemoryStore, type Who } from './implementations.js'
import { layOut, readRecords, record, writeRecords } from './memory-records.js'
import { countReplacements } from './replacements.js'
import { scratchDirectory } from './scratch-directory.js'
import { seededRandom } from './seeded-random.js'
import { rejectionOf } from './settled.js'

vi.setConfig({ testTimeout: 60_000 })

const notes = (): string => join(scratchDirectory(), 'notes.json')

const open = (path: string) => new TestMemoryStore({ name: 'n', path })

const contentsIn = (path: string): string[] => readRecords(path).map(({ content }) => content)

describe('instances in one process', () => {
  it('lose nothing of each other, with 25 adds each at once', async () => {
    const path = notes()
    const [one, other] = [open(path), open(path)]
    const added = await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? one : other).add(`fact ${n}`)))
    expect(
      readRecords(path)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(added.map(({ id }) => id).sort())
    expect(new Set(contentsIn(path)).size).toBe(50)
  })

  it('agree on one record when they add the same text at once', async () => {
    const path = notes()
    const added = await Promise.all(Array.from({ length: 40 }, () => open(path).add('the same text')))
    expect(new Set(added.map(({ id }) => id)).size).toBe(1)
    expect(readRecords(path)).toHaveLength(1)
  })

  it('find at once what the other has added', async () => {
    const path = notes()
    const [one, other] = [open(path), open(path)]
    for (let n = 0; n < 50; n += 1) {
      await one.add(`from_one_${n}`)
      expect(await other.search(`from_one_${n}`)).toHaveLength(1)
      await other.add(`from_other_${n}`)
      expect(await one.search(`from_other_${n}`)).toHaveLength(1)
    }
  })

  it('can each be searched while the other adds, and see whole states only', async () => {
    const path = notes()
    const [writer, reader] = [open(path), open(path)]
    let writing = true
    const writes = (async () => {
      for (let n = 0; n < 100; n += 1) await writer.add(`fact ${n}`)
      writing = false
    })()
    const seen: number[] = []
    while (writing) seen.push((await reader.search('fact', { maxSearchResults: 1_000 })).length)
    await writes
    seen.push((await reader.search('fact', { maxSearchResults: 1_000 })).length)
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(seen.at(-1)).toBe(100)
  })

  it('write a thousand waiting adds with a handful of replacements', async () => {
    const path = notes()
    const store = open(path)
    const replacements = await countReplacements(path, () =>
      Promise.all(Array.from({ length: 1_000 }, (_, n) => store.add(`fact ${n}`))),
    )
    expect(contentsIn(path)).toEqual(Array.from({ length: 1_000 }, (_, n) => `fact ${n}`))
    expect(replacements).toBeGreaterThanOrEqual(1)
    expect(replacements).toBeLessThanOrEqual(10)
    // The measure itself works: adds that wait for each other replace the file once each.
    const oneByOne = await countReplacements(path, async () => {
      for (let n = 0; n < 20; n += 1) await store.add(`later fact ${n}`)
    })
    expect(oneByOne).toBe(20)
  })

  it('write the waiting adds of many instances with a handful of replacements', async () => {
    const path = notes()
    const stores = Array.from({ length: 10 }, () => open(path))
    const replacements = await countReplacements(path, () =>
      Promise.all(Array.from({ length: 1_000 }, (_, n) => stores[n % 10]!.add(`fact ${n}`))),
    )
    expect(readRecords(path)).toHaveLength(1_000)
    expect(replacements).toBeLessThanOrEqual(10)
  })

  it('store the good adds of a burst with bad ones among them', async () => {
    const path = notes()
    const store = open(path)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) => {
        if (n % 3 === 1) return store.add(' ')
        return n % 3 === 2 ? store.add(`bad ${n}`, { n: 1n } as never) : store.add(`good ${n}`)
      }),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
    expect(contentsIn(path)).toEqual(Array.from({ length: 20 }, (_, n) => `good ${3 * n}`))
  })

  it('use several files at once without mixing them', async () => {
    const directory = scratchDirectory()
    const paths = Array.from({ length: 8 }, (_, n) => join(directory, `notes-${n}.json`))
    const stores = paths.map(open)
    await Promise.all(Array.from({ length: 400 }, (_, n) => stores[n % 8]!.add(`fact ${n}`)))
    for (const [n, path] of paths.entries()) {
      expect(contentsIn(path)).toEqual(Array.from({ length: 50 }, (_, m) => `fact ${8 * m + n}`))
    }
    expect(readdirSync(directory)).toHaveLength(8)
  })
})

describe('worker threads', () => {
  it('add to one file together, and to that of the main thread', async () => {
    const path = notes()
    const start = (label: string) => {
      const program = new URL('programs/adding-worker.mjs', import.meta.url)
      const worker = new Worker(program, { workerData: { path, label, count: 50 } })
      return once(worker, 'message').then(([ids]) => ids as string[])
    }
    const store = open(path)
    const workers = ['a', 'b', 'c', 'd'].map(start)
    const ours = Array.from({ length: 50 }, (_, n) => store.add(`main_${n}`))
    const ids = [...(await Promise.all(workers)).flat(), ...(await Promise.all(ours)).map(({ id }) => id)]
    expect(
      readRecords(path)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(ids.sort())
    expect(new Set(contentsIn(path)).size).toBe(250)
    expect(await store.search('c_49')).toHaveLength(1)
  })
})

describe('processes', () => {
  it.each(['one-by-one', 'burst'])(
    'add 200 facts each, %s, while a reader sees whole files and nothing stale',
    async (pace) => {
      const path = notes()
      const store = open(path)
      const acknowledged: { id: string; content: string }[] = []
      const programs = ['left', 'right'].map((label) =>
        startProgram('add-many.mjs', ['native', path, label, '200', pace]),
      )
      const reading = programs.map(async (program) => {
        for await (const line of linesOf(program))
          acknowledged.push(JSON.parse(line) as { id: string; content: string })
      })
      let searches = 0
      while (!programs.every(hasEnded)) {
        const last = acknowledged.at(-1)
        if (last === undefined) {
          await sleep(1)
          continue
        }
        // Every state of the file is whole JSON, and holds what was acknowledged before it was read.
        const known = acknowledged.length
        expect(readRecords(path).length).toBeGreaterThanOrEqual(known)
        expect(await store.search(last.content)).toMatchObject([{ content: last.content }])
        searches += 1
      }
      await Promise.all(reading)
      expect(programs.map(({ exitCode }) => exitCode)).toEqual([0, 0])
      expect(searches).toBeGreaterThan(0)
      const ids = new Map(readRecords(path).map(({ id, content }) => [content, id]))
      expect(acknowledged).toHaveLength(400)
      expect(ids.size).toBe(400)
      for (const { id, content } of acknowledged) expect(ids.get(content)).toBe(id)
      expect(readdirSync(join(path, '..'))).toEqual(['notes.json'])
    },
  )

  it('keep every acknowledged add, and the file whole, however often they are killed', async () => {
    const directory = scratchDirectory()
    const path = join(directory, 'notes.json')
    const random = seededRandom(7)
    const acknowledged: string[] = []
    for (let round = 0; round < 24; round += 1) {
      const program = startProgram('add-until-killed.mjs', [path, `round_${round}`])
      const reading = (async () => {
        for await (const id of linesOf(program)) acknowledged.push(id)
      })()
      const before = acknowledged.length
      while (acknowledged.length === before) await sleep(1)
      await sleep(random() * 40)
      program.kill('SIGKILL')
      await reading
      const ids = new Set(readRecords(path).map(({ id }) => id))
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
    }
    expect(acknowledged.length).toBeGreaterThan(24)
    expect(readFileSync(path, 'utf8')).toBe(layOut(readRecords(path)))
    // What a killed process left behind has the name of a scratch file, goes when it is old, and no lock stays.
    const orphans = readdirSync(directory).filter((name) => name !== 'notes.json')
    for (const name of orphans) {
      expect(name).toMatch(/^\.__strands_tmp_/)
      utimesSync(join(directory, name), 0, 0)
    }
    await open(path).add('goes on')
    expect(readdirSync(directory)).toEqual(['notes.json'])
  })

  it('that hold a file up delay the adds to it, and nothing else', async () => {
    const directory = scratchDirectory()
    const [held, ...free] = Array.from({ length: 12 }, (_, n) => join(directory, `notes-${n}.json`))
    for (const path of [held!, ...free]) writeRecords(path, [record(1, 'an apple')])
    // What another process of this package does while it writes, only for as long as the test likes.
    const holder = spawn('flock', [held!, 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    let isAdded = false
    const adding = open(held!)
      .add('a pear')
      .then(() => {
        isAdded = true
      })
    await Promise.all(free.map((path) => open(path).add('a pear')))
    expect(await open(held!).search('apple')).toHaveLength(1)
    expect(isAdded).toBe(false)
    holder.stdin.end('go on\n')
    await adding
    for (const path of [held!, ...free]) expect(contentsIn(path)).toEqual(['an apple', 'a pear'])
  })

  it('by the hundred in one directory do not wait for each other', async () => {
    const directory = scratchDirectory()
    const stores = Array.from({ length: 300 }, (_, n) => open(join(directory, `notes-${n}.json`)))
    await Promise.all(stores.flatMap((store) => [store.add('one'), store.add('two')]))
    for (let n = 0; n < 300; n += 1) expect(contentsIn(join(directory, `notes-${n}.json`))).toEqual(['one', 'two'])
  })

  it('of two users keep every acknowledged memory, also where one may not list the directory', async () => {
    const directory = join(scratchDirectory(), 'shared')
    mkdirSync(directory)
    chmodSync(directory, 0o733)
    chmodSync(join(directory, '..'), 0o755)
    const path = join(directory, 'notes.json')
    writeRecords(path, [])
    chmodSync(path, 0o666)
    const add = (label: string, rights: string) =>
      runScript<number>(`
        const { TestMemoryStore } = await load('native')
        ${rights}
        const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(path)} })
        for (let n = 0; n < 150; n += 1) await store.add('${label} ' + n)
        console.log(150)
      `)
    expect(await Promise.all([add('root', ''), add('other', 'dropRights()')])).toEqual([150, 150])
    expect(readRecords(path)).toHaveLength(300)
  })

  it('that make the file at the same time keep every acknowledged memory', async () => {
    for (let round = 0; round < 5; round += 1) {
      const path = join(scratchDirectory(), 'made/notes.json')
      const programs = [0, 1, 2].map((n) => startProgram('add-many.mjs', ['native', path, `p${n}`, '5', 'burst']))
      const acknowledged: string[] = []
      const collect = async (program: (typeof programs)[number]) => {
        for await (const line of linesOf(program)) acknowledged.push(line)
      }
      await Promise.all(programs.map(collect))
      expect(acknowledged).toHaveLength(15)
      expect(readRecords(path)).toHaveLength(15)
    }
  })

  it('wait for one that stands still in the midst of a write, and lose nothing', async () => {
    const path = notes()
    const program = startProgram('add-until-killed.mjs', [path, 'halting'])
    const lines = linesOf(program)
    const acknowledged = new Set<string>()
    for (let halt = 0; halt < 5; halt += 1) {
      for (let n = 0; n < 5; n += 1) acknowledged.add((await lines.next()).value as string)
      program.kill('SIGSTOP')
      const adding = open(path).add(`while it stands still ${halt}`)
      // Whether the other holds the lock now is left to chance; the event loop of this process goes on in any case.
      await sleep(20)
      program.kill('SIGCONT')
      acknowledged.add((await adding).id)
    }
    program.kill('SIGKILL')
    for await (const id of lines) acknowledged.add(id)
    const ids = new Set(readRecords(path).map(({ id }) => id))
    expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([])
  })
})

describe('a change by someone else is seen by the very next call', () => {
  /** Two files of the same size that differ in one word. */
  const apple = layOut([record(1, 'an apple'), record(2, 'old')])
  const peach = apple.replace('apple', 'peach')

  const sees = async (store: { search(query: string): Promise<unknown[]> }) => [
    (await store.search('apple')).length,
    (await store.search('peach')).length,
  ]

  it('when the file is overwritten in place', async () => {
    const path = notes()
    writeFileSync(path, apple)
    const store = open(path)
    expect(await sees(store)).toEqual([1, 0])
    writeFileSync(path, peach)
    expect(await sees(store)).toEqual([0, 1])
  })

  it('when it is overwritten by as many bytes, and given its old time of change again', async () => {
    const path = notes()
    writeFileSync(path, apple)
    const store = open(path)
    for (let round = 0; round < 20; round += 1) {
      const { atime, mtime } = statSync(path)
      expect(await sees(store)).toEqual(round % 2 === 0 ? [1, 0] : [0, 1])
      writeFileSync(path, round % 2 === 0 ? peach : apple)
      utimesSync(path, atime, mtime)
    }
    expect(await sees(store)).toEqual([1, 0])
  })

  it('when it is overwritten many times within one tick of the clock', async () => {
    const path = notes()
    writeFileSync(path, apple)
    const store = open(path)
    const file = openSync(path, 'r+')
    try {
      const stale: number[] = []
      for (let round = 0; round < 500; round += 1) {
        const now = round % 2 === 0 ? peach : apple
        writeSync(file, now, 0)
        const found = await store.search('peach')
        if (found.length !== 1 - (round % 2)) stale.push(round)
      }
      expect(stale).toEqual([])
    } finally {
      closeSync(file)
    }
  })

  it('when it is overwritten right after our own add', async () => {
    const path = notes()
    const store = open(path)
    const stale: number[] = []
    for (let round = 0; round < 60; round += 1) {
      await store.add(`apple_${round}`)
      const text = readFileSync(path, 'utf8')
      const { atime, mtime } = statSync(path)
      writeFileSync(path, text.replace(`apple_${round}`, `peach_${round}`))
      if (round % 2 === 0) utimesSync(path, atime, mtime)
      if ((await store.search(`peach_${round}`)).length !== 1) stale.push(round)
      if ((await store.search(`apple_${round}`)).length !== 0) stale.push(round)
    }
    expect(stale).toEqual([])
    expect(readRecords(path)).toHaveLength(60)
  })

  it('when another file of the same size and time is moved into its place', async () => {
    const path = notes()
    const time = new Date(1_700_000_000_000)
    writeFileSync(path, apple)
    utimesSync(path, time, time)
    const store = open(path)
    for (let round = 0; round < 20; round += 1) {
      expect(await sees(store)).toEqual(round % 2 === 0 ? [1, 0] : [0, 1])
      writeFileSync(`${path}.new`, round % 2 === 0 ? peach : apple)
      utimesSync(`${path}.new`, time, time)
      renameSync(`${path}.new`, path)
    }
    expect(await sees(store)).toEqual([1, 0])
  })

  it('when it bears a time in the future', async () => {
    const path = notes()
    const future = new Date(Date.now() + 86_400_000)
    const store = open(path)
    for (let round = 0; round < 10; round += 1) {
      writeFileSync(path, round % 2 === 0 ? peach : apple)
      utimesSync(path, future, future)
      expect(await sees(store)).toEqual(round % 2 === 0 ? [0, 1] : [1, 0])
    }
  })

  it('when it is deleted, and when it is there again', async () => {
    const path = notes()
    writeFileSync(path, apple)
    const store = open(path)
    expect(await sees(store)).toEqual([1, 0])
    copyFileSync(path, `${path}.copy`)
    unlinkSync(path)
    expect(await sees(store)).toEqual([0, 0])
    renameSync(`${path}.copy`, path)
    expect(await sees(store)).toEqual([1, 0])
    unlinkSync(path)
    await store.add('a plum')
    expect(contentsIn(path)).toEqual(['a plum'])
  })

  it('when it is cut short, which is an error until it is whole again', async () => {
    const path = notes()
    writeFileSync(path, apple)
    const store = open(path)
    expect(await sees(store)).toEqual([1, 0])
    truncateSync(path, 40)
    expect((await rejectionOf(store.search('apple'))).message).toContain(path)
    expect((await rejectionOf(store.add('a plum'))).message).toContain(path)
    expect(readFileSync(path, 'utf8')).toBe(apple.slice(0, 40))
    const file = openSync(path, 'r+')
    ftruncateSync(file, 0)
    closeSync(file)
    expect((await rejectionOf(store.search('apple'))).message).toContain(path)
    writeFileSync(path, apple)
    expect(await sees(store)).toEqual([1, 0])
  })

  it('when the directory is moved away and another takes its name', async () => {
    const root = scratchDirectory()
    const store = open(join(root, 'one/notes.json'))
    await store.add('an apple')
    renameSync(join(root, 'one'), join(root, 'two'))
    expect(await store.search('apple')).toEqual([])
    await store.add('a peach')
    expect([contentsIn(join(root, 'one/notes.json')), contentsIn(join(root, 'two/notes.json'))]).toEqual([
      ['a peach'],
      ['an apple'],
    ])
  })

  it('when an add of ours meets it: both are kept', async () => {
    const path = notes()
    const store = open(path)
    for (let round = 0; round < 30; round += 1) {
      await store.add(`ours ${round}`)
      writeRecords(path, [...readRecords(path), record(round, `theirs ${round}`)])
    }
    expect(new Set(contentsIn(path)).size).toBe(60)
  })

  it('when the text to add has come, or gone, by another hand', async () => {
    const path = notes()
    const store = open(path)
    await store.add('a plum')
    writeRecords(path, [record(1, 'an apple')])
    expect(await store.add('an apple')).toEqual({ id: record(1, '').id })
    const { id } = await store.add('a plum')
    expect(readRecords(path).map((r) => r.id)).toEqual([record(1, '').id, id])
  })
})

describe('an unchanged file', () => {
  it('is not read again', async () => {
    const path = notes()
    writeRecords(
      path,
      Array.from({ length: 20_000 }, (_, n) => record(n, `fact ${n} of many`)),
    )
    const { first, later } = await runScript<{ first: number; later: number }>(`
      import { readFileSync } from 'node:fs'
      import { setTimeout as sleep } from 'node:timers/promises'
      const { TestMemoryStore } = await load('native')
      const bytesRead = () => Number(/rchar: (\\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))[1])
      // A file that has just been written may yet change without a trace.
      await sleep(100)
      const store = new TestMemoryStore({ name: 'n', path: ${JSON.stringify(path)} })
      const start = bytesRead()
      await store.search('fact')
      const read = bytesRead()
      for (let n = 0; n < 200; n += 1) await store.search('fact ' + n)
      for (let n = 0; n < 20; n += 1) await store.add('fact ' + n + ' of many')
      console.log(JSON.stringify({ first: read - start, later: bytesRead() - read }))
    `)
    const { size } = statSync(path)
    expect(first).toBeGreaterThanOrEqual(size)
    expect(later).toBeLessThan(size / 10)
  })
})

describe('the SDK and this package on one file', () => {
  const orders: Who[][] = [2, 3, 4].flatMap((length) =>
    Array.from({ length: 2 ** length }, (_, bits) =>
      Array.from({ length }, (_, n) => ((bits >> n) & 1 ? 'native' : 'sdk') as Who),
    ),
  )

  it('keep every add in every order', async () => {
    for (const order of orders) {
      const path = notes()
      const stores = Object.fromEntries(memoryStores.map(([who, Store]) => [who, new Store({ name: 'n', path })]))
      for (const [n, who] of order.entries()) {
        const { id } = await stores[who]!.add(`fact_${n} by ${who}`, { n })
        const other = stores[who === 'sdk' ? 'native' : 'sdk']!
        expect(await other.search(`fact_${n}`), order.join(' ')).toMatchObject([{ content: `fact_${n} by ${who}` }])
        expect(await other.add(`fact_${n} by ${who}`), order.join(' ')).toEqual({ id })
      }
      expect(contentsIn(path)).toEqual(order.map((who, n) => `fact_${n} by ${who}`))
      expect(readFileSync(path, 'utf8')).toBe(layOut(readRecords(path)))
    }
  })

  it('hide nothing from each other while they take turns quickly', async () => {
    const path = notes()
    const [ours, theirs] = [open(path), new SdkTestMemoryStore({ name: 'n', path })]
    for (let n = 0; n < 60; n += 1) {
      await theirs.add(`theirs_${n}`)
      expect(await ours.search(`theirs_${n}`)).toHaveLength(1)
      await ours.add(`ours_${n}`)
      expect(await theirs.search(`ours_${n}`)).toHaveLength(1)
    }
    expect(readRecords(path)).toHaveLength(120)
  })
})
