// What S3Storage does on a server, beside what all storages do. Listings after deletions are polled, as there.
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { nativeStorage, sdkStorage } from './implementations.js'
import { client, freshPrefix, ourS3Storages, s3Storages, server } from './s3.js'
import { type Rejection, rejectionsOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

const NAMESPACED = Symbol.for('strands.storage.namespaced')

/** Keys with characters that mean something in URLs, in XML, or to file systems. */
const oddKeys = [
  ...[
    'a b',
    'a+b',
    '100%',
    '%2B',
    '%',
    '{x}',
    'a?b#c&d=e',
    '復/e\u0301',
    '~',
    "'",
    '&amp;',
    '"',
    '<b>',
    'a/./b',
    '.',
    '...',
  ],
  ...['-x', '*', '!()', '$&', '=,;@', 'a:b', '[x]', '^|`', 'tab\t', '\u{1f600}', '\uff5e', 'é', '__proto__'],
  ...[' lead', 'trail ', 'x'.repeat(900)],
]

/** Writes an object under its very name, without any storage. */
const put = (name: string, text = ''): Promise<unknown> =>
  client().send(new PutObjectCommand({ Bucket: server.bucket, Key: name, Body: encode(text) }))

describe.each(s3Storages)('%s', (_, open) => {
  it('lists, reads and deletes keys of odd characters as they were written', async () => {
    const storage = open()
    await Promise.all(oddKeys.map((key) => storage.write(key, encode(key))))
    expect(await storage.list('')).toEqual([...oddKeys].sort())
    for (const key of oddKeys) expect(decode(await storage.read(key))).toBe(key)
    for (const key of ['a b', '100%', 'a?b#c&d=e', '復/']) expect((await storage.list(key)).length).toBe(1)
    await Promise.all(oddKeys.map((key) => storage.delete(key)))
    await expect.poll(() => storage.list('')).toEqual([])
  })

  it('finds what each of the others has written', async () => {
    const prefix = freshPrefix()
    for (const [name, other] of s3Storages) {
      await other({ prefix }).write(`a b/${name}+é`, encode(name))
      expect(decode(await open({ prefix }).read(`a b/${name}+é`))).toBe(name)
      await open({ prefix }).delete(`a b/${name}+é`)
      await expect.poll(() => other({ prefix }).list('')).toEqual([])
    }
  })

  // S3 refuses such a key; not every other server does.
  it('keeps a key of more than 1,024 bytes, or rejects it with the code of the service', async () => {
    const storage = open()
    const key = 'é'.repeat(600)
    const refusal = await storage.write(key, encode('v')).catch((error: Rejection) => error)
    expect(await storage.list('')).toEqual(refusal ? [] : [key])
    if (!refusal) expect(decode(await storage.read(key))).toBe('v')
    else
      expect(refusal).toMatchObject({ name: 'StorageError', cause: { name: expect.stringMatching(/^(Key|Invalid)/) } })
    await storage.delete(key).catch(() => {})
    await expect.poll(() => storage.list('')).toEqual([])
  })

  it('keeps values of no bytes and of six million', async () => {
    const storage = open()
    const large = new Uint8Array(6_000_000).map((_, index) => (index * 7) % 251)
    await Promise.all([storage.write('empty', new Uint8Array(0)), storage.write('large', large)])
    expect(await storage.read('empty')).toStrictEqual(new Uint8Array(0))
    expect(Buffer.compare((await storage.read('large'))!, large)).toBe(0)
    expect(await storage.list('')).toEqual(['empty', 'large'])
  })

  it('never takes memory/ for a part of mem', async () => {
    const outer = freshPrefix()
    const [mem, memory] = [open({ prefix: `${outer}/mem` }), open({ prefix: `/${outer}//memory/` })]
    await mem.write('a', encode('dark'))
    await memory.write('b', encode('dark'))
    expect(await mem.list('')).toEqual(['a'])
    expect((await mem.search('dark')).map(({ key }) => key)).toEqual(['a'])
    expect(await open({ prefix: outer }).list('mem')).toEqual(['mem/a', 'memory/b'])
    const view = open({ prefix: outer }).namespace('mem')
    expect(await view.list('')).toEqual(['a'])
    expect((await view.search!('dark')).map(({ key }) => key)).toEqual(['a'])
  })

  it('tells an absent bucket from an absent key, whatever is asked', async () => {
    const storage = open({ bucket: 'strands-no-such-bucket' })
    const errors = await rejectionsOf([
      storage.write('k', encode('v')),
      storage.read('k'),
      storage.delete('k'),
      storage.list('x/'),
      storage.search('word'),
    ])
    expect(errors.map(({ message }) => message)).toEqual([
      "Failed to write 'k' to S3 bucket 'strands-no-such-bucket'",
      "Failed to read 'k' from S3 bucket 'strands-no-such-bucket'",
      "Failed to delete 'k' from S3 bucket 'strands-no-such-bucket'",
      "Failed to list S3 bucket 'strands-no-such-bucket' under 'x/'",
      "Failed to list S3 bucket 'strands-no-such-bucket' under ''",
    ])
    for (const error of errors) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { name: 'NoSuchBucket' } })
      expect(error.cause).toBeInstanceOf(Error)
    }
  })

  it('searches what it holds, also what others have changed since', async () => {
    const prefix = freshPrefix()
    const [storage, other] = [open({ prefix }), open({ prefix })]
    await storage.write('a', encode('dark mode'))
    await storage.write('b', encode('dark'))
    const found = async () => (await storage.search('dark mode')).map(({ key, score }) => [key, score])
    const both = [
      ['a', 2],
      ['b', 1],
    ]
    expect(await found()).toEqual(both)
    await other.write('b', encode('pale'))
    await other.write('c', encode('mode mode'))
    expect(await found()).toEqual([
      ['a', 2],
      ['c', 1],
    ])
    await other.delete('a')
    await expect.poll(found).toEqual([['c', 1]])
  })

  it('tells a strategy of what is written, and lets it search', async () => {
    const calls: unknown[] = []
    const searchStrategy = {
      index: async (...args: unknown[]) => void calls.push(args),
      search: async (_storage: unknown, query: string) => [{ key: query, score: 1 }],
    }
    const storage = open({ searchStrategy: searchStrategy as never })
    await storage.write('k', encode('v'))
    expect(calls).toEqual([[storage, 'k', encode('v')]])
    expect((calls[0] as unknown[])[0]).toBe(storage)
    expect(await storage.search('q')).toEqual([{ key: 'q', score: 1 }])
    const view = storage.namespace('n')
    await view.write('k', encode('in the view'))
    expect((calls[1] as unknown[]).slice(1)).toEqual(['n/k', encode('in the view')])
    expect(await view.search!('n/q')).toEqual([{ key: 'q', score: 1 }])
  })
})

