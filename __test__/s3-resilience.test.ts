// S3Storage among things that go wrong: servers that hang, values that nobody throws, an environment that changes.
import { join } from 'node:path'
import { S3Storage, type StorageError } from 'strands-native/storage'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { runScript } from './child-program.js'
import { client, freshPrefix, ourS3Storages, server } from './s3.js'
import { fakeS3, listen, pageBody } from './s3-traffic.js'
import { scratchDirectory } from './scratch-directory.js'
import { rejectionOf, rejectionsOf } from './settled.js'
import { decode, encode } from './text-bytes.js'

const { region, credentials, bucket } = server
const timeoutMs = 30_000

const open = (endpoint: string, more: object = {}) =>
  new S3Storage('bucket', { endpoint, region, credentials, forcePathStyle: true, ...more })

/** A client that answers each command as `send` says. */
const clientOf = (send: (input: { Key: string }) => unknown) =>
  ({ send: async ({ input }: { input: { Key: string } }) => send(input) }) as never

const bodyOf = (text: string) => ({ Body: { transformToByteArray: async () => encode(text) }, ETag: '"1"' })

describe('our S3Storage', () => {
  it('answers beside any number of calls to a server that never does', async () => {
    const hung = await listen(() => {})
    const healthy = await fakeS3(() => ({ body: 'v' }))
    const waiting = open(hung.endpoint)
    for (let call = 0; call < 300; call += 1) waiting.read('k').catch(() => {})
    expect(await open(healthy.endpoint, { requestTimeoutMs: 5_000 }).read('k')).toStrictEqual(encode('v'))
  })

  it('has at most 128 requests under way, whatever number of searches and views makes them', async () => {
    let [now, most] = [0, 0]
    const keys = Array.from({ length: 50 }, (_, number) => `k${number}`)
    const { endpoint } = await listen((incoming, outgoing) => {
      now += 1
      most = Math.max(most, now)
      const prefix = new URL(incoming.url!, 'http://x').searchParams.get('prefix')
      setTimeout(() => {
        now -= 1
        outgoing.end(prefix === null ? 'dark' : pageBody(keys.map((key) => prefix + key)))
      }, 5)
    })
    const storage = open(endpoint)
    const views = Array.from({ length: 20 }, (_, number) => storage.namespace(`view${number}`))
    const found = await Promise.all(views.map((view) => view.search!('dark')))
    expect(found.map((results) => results.length)).toEqual(views.map(() => 50))
    expect(most).toBeLessThanOrEqual(128)
  })

  it('gives up a body that does not come, as it does an answer', async () => {
    const { endpoint } = await listen((_, outgoing) => {
      outgoing.writeHead(200, { 'content-length': '100' })
      outgoing.write('some')
    })
    const error = await rejectionOf(open(endpoint, { requestTimeoutMs: 100, maxAttempts: 1 }).read('k'))
    expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'TimeoutError' } })
  })

  it.each([
    ['a page of another server', { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>Not here</h1>' }],
    ['an answer of another service', { status: 404, body: '{"message":"no route"}' }],
  ])('does not take %s for a missing key', async (_, reply) => {
    const { endpoint } = await fakeS3(() => reply)
    for (const error of await rejectionsOf([open(endpoint).read('k'), open(endpoint).delete('k')])) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'HTTP 404' } })
    }
  })

  it('keeps the path of an endpoint, with and without a slash after it', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    for (const end of ['/base', '/base/']) await open(endpoint + end).read('k')
    expect(requests.map(({ url }) => url!.split('?')[0])).toEqual(['/base/bucket/k', '/base/bucket/k'])
  })

  it('refuses with a StorageError what no header can hold', async () => {
    const { endpoint } = await fakeS3(() => ({ body: 'v' }))
    for (const [more, code] of [
      [{ credentials: { ...credentials, accessKeyId: 'AKIA\n' } }, 'CredentialsProviderError'],
      [{ credentials: { ...credentials, sessionToken: 'ключ' } }, 'CredentialsProviderError'],
      [{ region: 'eu\ncentral' }, 'InvalidRegion'],
    ] as const) {
      expect(await rejectionOf(open(endpoint, more).read('k'))).toMatchObject({ name: 'StorageError', cause: { code } })
    }
  })

  it('takes empty options for none, and any number of milliseconds', async () => {
    const { endpoint } = await fakeS3(() => ({ body: 'v' }))
    const more = { credentials: { ...credentials, sessionToken: null }, requestTimeoutMs: 1e22, connectTimeoutMs: 1e22 }
    expect(await open(endpoint, more).read('k')).toStrictEqual(encode('v'))
    const credentialsOnce = async () => ({ ...credentials, expiration: new Date(8.64e15) })
    expect(await open(endpoint, { credentials: credentialsOnce }).read('k')).toStrictEqual(encode('v'))
  })

  it('sends no session token that has nothing in it', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const keys = { ...credentials, sessionToken: '' }
    for (const given of [keys, async () => keys]) await open(endpoint, { credentials: given }).read('k')
    expect(requests.map(({ headers }) => headers['x-amz-security-token'])).toEqual([undefined, undefined])
  })

  it('gets nothing again where lists and answers write one ETag in two forms', async () => {
    const forms = { list: 'W/"1"', get: '"1"' }
    const { endpoint, requests } = await fakeS3(({ url }) =>
      url!.includes('list-type=2')
        ? { body: pageBody(['k']).replace('"k"</ETag>', `${forms.list}</ETag>`) }
        : { headers: { etag: forms.get }, body: 'dark' },
    )
    const storage = open(endpoint)
    for (const list of ['W/"1"', '1', '"1"']) {
      forms.list = list
      expect(await storage.search('dark')).toHaveLength(1)
    }
    expect(requests.filter(({ url }) => !url!.includes('list-type=2'))).toHaveLength(1)
  })

  it('waits for credentials as long as they take, and asks for them once, whatever its time-outs are', async () => {
    const { endpoint } = await fakeS3(() => ({ body: 'v' }))
    let asked = 0
    const provide = async () => {
      asked += 1
      await new Promise((resolve) => setTimeout(resolve, 300))
      return credentials
    }
    const storage = open(endpoint, { credentials: provide, requestTimeoutMs: 200 })
    const values = await Promise.all(Array.from({ length: 20 }, () => storage.read('k')))
    expect(values.map((value) => decode(value!))).toEqual(values.map(() => 'v'))
    expect(asked).toBe(1)
  })

  // The SDK for Rust waits for credentials as long as all attempts may take, which is 6.2 s for a single one.
  it('waits for credentials longer than the SDK for Rust does', async () => {
    const { endpoint } = await fakeS3(() => ({ body: 'v' }))
    const provide = () => new Promise((resolve) => setTimeout(resolve, 7_000, credentials))
    expect(decode((await open(endpoint, { credentials: provide, maxAttempts: 1 }).read('k'))!)).toBe('v')
  }, 20_000)

  it('asks for credentials again after a failure, and after those that expire soon', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const soon = { ...credentials, expiration: new Date(Date.now() + 5_000) }
    const given = [() => Promise.reject(new Error('none yet')), async () => soon, async () => credentials]
    let asked = 0
    const storage = open(endpoint, { credentials: () => given[Math.min(asked++, 2)]!() })
    expect(await rejectionOf(storage.read('k'))).toMatchObject({ cause: { code: 'CredentialsProviderError' } })
    for (const times of [2, 3, 3]) {
      await storage.read('k')
      expect(asked).toBe(times)
    }
    expect(requests).toHaveLength(3)
  })

  it('gives credentials that read from another storage their turn, however many calls wait for them', async () => {
    const { endpoint } = await fakeS3(() => ({ body: 'v' }))
    const vault = open(endpoint)
    const provide = async () => ((await vault.read('secret')) ? credentials : Promise.reject(new Error('none')))
    const storage = open(endpoint, { credentials: provide })
    const values = await Promise.all(Array.from({ length: 200 }, () => storage.read('k')))
    expect(values.filter((value) => value && decode(value) === 'v')).toHaveLength(200)
  })
})

