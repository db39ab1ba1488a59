// The search that a storage has without a strategy: keyword overlap.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Backend, backends, open } from './backends.js'
import { type Entries, fill, keysAndScores } from './entries.js'
import { nativeStorage, type Who } from './implementations.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

const filled = (who: Who, backend: Backend, entries: Entries) => fill(open(who, backend), entries)

describe.each(backends)('the search of %s %s', (who, backend) => {
  it('scores an entry by the distinct query words in its content and key, best first', async () => {
    const storage = await filled(who, backend, {
      a: 'dark mode',
      b: 'dark mode toggle, dark, DARK',
      'toggle-c': 'nothing else',
      d: 'unrelated',
    })
    expect(keysAndScores(await storage.search('dark mode toggle'))).toEqual([
      ['b', 3],
      ['a', 2],
      ['toggle-c', 1],
    ])
  })

  it('keeps entries of equal score in the order of list', async () => {
    const keys = ['c', 'a', '\uff5e', '\u{1f600}', 'b']
    const storage = await filled(who, backend, Object.fromEntries(keys.map((key) => [key, 'same words'])))
    const found = (await storage.search('words')).map(({ key }) => key)
    expect(found).toEqual(await storage.list(''))
  })

  it('finds nothing for a query without words, without a match, or in an empty storage', async () => {
    const storage = await filled(who, backend, { a: 'text' })
    for (const query of ['', '  ', '?!', '\u{1f600}', 'absent']) expect(await storage.search(query)).toEqual([])
    expect(await open(who, backend).search('text')).toEqual([])
  })

  it('ignores letter case and finds words in any script', async () => {
    const storage = await filled(who, backend, { a: 'ΟΔΟΣ', b: 'пользователь любит чай', c: '東京' })
    expect(keysAndScores(await storage.search('οδος'))).toEqual([['a', 1]])
    expect(keysAndScores(await storage.search('ЧАЙ'))).toEqual([['b', 1]])
    expect(keysAndScores(await storage.search('東京'))).toEqual([['c', 1]])
  })

  it('reads bytes that are not UTF-8 as replacement characters', async () => {
    const storage = open(who, backend)
    await storage.write('a', Uint8Array.of(0x77, 0x6f, 0x72, 0x64, 0xff, 0x78))
    expect(keysAndScores(await storage.search('word'))).toEqual([['a', 1]])
  })

  it('sees what was written and deleted just before', async () => {
    const storage = await filled(who, backend, { a: 'apple', b: 'apple' })
    expect(await storage.search('apple')).toHaveLength(2)
    await storage.write('a', encode('pear'))
    await storage.delete('b')
    await expect.poll(() => storage.search('apple')).toEqual([])
    expect(keysAndScores(await storage.search('pear'))).toEqual([['a', 1]])
  })

  it('rejects a query that is not a string, and does not throw', async () => {
    const call = open(who, backend).search(5 as unknown as string)
    expect(call).toBeInstanceOf(Promise)
    expect(await rejectionOf(call)).toBeInstanceOf(TypeError)
  })
})

// The TS SDK counts stop words, the extension and a view's prefix, and returns no data. CONTRACT.md takes the rules of
// seeds/keyword-api.txt, which are the Python SDK's.
describe.each(backends.filter(([who]) => who === 'native'))(
  'the search of %s %s, unlike the TS SDK,',
  (who, backend) => {
    it('leaves stop words out of the query', async () => {
      const storage = await filled(who, backend, { a: 'what the user is', b: 'user seats' })
      expect(keysAndScores(await storage.search('What is the user?'))).toEqual([
        ['a', 1],
        ['b', 1],
      ])
      expect(await storage.search('what is the')).toEqual([])
    })

    it('scores a key without its extension', async () => {
      const storage = await filled(who, backend, {
        'notes.md': 'text',
        'dir.md/plain': 'text',
        'a.tar.gz': 'text',
        '.env': 'text',
        'sub/.env': 'text',
      })
      expect(keysAndScores(await storage.search('md'))).toEqual([['dir.md/plain', 1]])
      expect(keysAndScores(await storage.search('notes'))).toEqual([['notes.md', 1]])
      expect(keysAndScores(await storage.search('gz'))).toEqual([])
      expect(keysAndScores(await storage.search('tar'))).toEqual([['a.tar.gz', 1]])
      // A name that begins with its only dot is no extension.
      expect(keysAndScores(await storage.search('env'))).toEqual([
        ['.env', 1],
        ['sub/.env', 1],
      ])
    })

    it('returns the bytes of each hit, as copies', async () => {
      const storage = await filled(who, backend, { a: 'dark mode' })
      const [hit] = await storage.search('dark')
      expect(Object.keys(hit!).sort()).toEqual(['data', 'key', 'score'])
      expect(Object.getPrototypeOf(hit!.data)).toBe(Uint8Array.prototype)
      expect(decode(hit!.data!)).toBe('dark mode')
      hit!.data!.fill(0)
      expect(decode(await storage.read('a'))).toBe('dark mode')
    })

    it('scores the keys of a namespaced view without the prefix', async () => {
      const storage = await filled(who, backend, { 'alpha/one': 'text', 'alpha/alpha': 'text', 'beta/alpha': 'text' })
      expect(keysAndScores(await storage.namespace('alpha').search!('alpha'))).toEqual([['alpha', 1]])
      expect(keysAndScores(await storage.namespace('alpha').search!('text'))).toEqual([
        ['alpha', 1],
        ['one', 1],
      ])
    })
  },
)

describe('the search of native LocalFileStorage', () => {
  // The SDK's search rejects: one bad entry hides all the good ones.
  it('skips entries that cannot be read', async () => {
    const root = scratchDirectory()
    writeFileSync(join(root, 'good'), 'apple')
    mkdirSync(join(root, 'folder'))
    symlinkSync(join(root, 'folder'), join(root, 'link-to-folder'))
    symlinkSync(join(root, 'missing'), join(root, 'dangling'))
    symlinkSync(join(root, 'loop'), join(root, 'loop'))
    const storage = new nativeStorage.LocalFileStorage(root)
    expect(keysAndScores(await storage.search('apple'))).toEqual([['good', 1]])
  })

  it('reads files of other tools, and no scratch file', async () => {
    const root = scratchDirectory()
    writeFileSync(join(root, 'hand-written.md'), 'apple')
    writeFileSync(join(root, '.__strands_tmp_1'), 'apple')
    const storage = new nativeStorage.LocalFileStorage(root)
    expect(keysAndScores(await storage.search('apple'))).toEqual([['hand-written.md', 1]])
  })
})
