// The SDK's own FileMemoryStore on our storages: the same answers and the same files as on the SDK's.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ModelExtractor } from '@strands-agents/sdk'
import { FileMemoryStore, type FileMemoryStoreConfig } from '@strands-agents/sdk/vended-memory-stores/file-memory-store'
import type { Storage, StorageSearchResult } from 'strands-native'
import { KeywordSearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it, vi } from 'vitest'
import { runScript } from './child-program.js'
import { nativeStorage, sdkStorage, type Who } from './implementations.js'
import { MapSandbox } from './map-sandbox.js'
import { scratchDirectory } from './scratch-directory.js'
import { settled } from './settled.js'
import { decode, encode } from './text-bytes.js'

type Backend = 'InMemoryStorage' | 'LocalFileStorage' | 'LocalFileStorage in a sandbox'

function open(who: Who, backend: Backend, root = scratchDirectory()): Storage {
  const classes = who === 'sdk' ? sdkStorage : nativeStorage
  if (backend === 'InMemoryStorage') return new classes.InMemoryStorage()
  if (backend === 'LocalFileStorage') return new classes.LocalFileStorage(root)
  return new classes.LocalFileStorage(root, new MapSandbox())
}

const backends: Backend[] = ['InMemoryStorage', 'LocalFileStorage', 'LocalFileStorage in a sandbox']

/** Everything below a folder: bytes by path. */
function filesBelow(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(
    paths.sort().map((path) => [path.slice(root.length + 1), readFileSync(path).toString('latin1')]),
  )
}

/** Everything in a storage: bytes by key. */
async function entriesOf(storage: Storage): Promise<Record<string, number[]>> {
  const entries: Record<string, number[]> = {}
  for (const key of await storage.list('')) entries[key] = [...(await storage.read(key))!]
  return entries
}

/** Each kind of thing the store does, and what came of it. */
async function useIt(storage: Storage, config: Partial<FileMemoryStoreConfig> = {}): Promise<unknown[]> {
  const store = new FileMemoryStore({ name: 'facts', storage, ...config })
  const outcomes: unknown[] = []
  const add = async (content: string) => outcomes.push(await settled(() => store.add(content)))
  const search = async (query: string, options?: { maxSearchResults: number }) =>
    outcomes.push([query, await settled(() => store.search(query, options))])
  // Not a search of nothing: the sandbox has no folder yet.
  await add('# User preferences\nPrefers aisle seats\nDrinks green tea')
  await add('# User preferences\nNever row 13')
  await add('# User preferences')
  await add('## User   Preferences!\nDark mode toggle')
  await add('# Project setup\nNode 20 and Rust')
  await add('No heading at all, just one long line that goes on and on beyond fifty characters')
  await add(`# Ünïcödé heading\nCafé, 東京, ΟΔΟΣ and \u{1f600}`)
  await add('# crlf\r\nfact one\r\n\r\nfact two\r\n')
  await add('# Project setup\n\n  indented fact  \n\n')
  await Promise.all(Array.from({ length: 10 }, (_, n) => store.add(`# Burst\nfact ${n}`)))
  for (const query of ['aisle seats', 'preferences', 'md', 'the', 'dark mode', 'fact', '東京', 'οδος', '', '?', 'no']) {
    await search(query)
  }
  await search('fact seats dark node', { maxSearchResults: 2 })
  await search('fact seats dark node', { maxSearchResults: 1 })
  const again = new FileMemoryStore({ name: 'facts', storage, maxSearchResults: 1, ...config })
  outcomes.push(await again.search('fact dark'))
  const other = new FileMemoryStore({ name: 'other', storage, ...config })
  outcomes.push([await other.add('# Seats\nwindow'), await other.search('window'), await store.search('window')])
  return outcomes
}