describe('a client of the caller', () => {
  it.each([
    [
      'throws a value whose properties throw',
      Object.defineProperty({}, 'name', {
        get: () => {
          throw new Error('x')
        },
      }),
    ],
    ['throws an object without a prototype', Object.create(null)],
    ['throws nothing', undefined],
    ['names its request by a number', Object.assign(new Error('no'), { $metadata: { requestId: 7 } })],
  ])('that %s has the call rejected', async (_, thrown) => {
    const storage = new S3Storage('b', { s3Client: clientOf(() => Promise.reject(thrown)) })
    expect(await rejectionOf(storage.read('k'))).toMatchObject({ name: 'StorageError', cause: {} })
  })

  it('may leave out what a listing need not have', async () => {
    const answers: object[] = [{}, { Contents: null }, { Contents: [{}, { Key: 'k', ETag: null }] }]
    const storage = new S3Storage('b', { s3Client: clientOf(() => answers.shift()) })
    expect([await storage.list(''), await storage.list(''), await storage.list('')]).toEqual([[], [], ['k']])
  })

  it('that reports a missing key without the rest of an answer has null read', async () => {
    const missing = Object.assign(new Error('no'), { name: 'NoSuchKey', code: 'E_MOCK' })
    const storage = new S3Storage('b', { s3Client: clientOf(() => Promise.reject(missing)) })
    expect(await storage.read('k')).toBeNull()
  })

  it('may use another storage for each of its requests', async () => {
    const { endpoint } = await fakeS3(() => ({ body: 'v' }))
    const inner = open(endpoint)
    const storage = new S3Storage('b', {
      s3Client: clientOf(async ({ Key }) => bodyOf(decode((await inner.read(Key)) as Uint8Array) as string)),
    })
    const values = await Promise.all(Array.from({ length: 300 }, () => storage.read('k')))
    expect(values.filter((value) => decode(value!) === 'v')).toHaveLength(300)
  })

  it('answers its own storage, also where the module was loaded twice', async () => {
    const source = `
      const { createRequire } = await import('node:module')
      const require = createRequire(process.cwd() + '/')
      const again = () => {
        for (const name of Object.keys(require.cache)) delete require.cache[name]
        return require('./storage/index.js').S3Storage
      }
      const open = (S3Storage, tag) => new S3Storage('b', {
        s3Client: {
          async send({ input }) {
            await new Promise((resolve) => setTimeout(resolve, 20))
            return { Body: { transformToByteArray: async () => Buffer.from(tag + input.Key) }, ETag: '1' }
          },
        },
      })
      const first = open(again(), 'first ')
      await first.read('k')
      const second = open(again(), 'second ')
      await second.read('k')
      const values = await Promise.all([first.read('a'), second.read('b'), first.read('c')])
      console.log(JSON.stringify(values.map(String)))
    `
    expect(await runScript(source, { timeoutMs })).toEqual(
      ['first a', 'second b', 'first c'].map((text) => [...encode(text)].join()),
    )
  })
})

