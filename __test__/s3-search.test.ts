// What a search asks of the server. The SDK gets every object at every search.
import { join } from 'node:path'
import { Bm25SearchStrategy, KeywordSearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { keysAndScores } from './entries.js'
import { nativeStorage } from './implementations.js'
import { client, freshPrefix, ourS3Storages, s3Storages } from './s3.js'
import { countingProxy } from './s3-traffic.js'
import { scratchDirectory } from './scratch-directory.js'
import { encode } from './text-bytes.js'

const fillWith = (storage: { write(key: string, data: Uint8Array): Promise<void> }, entries: number) =>
  Promise.all(Array.from({ length: entries }, (_, number) => storage.write(`n/${number}.md`, encode(`note ${number}`))))

describe.each(ourS3Storages)('a search of %s', (_, open) => {
  it('lists 1,000 entries a request, and gets each once and then only what has changed', async () => {
    const { endpoint, counts } = await countingProxy()
    const prefix = freshPrefix()
    const storage = open({ prefix, endpoint })
    await fillWith(storage, 1_203)
    expect(counts()).toEqual({ PUT: 1_203 })
    expect(await storage.search('note')).toHaveLength(1_203)
    expect(counts()).toEqual({ LIST: 2, GET: 1_203 })
    for (let repeated = 0; repeated < 3; repeated += 1) {
      expect(await storage.search('note')).toHaveLength(1_203)
      expect(counts()).toEqual({ LIST: 2 })
    }
    const other = open({ prefix })
    await other.write('n/7.md', encode('note changed'))
    await other.write('new.md', encode('note'))
    await other.delete('n/8.md')
    // Some distributed stores list for a moment what was deleted.
    await expect.poll(async () => (await other.list('n/8')).includes('n/8.md')).toBe(false)
    expect(await storage.search('note')).toHaveLength(1_203)
    expect(counts()).toEqual({ LIST: 2, GET: 2 })
    expect((await storage.search('changed')).map(({ key }) => key)).toEqual(['n/7.md'])
    expect(counts()).toEqual({ LIST: 2 })
  }, 120_000)

  it('has more than one and at most 33 requests under way', async () => {
    const { endpoint, most } = await countingProxy()
    const prefix = freshPrefix()
    await fillWith(open({ prefix }), 200)
    await open({ prefix, endpoint }).search('note')
    expect(most()).toBeGreaterThan(4)
    expect(most()).toBeLessThanOrEqual(33)
  })

  it('asks for nothing where no word of the query counts', async () => {
    const { endpoint, counts } = await countingProxy()
    expect(await open({ endpoint }).search('the')).toEqual([])
    expect(counts()).toEqual({})
  })

  it('gets everything again where nothing may be kept', async () => {
    const { endpoint, counts } = await countingProxy()
    const options = { prefix: freshPrefix(), s3Client: client(endpoint), searchCacheBytes: 0 }
    const storage = new nativeStorage.S3Storage(process.env.STRANDS_TEST_S3_BUCKET!, options)
    await fillWith(storage, 5)
    counts()
    for (const _ of [1, 2]) {
      expect(await storage.search('note')).toHaveLength(5)
      expect(counts()).toEqual({ LIST: 1, GET: 5 })
    }
  })

  it.each([
    ['the default', undefined],
    ['the class', KeywordSearchStrategy],
    ['an instance', new KeywordSearchStrategy({ normalize: 'NFC' })],
  ])('costs a listing when repeated, also in a view, with %s', async (_, searchStrategy) => {
    const { endpoint, counts } = await countingProxy()
    const storage = open({ endpoint, searchStrategy: searchStrategy as never })
    await fillWith(storage, 5)
    await storage.write('other', encode('note'))
    const view = storage.namespace('n')
    counts()
    for (const [searched, entries] of [
      [storage, 6],
      [view, 5],
    ] as const) {
      expect(await searched.search!('note')).toHaveLength(entries)
      expect(counts()).toEqual({ LIST: 1, GET: entries })
      expect(await searched.search!('note')).toHaveLength(entries)
      expect(counts()).toEqual({ LIST: 1 })
    }
    expect(await KeywordSearchStrategy.search(view, 'note')).toHaveLength(5)
    expect(counts()).toEqual({ LIST: 1, ...(searchStrategy instanceof KeywordSearchStrategy && { GET: 5 }) })
  })

  it('goes through the methods of a subclass that has its own', async () => {
    const Plain = nativeStorage.S3Storage
    class Upper extends Plain {
      override async read(key: string) {
        return (await super.read(key)) && encode('DARK from the subclass')
      }
    }
    const s3Client = client()
    const storage = new Upper(process.env.STRANDS_TEST_S3_BUCKET!, { prefix: freshPrefix(), s3Client })
    await storage.write('k', encode('pale'))
    expect((await storage.search('dark')).map(({ key }) => key)).toEqual(['k'])
  })
})

describe.each(ourS3Storages)('an index with a dbPath of %s', (_, open) => {
  /** A storage behind a proxy with entries that no index has, the like without the proxy, and a strategy. */
  async function unindexed(entries: number, options: object = {}) {
    const { endpoint, counts } = await countingProxy()
    const prefix = freshPrefix()
    const strategy = new Bm25SearchStrategy({ dbPath: join(scratchDirectory(), 'index.sqlite'), ...options })
    const other = open({ prefix })
    await fillWith(other, entries)
    return { storage: open({ prefix, endpoint, searchStrategy: strategy as never }), strategy, counts, other }
  }

  it('gets each entry once to take it in, and then only what another ETag is listed for', async () => {
    const { storage, strategy, counts, other } = await unindexed(1_203)
    expect(await strategy.backfill(storage)).toEqual({ indexed: 1_203, unchanged: 0, removed: 0 })
    expect(counts()).toEqual({ LIST: 2, GET: 1_203 })
    await strategy.close()
    expect(await strategy.backfill(storage)).toEqual({ indexed: 0, unchanged: 1_203, removed: 0 })
    expect(counts()).toEqual({ LIST: 2 })

    await other.write('n/7.md', encode('note changed'))
    await other.write('new.md', encode('note new'))
    await other.write('n/9.md', encode('note 9'))
    await other.delete('n/8.md')
    await expect.poll(async () => (await other.list('n/8')).includes('n/8.md')).toBe(false)
    expect(await strategy.backfill(storage)).toEqual({ indexed: 2, unchanged: 1_201, removed: 1 })
    // An equal object has an equal ETag, where the server makes it of the bytes.
    const { LIST, GET, ...rest } = counts()
    // One more tells a missing object from a missing bucket.
    expect(LIST).toBe(3)
    expect([2, 3]).toContain(GET)
    expect(Object.keys(rest).filter((kind) => kind !== 'HEAD')).toEqual([])
    expect((await storage.search('changed')).map(({ key }) => key)).toEqual(['n/7.md'])
    await strategy.close()
  }, 120_000)

  it('asks at a search whether the few entries that it found are there, and lists if they are many', async () => {
    const { storage, strategy, counts, other } = await unindexed(300)
    await strategy.backfill(storage)
    await other.delete('n/7.md')
    await expect.poll(async () => (await other.list('n/7.md')).length).toBe(0)
    counts()
    expect(await storage.search('17')).toHaveLength(11)
    expect(counts()).toEqual({ HEAD: 11 })
    expect(await storage.search('nothing')).toEqual([])
    expect(counts()).toEqual({})
    expect(await storage.search('note')).toHaveLength(299)
    expect(counts()).toEqual({ LIST: 1 })
    await strategy.close()
  })

  it('looks only for as many as the limit lets through', async () => {
    const { storage, strategy, counts } = await unindexed(300, { limit: 5 })
    await strategy.backfill(storage)
    counts()
    expect(await storage.search('note')).toHaveLength(5)
    expect(counts()).toEqual({ HEAD: 5 })
    await strategy.close()
  })

  it('takes in what is written and takes out what is deleted, for one request each', async () => {
    const { storage, strategy, counts } = await unindexed(0)
    await storage.write('trip.md', encode('She moved to Lisbon'))
    expect(counts()).toEqual({ PUT: 1 })
    expect((await storage.search('Lisbon')).map(({ key }) => key)).toEqual(['trip.md'])
    counts()
    await storage.delete('trip.md')
    expect(counts()).toEqual({ DELETE: 1 })
    expect(await storage.search('Lisbon')).toEqual([])
    expect(counts()).toEqual({})
    await strategy.close()
  })
})

it('all ways to a storage find the same', async () => {
  const prefix = freshPrefix()
  const texts = ['dark mode', 'the dark', 'mode', 'pale', 'dark dark', '復 mode', '']
  const [, openFirst] = s3Storages[0]
  for (const [number, text] of texts.entries()) await openFirst({ prefix }).write(`notes/${number}.md`, encode(text))
  const found = await Promise.all(s3Storages.map(([, open]) => open({ prefix }).search('dark mode')))
  expect(found[0]!.map(({ key }) => key).sort()).toEqual([0, 1, 2, 4, 5].map((number) => `notes/${number}.md`))
  expect(keysAndScores(found[1]!)).toEqual(keysAndScores(found[0]!))
  expect(found[2]).toEqual(found[1])
})