describe.each(backends)('a FileMemoryStore on our %s', (backend) => {
  it('answers as on the storage of the SDK, and leaves the same entries', async () => {
    const [ours, sdks] = [open('native', backend), open('sdk', backend)]
    const outcomes = await useIt(ours)
    expect(outcomes).toEqual(await useIt(sdks))
    const entries = await entriesOf(ours)
    expect(Object.keys(entries)).toContain('memory/facts/user-preferences.md')
    expect(entries).toEqual(await entriesOf(sdks))
  })

  it('loses no fact of a burst under one heading', async () => {
    const storage = open('native', backend)
    const store = new FileMemoryStore({ name: 'facts', storage })
    await Promise.all(Array.from({ length: 50 }, (_, n) => store.add(`# Burst\nfact ${n}`)))
    const lines = decode(await storage.read('memory/facts/burst.md'))!.split('\n')
    expect(lines).toEqual(['# Burst', ...Array.from({ length: 50 }, (_, n) => `fact ${n}`)])
  })

  it('finds with our keyword strategy as `search`, by our rules', async () => {
    const strategies = [KeywordSearchStrategy, new KeywordSearchStrategy()]
    for (const search of strategies) {
      const storage = open('native', backend)
      const store = new FileMemoryStore({ name: 'facts', storage, search })
      await store.add('# User preferences\nPrefers aisle seats')
      await store.add('# Project setup\nThe seats are not part of it')
      expect(await store.search('what are aisle seats')).toEqual([
        {
          content: '# User preferences\nPrefers aisle seats',
          metadata: { path: 'user-preferences.md', score: 2 },
        },
        {
          content: '# Project setup\nThe seats are not part of it',
          metadata: { path: 'project-setup.md', score: 1 },
        },
      ])
      // Neither the extension nor the names of the folders above count.
      for (const query of ['md', 'memory facts', 'what are the']) expect(await store.search(query)).toEqual([])
      expect(await store.search('seats', { maxSearchResults: 1 })).toHaveLength(1)
    }
  })

  it('works with a strategy of the user as `search`, which sees the part of the storage that is the store', async () => {
    const outcomes = async (who: Who) => {
      const seen: unknown[] = []
      const search = {
        async search(storage: Storage, query: string): Promise<StorageSearchResult[]> {
          const keys = await storage.list('')
          seen.push([query, keys])
          return [...keys.map((key) => ({ key, score: key.length })), { key: 'gone.md', score: 99 }]
        },
      }
      return [await useIt(open(who, backend), { search }), seen]
    }
    expect(await outcomes('native')).toEqual(await outcomes('sdk'))
  })

  it('takes a storage that is a namespace already as it is', async () => {
    const storage = open('native', backend)
    await new FileMemoryStore({ name: 'facts', storage: storage.namespace!('mine') }).add('# Seats\naisle')
    expect(await storage.list('')).toEqual(['mine/seats.md'])
  })

  it('reuses the topics of the storage when a model extracts memories', async () => {
    const storage = open('native', backend)
    const store = new FileMemoryStore({ name: 'facts', storage, extraction: true })
    await store.add('# Project setup\nNode 20')
    const prompts: unknown[] = []
    const extract = vi.spyOn(ModelExtractor.prototype, 'extract').mockImplementation(async function (this: unknown) {
      prompts.push(JSON.stringify(this))
      return []
    })
    const { extractor } = store.extraction as { extractor: { extract(messages: []): Promise<unknown> } }
    expect(await extractor.extract([])).toEqual([])
    extract.mockRestore()
    expect(prompts).toHaveLength(1)
    expect(prompts[0]).toContain('Existing topics: project setup.')
  })
})

describe('a FileMemoryStore on our LocalFileStorage', () => {
  it('makes the very files that it makes on the storage of the SDK', async () => {
    const [ours, sdks] = [scratchDirectory(), scratchDirectory()]
    await useIt(open('native', 'LocalFileStorage', ours))
    await useIt(open('sdk', 'LocalFileStorage', sdks))
    const files = filesBelow(ours)
    expect(Object.keys(files)).toContain('memory/facts/burst.md')
    expect(files).toEqual(filesBelow(sdks))
  })

  it('goes on with the files of the SDK, and the SDK with ours', async () => {
    const root = scratchDirectory()
    const stores = (['sdk', 'native', 'sdk', 'native'] as const).map(
      (who) => new FileMemoryStore({ name: 'facts', storage: open(who, 'LocalFileStorage', root) }),
    )
    for (const [n, store] of stores.entries()) await store.add(`# Seats\nfact ${n}`)
    for (const store of stores) {
      expect((await store.search('fact'))[0]!.content).toBe('# Seats\nfact 0\nfact 1\nfact 2\nfact 3')
    }
  })

  it('sees what an editor wrote into its folder, and skips what cannot be read', async () => {
    const root = scratchDirectory()
    const store = new FileMemoryStore({ name: 'facts', storage: open('native', 'LocalFileStorage', root) })
    await store.add('# Seats\naisle')
    writeFileSync(join(root, 'memory/facts/by hand.md'), 'aisle, by hand')
    writeFileSync(join(root, 'memory/facts/bytes.md'), Buffer.from([0xff, 0x20, ...encode('aisle')]))
    expect((await store.search('aisle')).map(({ metadata }) => metadata!.path)).toEqual([
      'by hand.md',
      'bytes.md',
      'seats.md',
    ])
  })

  it('is, by default, where the default folder of the SDK is', async () => {
    const directory = scratchDirectory()
    const source = `
      const { FileMemoryStore } = await import('@strands-agents/sdk/vended-memory-stores/file-memory-store')
      const { LocalFileStorage } = await load('native')
      process.chdir(${JSON.stringify(directory)})
      await new FileMemoryStore({ name: 'facts' }).add('# Seats\\naisle')
      const ours = new FileMemoryStore({ name: 'facts', storage: new LocalFileStorage() })
      console.log(JSON.stringify((await ours.search('aisle')).map(({ content }) => content)))
    `
    expect(await runScript(source)).toEqual(['# Seats\naisle'])
    expect(existsSync(join(directory, '.strands/memory/facts/seats.md'))).toBe(true)
  })
})
