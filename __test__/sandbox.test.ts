// LocalFileStorage with a sandbox: every byte goes through it, and the host is not touched.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Agent } from '@strands-agents/sdk'
import { type ExecutionResult, PosixShellSandbox, type Sandbox, type StreamChunk } from '@strands-agents/sdk/sandbox'
import type { LocalFileStorage, Storage, StorageSearchResult } from 'strands-native/storage'
import { KeywordSearchStrategy } from 'strands-native/storage/search'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fill, keysAndScores } from './entries.js'
import { nativeStorage, sdkStorage, storages, type Who } from './implementations.js'
import { MapSandbox, type SandboxCall } from './map-sandbox.js'
import { scratchDirectory } from './scratch-directory.js'
import { ScriptedModel } from './scripted-model.js'
import { rejectionOf, settled } from './settled.js'
import { decode, encode } from './text-bytes.js'

const { StorageError } = nativeStorage

function open(who: Who, baseDir: string | undefined, ...extras: unknown[]): LocalFileStorage {
  const classes = who === 'sdk' ? sdkStorage : nativeStorage
  return new classes.LocalFileStorage(baseDir, ...(extras as [])) as unknown as LocalFileStorage
}

/** A sandbox each of whose calls fails with the same value. */
function failing(fault: unknown): Sandbox {
  const fail = () => Promise.reject(fault)
  return { readFile: fail, writeFile: fail, removeFile: fail, listFiles: fail } as unknown as Sandbox
}

/** A sandbox each of whose calls throws before it returns a promise. */
function throwing(fault: unknown): Sandbox {
  const fail = () => {
    throw fault
  }
  return { readFile: fail, writeFile: fail, removeFile: fail, listFiles: fail } as unknown as Sandbox
}

/** The environment of the host, as the SDK's agents have it who are given no sandbox. */
const hostEnvironment = (): Sandbox =>
  new Agent({ model: new ScriptedModel(() => ({ text: '' })), printer: false }).sandbox

/** Commands run in a shell of the host, with the SDK's code for sandboxes that have nothing but a shell. */
class ShellOfTheHost extends PosixShellSandbox {
  private readonly host = hostEnvironment()

  override executeStreaming(command: string, options?: object): AsyncIterable<StreamChunk | ExecutionResult> {
    return this.host.executeStreaming(command, options)
  }
}

/** What a call rejects with, of any type. */
const fulfilled = Symbol('fulfilled')
const rejected = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => fulfilled,
    (error: unknown) => error,
  )

const each = storages.map(([who]) => who)