describe.each(ourS3Storages)('an index with a dbPath of %s', (_, openStorage) => {
  const newStrategy = () => new Bm25SearchStrategy({ dbPath: join(scratchDirectory(), 'index.sqlite') })

  it('is searched any number of times at once, through methods of a subclass too', async () => {
    const plain = openStorage()
    await plain.write('k', encode('dark'))
    class Own extends S3Storage {
      override async list(prefix: string) {
        return super.list(prefix)
      }
      override async read(key: string) {
        return super.read(key)
      }
    }
    const strategy = newStrategy()
    const prefix = freshPrefix()
    const storage = new Own(bucket, { prefix, s3Client: client(), searchStrategy: strategy as never })
    await storage.write('k', encode('dark'))
    const found = await Promise.all(Array.from({ length: 200 }, () => storage.search('dark')))
    expect(found.filter((results) => results.length === 1)).toHaveLength(200)
    await strategy.close()
  })

  it('says that the bucket is missing, and not that nothing was found', async () => {
    const strategy = newStrategy()
    const storage = openStorage({ bucket: 'no-such-bucket-here', searchStrategy: strategy as never })
    await strategy.index(storage, 'k', encode('dark'))
    const error = (await rejectionOf(storage.search('dark'))) as StorageError
    expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'NoSuchBucket' } })
    await strategy.close()
  })
})

describe('the environment of S3', () => {
  const env = {
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    AWS_REGION: 'us-east-1',
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  const serve = `
    const { createServer } = await import('node:http')
    const server = createServer((_, answer) => answer.end('v')).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const endpoint = 'http://127.0.0.1:' + server.address().port
  `

  it('is that of the worker thread', async () => {
    const source = `${serve}
      const { Worker } = await import('node:worker_threads')
      const code = \`
        const { S3Storage } = require(\${JSON.stringify(process.cwd())})
        new S3Storage('127.0.0.1').read('k').then(
          (value) => require('node:worker_threads').parentPort.postMessage(String(Buffer.from(value))),
          (error) => require('node:worker_threads').parentPort.postMessage(error.cause.message),
        )
      \`
      const worker = new Worker(code, { eval: true, execArgv: [], env: { ...${JSON.stringify(env)}, AWS_ENDPOINT_URL_S3: endpoint } })
      const message = await new Promise((resolve) => worker.once('message', resolve))
      server.close()
      console.log(JSON.stringify(message))
      process.exit()
    `
    expect(await runScript(source, { timeoutMs })).toBe('v')
  })

  it('may hold retry settings of other SDKs', async () => {
    const source = `${serve}
      const { S3Storage } = await load('native')
      const value = await new S3Storage('127.0.0.1', { endpoint }).read('k')
      console.log(JSON.stringify(String(Buffer.from(value))))
      process.exit()
    `
    for (const more of [
      { AWS_RETRY_MODE: 'legacy' },
      { AWS_MAX_ATTEMPTS: 'x' },
      { AWS_MAX_ATTEMPTS: '0' },
      { AWS_ENDPOINT_URL_S3: '' },
    ]) {
      expect(await runScript(source, { timeoutMs, env: { ...env, ...more } })).toBe('v')
    }
  })

  it('may change while it is read', async () => {
    const source = `${serve}
      const { S3Storage } = await load('native')
      for (let round = 0; round < 200; round += 1) {
        const reading = new S3Storage('127.0.0.1', { endpoint }).read('k')
        for (let n = 0; n < 10; n += 1) process.env['VARIABLE_' + round + '_' + n] = 'x'
        await reading
      }
      console.log(JSON.stringify('alive'))
      process.exit()
    `
    expect(await runScript(source, { timeoutMs, env })).toBe('alive')
  })
})