it('all of 2,501 keys are listed, sorted, in three pages', async () => {
  const prefix = freshPrefix()
  const keys = Array.from({ length: 2_501 }, (_, number) => `notes/${(number * 7_919) % 2_501}`)
  const [, openOurs] = s3Storages[1]
  const ours = openOurs({ prefix })
  await Promise.all(keys.map((key) => ours.write(key, encode('v'))))
  for (const [, open] of s3Storages) {
    expect(await open({ prefix }).list('')).toEqual([...keys].sort())
    expect(await open({ prefix }).list('notes/25')).toHaveLength(1 + 10 + 1)
  }
}, 120_000)

describe.each(ourS3Storages)('%s, unlike the one of the SDK,', (_, open) => {
  // The SDK lists `folder/`, which its own `read` looks for under `folder`, and for the marker of the prefix itself ''.
  it('leaves out markers of folders, which no key can name', async () => {
    const prefix = freshPrefix()
    for (const name of ['', 'folder/', 'folder//k', 'a/../b']) await put(`${prefix}/${name}`)
    await put(`${prefix}/folder/k`, 'dark')
    expect(await open({ prefix }).list('')).toEqual(['folder/k'])
    expect(await open({ prefix }).list('folder/')).toEqual(['folder/k'])
    expect((await open({ prefix }).search('dark')).map(({ key }) => key)).toEqual(['folder/k'])
    expect(await sdkStorage.S3Storage.prototype.list.call(s3Storages[0][1]({ prefix }), '')).toContain('folder/')
  })

  // XML makes a line feed of a carriage return: the SDK lists `a\nb`, and does not find it.
  it('lists a key with a carriage return in it', async () => {
    const storage = open()
    await storage.write('a\rb', encode('v'))
    expect(await storage.list('')).toEqual(['a\rb'])
    expect(decode(await storage.read('a\rb'))).toBe('v')
  })

  // The SDK leaves them to whoever wants to read them.
  it('gives the bytes that it has searched', async () => {
    const storage = open()
    await storage.write('k', encode('dark mode'))
    expect(await storage.search('mode')).toStrictEqual([{ key: 'k', score: 1, data: encode('dark mode') }])
  })

  it('tells a strategy of what is deleted', async () => {
    const removed: unknown[] = []
    const remove = async (_: unknown, key: string) => void removed.push(key)
    const storage = open({ searchStrategy: { remove, search: async () => [] } as never })
    await storage.write('k', encode('v'))
    await storage.delete('//k')
    expect(removed).toEqual(['k'])
  })

  it('has views of its own class', () => {
    const view = open().namespace('a')
    expect(view).toBeInstanceOf(nativeStorage.S3Storage)
    expect(NAMESPACED in view).toBe(true)
    expect(NAMESPACED in view.namespace!('b')).toBe(true)
  })
})