describe.each(each)('%s LocalFileStorage in a sandbox', (who) => {
  it('writes, reads, lists, deletes and searches in it, and touches nothing on the host', async () => {
    const host = scratchDirectory()
    const sandbox = new MapSandbox()
    const storage = open(who, join(host, 'base'), sandbox)
    await fill(storage, { 'a/b.md': 'dark mode', c: 'dark' })
    expect(decode(await storage.read('a/b.md'))).toBe('dark mode')
    expect(await storage.list('')).toEqual(['a/b.md', 'c'])
    expect(await storage.list('a/')).toEqual(['a/b.md'])
    expect(keysAndScores(await storage.search('dark mode'))).toEqual([
      ['a/b.md', 2],
      ['c', 1],
    ])
    await storage.delete('c')
    expect(await storage.list('')).toEqual(['a/b.md'])
    expect([...sandbox.files.keys()]).toEqual([join(host, 'base/a/b.md')])
    expect(readdirSync(host)).toEqual([])
  })

  it('does not see what is on the host', async () => {
    const host = scratchDirectory()
    writeFileSync(join(host, 'secret'), 'dark')
    const storage = open(who, host, new MapSandbox())
    expect(await storage.read('secret')).toBeNull()
    expect(await storage.list('')).toEqual([])
    expect(await storage.search('dark')).toEqual([])
    await storage.delete('secret')
    expect(readFileSync(join(host, 'secret'), 'utf8')).toBe('dark')
  })

  it('calls the methods of the sandbox as methods, once each, with bytes and a path', async () => {
    const seen: unknown[][] = []
    const sandbox = {
      async readFile(...args: unknown[]) {
        seen.push(['readFile', this === sandbox, ...args])
        return encode('x')
      },
      async writeFile(path: string, content: Uint8Array, ...more: unknown[]) {
        seen.push(['writeFile', this === sandbox, path, content instanceof Uint8Array, decode(content), ...more])
      },
      async removeFile(...args: unknown[]) {
        seen.push(['removeFile', this === sandbox, ...args])
      },
      async listFiles(...args: unknown[]) {
        seen.push(['listFiles', this === sandbox, ...args])
        return []
      },
    }
    const storage = open(who, '/box/', sandbox)
    await storage.write('/a//b', encode('text'))
    await storage.read('a/b')
    await storage.delete('a/b')
    await storage.list('a/b')
    expect(seen).toEqual([
      ['writeFile', true, '/box/a/b', true, 'text'],
      ['readFile', true, '/box/a/b'],
      ['removeFile', true, '/box/a/b'],
      ['listFiles', true, '/box/a'],
    ])
  })

  it('refuses bad keys and prefixes before the sandbox hears of them', async () => {
    const sandbox = new MapSandbox()
    const storage = open(who, '/box', sandbox)
    for (const key of ['..', 'a/../b', 'a\\b', '', '/']) {
      for (const call of [storage.write(key, encode('')), storage.read(key), storage.delete(key)]) {
        expect((await rejectionOf(call)).name).toBe('StorageError')
      }
    }
    for (const prefix of ['..', 'a/../', 'a\\']) {
      expect((await rejectionOf(storage.list(prefix))).name).toBe('StorageError')
    }
    expect(sandbox.calls).toEqual([])
  })

  describe.each(['ENOENT', 'ENOTDIR'])('takes %s for missing:', (code) => {
    it.each([
      ['rejected', failing],
      ['thrown', throwing],
    ])('%s', async (_, make) => {
      for (const fault of [Object.assign(new Error('gone'), { code }), { code }]) {
        const storage = open(who, '/box', make(fault))
        expect(await storage.read('k')).toBeNull()
        expect(await storage.delete('k')).toBeUndefined()
        expect(await storage.list('')).toEqual([])
        expect(await storage.search('k')).toEqual([])
        // A write has nothing to be missing but its folder, which is the sandbox's business.
        expect(await rejected(storage.write('k', encode('')))).toMatchObject({ name: 'StorageError', cause: fault })
      }
    })
  })

  const faults: [string, unknown][] = [
    ['EACCES', Object.assign(new Error('permission denied'), { code: 'EACCES' })],
    ['EISDIR', Object.assign(new Error('is a directory'), { code: 'EISDIR' })],
    ['a time-out', Object.assign(new Error('Execution timed out after 5 seconds'), { name: 'SandboxTimeoutError' })],
    ['an error whose message says ENOENT', new Error('ENOENT: no such file')],
    ['a StorageError', new StorageError('broken')],
    ['a string', 'ENOENT'],
    ['a number', 5],
    ['undefined', undefined],
    ['null', null],
    ['a symbol', Symbol('broken')],
  ]
  describe.each(faults)('makes a StorageError of %s:', (_, fault) => {
    it.each([
      ['rejected', failing],
      ['thrown', throwing],
    ])('%s', async (_, make) => {
      const storage = open(who, '/box', make(fault))
      const calls: [Promise<unknown>, string][] = [
        [storage.write('/a//b', encode('text')), "Failed to write 'a/b' to sandbox storage"],
        [storage.read('a/b'), "Failed to read 'a/b' from sandbox storage"],
        [storage.delete('a/b'), "Failed to delete 'a/b' from sandbox storage"],
        [storage.list(''), "Failed to list sandbox storage under ''"],
        [storage.list('a/b'), "Failed to list sandbox storage under 'a'"],
        [storage.search('word'), "Failed to list sandbox storage under ''"],
      ]
      for (const [call, message] of calls) {
        const error = (await rejected(call)) as Error
        expect(error).toBeInstanceOf(Error)
        if (who === 'native') expect(error).toBeInstanceOf(StorageError)
        expect([error.name, error.message, 'cause' in error]).toEqual(['StorageError', message, true])
        expect(error.cause).toBe(fault)
      }
    })
  })

  it('names the folder below which a listing failed', async () => {
    const sandbox = {
      ...failing(undefined),
      listFiles: async (path: string) => {
        if (path === '/box/a/b') throw new Error('permission denied')
        return [{ name: path === '/box' ? 'a' : 'b', isDir: true }]
      },
    }
    const error = await rejectionOf(open(who, '/box', sandbox).list(''))
    expect(error.message).toBe("Failed to list sandbox storage under 'a/b'")
  })

  it('leaves out a folder that vanishes while it lists', async () => {
    const sandbox = {
      ...failing(undefined),
      listFiles: async (path: string) => {
        if (path !== '/box') throw Object.assign(new Error('gone'), { code: 'ENOENT' })
        return [{ name: 'gone', isDir: true }, { name: 'k' }]
      },
    }
    expect(await open(who, '/box', sandbox).list('')).toEqual(['k'])
  })

  const oddNames = [
    'a b',
    '-x',
    'new\nline',
    'tab\tname',
    "quo'te",
    'quo"te',
    '$HOME',
    '`id`',
    '\u{1f600}',
    '復é',
    '*',
    ' ',
  ]
  it.each(oddNames)('keeps an entry named %j', async (name) => {
    const storage = open(who, '/box', new MapSandbox())
    for (const key of [name, `folder ${name}/${name}`]) {
      await storage.write(key, encode('dark'))
      expect(decode(await storage.read(key))).toBe('dark')
    }
    expect(await storage.list('')).toEqual([name, `folder ${name}/${name}`].sort())
    expect(await storage.list(`folder ${name}/`)).toEqual([`folder ${name}/${name}`])
    expect(await storage.search('dark')).toHaveLength(2)
    await storage.delete(name)
    expect(await storage.list('')).toEqual([`folder ${name}/${name}`])
  })

  it('keeps all bytes from 0 to 255, and none', async () => {
    const storage = open(who, '/box', new MapSandbox())
    for (const value of [Uint8Array.from({ length: 256 }, (_, n) => n), new Uint8Array()]) {
      await storage.write('k', value)
      expect([...(await storage.read('k'))!]).toEqual([...value])
    }
  })

  it('sorts as JavaScript does, whatever the order of the sandbox', async () => {
    const names = ['b', '\uff5e', 'a', '\u{1f600}', 'B', 'a/b', 'a.b', 'é']
    const storage = open(who, '/box', new MapSandbox())
    for (const name of names.filter((name) => name !== 'a')) await storage.write(name, encode(''))
    expect(await storage.list('')).toEqual(names.filter((name) => name !== 'a').sort())
  })

  it('does not list scratch files, and folders of that name it does', async () => {
    const sandbox = new MapSandbox()
    for (const path of ['k', '.env', 'k.__strands_tmp_1', '.__strands_tmp_2', 'd.__strands_tmp/k']) {
      sandbox.files.set(`/box/${path}`, encode(''))
    }
    expect(await open(who, '/box', sandbox).list('')).toEqual(['.env', 'd.__strands_tmp/k', 'k'])
  })

  it('does not tell a strategy of writes, since there is no file of the host to index, and lets it search', async () => {
    const seen: unknown[] = []
    const strategy = {
      index: async () => void seen.push('index'),
      remove: async () => void seen.push('remove'),
      search: async (storage: Storage, query: string): Promise<StorageSearchResult[]> => {
        seen.push(['search', storage === held, query])
        return [{ key: 'made-up', score: 1 }]
      },
    }
    const held = open(who, '/box', new MapSandbox(), strategy)
    await held.write('k', encode('text'))
    expect(await held.search('q')).toEqual([{ key: 'made-up', score: 1 }])
    await held.delete('k')
    expect(seen).toEqual([['search', true, 'q']])
  })

  it('has namespaces in the same sandbox, rooted at the subfolder', async () => {
    const sandbox = new MapSandbox()
    const view = open(who, '/box', sandbox).namespace('mem')
    const inner = view.namespace('/a//b/')
    await fill(view, { k: 'dark' })
    await fill(inner, { k: 'pale' })
    await open(who, '/box', sandbox).write('memory/k', encode('dark'))
    expect([...sandbox.files.keys()]).toEqual(['/box/mem/k', '/box/mem/a/b/k', '/box/memory/k'])
    expect([view.baseDir, inner.baseDir]).toEqual(['/box/mem', '/box/mem/a/b'])
    expect(await view.list('')).toEqual(['a/b/k', 'k'])
    expect(keysAndScores(await view.search('dark'))).toEqual([['k', 1]])
    expect(keysAndScores(await inner.search('pale'))).toEqual([['k', 1]])
  })

  it('forSandbox gives a storage in the sandbox beside one on the host, with the same folder and strategy', async () => {
    const host = scratchDirectory()
    const strategy = { search: async () => [{ key: 'made-up', score: 1 }] }
    const storage = open(who, host, undefined, strategy)
    const sandbox = new MapSandbox()
    const boxed = storage.forSandbox(sandbox)
    expect(boxed).not.toBe(storage)
    expect(boxed.baseDir).toBe(host)
    await boxed.write('k', encode('boxed'))
    await storage.write('h', encode('host'))
    expect([await boxed.list(''), await storage.list('')]).toEqual([['k'], ['h']])
    expect(await boxed.search('q')).toEqual([{ key: 'made-up', score: 1 }])
    expect([existsSync(join(host, 'k')), sandbox.files.has(`${host}/h`)]).toEqual([false, false])
  })

  it('forSandbox gives the storage itself where it has a sandbox, which it keeps', async () => {
    const [first, second] = [new MapSandbox(), new MapSandbox()]
    const constructed = open(who, '/box', first)
    const bound = open(who, '/box').forSandbox(first)
    for (const storage of [constructed, bound, constructed.namespace('n'), bound.namespace('n')]) {
      expect(storage.forSandbox(second)).toBe(storage)
      await storage.write('k', encode(''))
    }
    expect([first.files.size, second.files.size]).toEqual([2, 0])
  })

  it('may serve many sandboxes from one storage', async () => {
    const storage = open(who, '/box')
    const sandboxes = Array.from({ length: 5 }, () => new MapSandbox())
    await Promise.all(sandboxes.map((sandbox, n) => storage.forSandbox(sandbox).write('k', encode(`${n}`))))
    expect(sandboxes.map(({ files }) => decode(files.get('/box/k')!))).toEqual(['0', '1', '2', '3', '4'])
  })
})

describe('native LocalFileStorage in a sandbox, call by call,', () => {
  const bases = ['./x', 'x/', 'x//y', '.', './', '///a//', 'a/../b', undefined, ' ', '..', '/tmp/']
  it.each(bases)('asks for the paths that the SDK asks for, below %j', async (baseDir) => {
    const callsOf = async (who: Who): Promise<[SandboxCall[], unknown[]]> => {
      const sandbox = new MapSandbox()
      const outcomes: unknown[] = []
      const storage = open(who, baseDir, sandbox)
      const views = [
        storage,
        ...['n', '/n//m/', '', '.', '/'].map((prefix) => storage.namespace(prefix)),
        storage.namespace('n').namespace('o'),
      ]
      for (const view of views) {
        for (const key of ['a', '/a//b/', './c', 'a/./b', 'a b', '-x', 'new\nline', '..', 'x\\y', '']) {
          outcomes.push(await settled(() => view.write(key, encode(key))))
          outcomes.push(await settled(async () => decode(await view.read(key))))
          if (key !== 'a b') outcomes.push(await settled(() => view.delete(key)))
          outcomes.push(await settled(() => view.delete('absent')))
        }
        for (const prefix of ['', 'a', 'a/', '/a/b', 'a//b/', '.', './', '/', '..', 'absent/x']) {
          outcomes.push(await settled(() => view.list(prefix)))
        }
      }
      return [sandbox.calls, outcomes]
    }
    const [calls, outcomes] = await callsOf('native')
    expect(calls.length).toBeGreaterThan(200)
    expect([calls, outcomes]).toEqual(await callsOf('sdk'))
  })

  // The SDK asks for an empty path there, which no sandbox knows.
  it('lists the root of the sandbox as "/"', async () => {
    const sandbox = new MapSandbox()
    await open('native', '/', sandbox).list('')
    await open('sdk', '/', sandbox).list('')
    expect(sandbox.calls).toEqual([
      ['list', '/'],
      ['list', ''],
    ])
  })
})

// What only ours promises: copies, plain arrays, and a word on strategies that a sandbox makes useless.
describe('native LocalFileStorage in a sandbox, unlike the SDK,', () => {
  it('writes the bytes as they were at the call', async () => {
    const sandbox = new MapSandbox()
    const buffer = Buffer.from('..text..')
    const written = open('native', '/box', sandbox).write('k', buffer.subarray(2, 6))
    buffer.fill(120)
    await written
    expect(decode(sandbox.files.get('/box/k')!)).toBe('text')
  })

  it('reads a Buffer, and any other Uint8Array, as a plain one of its own', async () => {
    const sandbox = new MapSandbox()
    const whole = Buffer.from('..text..')
    for (const content of [whole.subarray(2, 6), encode('text'), new (class extends Uint8Array {})(encode('text'))]) {
      sandbox.files.set('/box/k', content)
      const value = (await open('native', '/box', sandbox).read('k'))!
      expect(Object.getPrototypeOf(value)).toBe(Uint8Array.prototype)
      expect([decode(value), value.byteOffset, value.buffer.byteLength]).toEqual(['text', 0, 4])
      value.fill(0)
      expect(decode(sandbox.files.get('/box/k')!)).toBe('text')
    }
  })

  it('takes the sandbox as an argument or as an option', async () => {
    const strategy = { search: async () => [{ key: 'made-up', score: 1 }] }
    for (const [extras, found] of [
      [[new MapSandbox()], 'k'],
      [[{ sandbox: new MapSandbox() }], 'k'],
      [[{ sandbox: new MapSandbox(), searchStrategy: strategy }], 'made-up'],
      [[{ sandbox: new MapSandbox() }, strategy], 'made-up'],
      [[new MapSandbox(), strategy], 'made-up'],
      [[{ sandbox: undefined, fsync: true }], 'k'],
    ] as const) {
      const storage = open('native', scratchDirectory(), ...extras)
      await storage.write('k', encode('dark'))
      expect((await storage.search('dark'))[0]!.key).toBe(found)
    }
  })

  it.each([5, 'text', {}, { listFiles: () => [] }])('refuses the sandbox %j', (sandbox) => {
    expect(() => open('native', '/box', { sandbox })).toThrow(/sandbox/)
    expect(() => open('native', '/box').forSandbox(5 as never)).toThrow(/sandbox/)
  })

  it('awaits thenables and plain values of the sandbox', async () => {
    // biome-ignore-start lint/suspicious/noThenProperty: a thenable is what the test is about
    const later = (value: unknown) => ({ then: (resolve: (value: unknown) => void) => setImmediate(resolve, value) })
    // biome-ignore-end lint/suspicious/noThenProperty: a thenable is what the test is about
    for (const wrap of [later, (value: unknown) => value]) {
      const storage = open('native', '/box', {
        readFile: () => wrap(Buffer.from('dark')),
        writeFile: () => wrap(5),
        removeFile: () => wrap(5),
        listFiles: () => wrap([{ name: 'k' }]),
      })
      expect(await storage.write('k', encode(''))).toBeUndefined()
      expect(await storage.delete('k')).toBeUndefined()
      expect(decode(await storage.read('k'))).toBe('dark')
      expect(await storage.list('')).toEqual(['k'])
      expect(keysAndScores(await storage.search('dark'))).toEqual([['k', 1]])
    }
  })

  it('rejects a path of another type and data that are no bytes, as on the host', async () => {
    const storage = open('native', '/box', new MapSandbox())
    for (const call of [
      storage.read(5 as never),
      storage.write('k', 'text' as never),
      storage.delete(undefined as never),
      storage.list(null as never),
      storage.search(5 as never),
    ]) {
      expect(call).toBeInstanceOf(Promise)
      expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
    }
  })

  it('searches with our strategy, at most eight files at a time, leaving out those that cannot be read', async () => {
    let [underWay, most] = [0, 0]
    const names = Array.from({ length: 30 }, (_, n) => `k${String(n).padStart(2, '0')}`)
    const sandbox = {
      ...failing(undefined),
      async readFile(path: string) {
        underWay += 1
        most = Math.max(most, underWay)
        await new Promise((resolve) => setImmediate(resolve))
        underWay -= 1
        if (path.endsWith('7')) throw Object.assign(new Error('permission denied'), { code: 'EACCES' })
        if (path.endsWith('8')) throw Object.assign(new Error('gone'), { code: 'ENOENT' })
        return encode('dark')
      },
      listFiles: async () => names.map((name) => ({ name })),
    }
    const storage = open('native', '/box', sandbox)
    for (const search of [
      () => storage.search('dark'),
      () => KeywordSearchStrategy.search(storage, 'dark'),
      () => new KeywordSearchStrategy({ normalize: 'NFC' }).search(storage, 'dark'),
    ]) {
      const results = await search()
      expect(results.map(({ key }) => key)).toEqual(names.filter((name) => !/[78]$/.test(name)))
      for (const { data } of results) expect(decode(data!)).toBe('dark')
    }
    expect(most).toBe(8)
  })

  it('never finds what it had kept of the host', async () => {
    const host = scratchDirectory()
    const storage = open('native', host)
    await storage.write('k', encode('dark'))
    expect(await storage.search('dark')).toHaveLength(1)
    const boxed = storage.forSandbox(new MapSandbox())
    expect(await boxed.search('dark')).toEqual([])
    expect(await storage.search('dark')).toHaveLength(1)
  })

  it('forSandbox keeps the mark of a namespace, and has the SDK leave the storage where it is', () => {
    const boxed = open('native', '/box').namespace('n').forSandbox(new MapSandbox())
    expect([boxed.baseDir, Symbol.for('strands.storage.namespaced') in boxed]).toEqual(['/box/n', true])
    expect(Symbol.for('strands.storage.namespaced') in open('native', '/box').forSandbox(new MapSandbox())).toBe(false)
  })

  describe('given a strategy that needs the files of the host', () => {
    class HostStrategy {
      readonly requiresHostFs = true
      async search(): Promise<StorageSearchResult[]> {
        return [{ key: 'of the host', score: 1 }]
      }
    }

    afterEach(() => vi.restoreAllMocks())
    const warnings = () => vi.spyOn(process, 'emitWarning').mockImplementation(() => {})

    it('is refused by the constructor, in every form', () => {
      for (const extras of [
        [new MapSandbox(), new HostStrategy()],
        [{ sandbox: new MapSandbox(), searchStrategy: new HostStrategy() }],
        [{ sandbox: new MapSandbox() }, new HostStrategy()],
      ]) {
        expect(() => open('native', '/box', ...extras)).toThrow(StorageError)
        expect(() => open('native', '/box', ...extras)).toThrow(/host/)
      }
    })

    it('drops it in forSandbox, with one process warning that names it, and searches by keywords', async () => {
      const emitted = warnings()
      const storage = open('native', scratchDirectory(), undefined, new HostStrategy())
      const boxed = storage.forSandbox(new MapSandbox())
      expect(emitted).toHaveBeenCalledTimes(1)
      expect(String(emitted.mock.calls[0]![0])).toMatch(/HostStrategy/)
      await boxed.write('k', encode('dark'))
      expect(keysAndScores(await boxed.search('dark'))).toEqual([['k', 1]])
      expect(keysAndScores(await boxed.namespace('n').search('dark'))).toEqual([])
      // The storage on the host has it still.
      expect(keysAndScores(await storage.search('dark'))).toEqual([['of the host', 1]])
      expect(emitted).toHaveBeenCalledTimes(1)
    })

    it('is the storage that it was on the host, without a warning', async () => {
      const emitted = warnings()
      const storage = open('native', scratchDirectory(), { searchStrategy: new HostStrategy() })
      expect(keysAndScores(await storage.namespace('n').search('q'))).toEqual([['of the host', 1]])
      expect(emitted).not.toHaveBeenCalled()
    })

    it.each([false, undefined, null, 0, 1, 'true', {}])('does not take requiresHostFs: %j for true', async (value) => {
      const emitted = warnings()
      const strategy = { requiresHostFs: value, search: async () => [{ key: 'made-up', score: 1 }] }
      const boxed = open('native', '/box', new MapSandbox(), strategy)
      expect(keysAndScores(await boxed.search('q'))).toEqual([['made-up', 1]])
      const bound = open('native', '/box', undefined, strategy).forSandbox(new MapSandbox())
      expect(keysAndScores(await bound.search('q'))).toEqual([['made-up', 1]])
      expect(emitted).not.toHaveBeenCalled()
    })

    it('warns of a strategy without a class too', async () => {
      const emitted = warnings()
      const strategy = Object.assign(Object.create(null), { requiresHostFs: true, search: async () => [] })
      open('native', '/box', undefined, strategy).forSandbox(new MapSandbox())
      expect(String(emitted.mock.calls[0]![0])).toMatch(/search strategy/i)
    })
  })
})

// Sandboxes that the SDK ships, or builds on.
describe.each([
  ['the environment of the host', hostEnvironment],
  ['a POSIX shell', () => new ShellOfTheHost()],
])('in %s', (_, makeSandbox) => {
  it('ours behaves as the SDK does, and leaves the same files', async () => {
    const run = async (who: Who): Promise<[unknown[], string[]]> => {
      const root = scratchDirectory()
      const storage = open(who, join(root, 'base dir'), makeSandbox() as never)
      const outcomes: unknown[] = []
      const withoutRoot = (text: string) => text.replaceAll(root, '…')
      const note = async (call: () => Promise<unknown>) => {
        const outcome = JSON.stringify(await settled(call))
        outcomes.push(withoutRoot(outcome))
      }
      // Neither sandbox has a code on its error for a missing folder: the listing is refused, by both.
      await note(() => storage.list(''))
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
      await note(() => storage.write('all/bytes.bin', bytes))
      await note(async () => [...(await storage.read('all/bytes.bin'))!])
      for (const key of ['a b', '-x', "quo'te", '$HOME', '復é', 'sub/-n/deep er']) {
        await note(() => storage.write(key, encode(`dark ${key}`)))
        await note(async () => decode(await storage.read(key)))
      }
      await note(() => storage.write('empty', new Uint8Array()))
      await note(async () => (await storage.read('empty'))!.length)
      symlinkSync(join(root, 'base dir/a b'), join(root, 'base dir/link'))
      mkdirSync(join(root, 'base dir/folder'))
      await note(() => storage.list(''))
      await note(() => storage.list('sub/'))
      await note(() => storage.list('a'))
      await note(async () => (await storage.search('dark')).map(({ key }) => key))
      await note(() => storage.delete('-x'))
      await note(() => storage.read('folder'))
      await note(() => storage.delete('folder'))
      await note(() => storage.list(''))
      return [outcomes, readdirSync(join(root, 'base dir'), { recursive: true }).map(String).sort()]
    }
    const [outcomes, files] = await run('native')
    expect(files).toContain('all/bytes.bin')
    expect([outcomes, files]).toEqual(await run('sdk'))
  })

  it('ours keeps all bytes, and gives plain arrays', async () => {
    const storage = open('native', scratchDirectory(), makeSandbox() as never)
    const bytes = Uint8Array.from({ length: 5_000 }, (_, n) => n % 256)
    await storage.write('k', bytes)
    const value = (await storage.read('k'))!
    expect(Object.getPrototypeOf(value)).toBe(Uint8Array.prototype)
    expect(Buffer.compare(value, bytes)).toBe(0)
  })
})

describe('in the environment of the host', () => {
  it('a missing file is missing, a name with a line break is listed and read', async () => {
    const root = scratchDirectory()
    const storage = open('native', root, hostEnvironment())
    expect(await storage.read('absent')).toBeNull()
    expect(await storage.delete('absent')).toBeUndefined()
    await storage.write('new\nline', encode('dark'))
    expect(await storage.list('')).toEqual(['new\nline'])
    expect(keysAndScores(await storage.search('dark'))).toEqual([['new\nline', 1]])
    writeFileSync(join(root, 'file'), '')
    expect(await storage.read('file/below')).toBeNull()
  })
})
