// What S3Storage makes of what a server may answer, by servers that do nothing but answer so.
import { describe, expect, it } from 'vitest'
import { nativeStorage, sdkStorage } from './implementations.js'
import { client, ourS3Storages, s3Storages, server } from './s3.js'
import { errorBody, fakeS3, listen, pageBody } from './s3-traffic.js'
import { rejectionOf, rejectionsOf } from './settled.js'
import { encode } from './text-bytes.js'

const { region, credentials } = server
const wrongOptions = (options: object) => () => new nativeStorage.S3Storage('b', options as never)

describe.each(s3Storages)('%s', (_, open) => {
  it.each([
    ['AccessDenied', 403],
    ['ExpiredToken', 400],
    ['PermanentRedirect', 301],
    ['AuthorizationHeaderMalformed', 400],
    ['InvalidAccessKeyId', 403],
    ['NoSuchBucket', 404],
  ])('rejects every call with the code %s of the service, and gives null for none', async (code, status) => {
    const { endpoint } = await fakeS3(() => ({ status, body: errorBody(code, 'No.') }))
    const storage = open({ endpoint, prefix: 'p' })
    const errors = await rejectionsOf([
      storage.write('k', encode('v')),
      storage.read('k'),
      storage.delete('k'),
      storage.list(''),
      storage.search('word'),
    ])
    for (const error of errors) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { name: code } })
      expect(error.message).toMatch(/^Failed to (write|read|delete|list) ('k' (to|from) )?S3 bucket 'strands-test'/)
    }
  })

  it('gives null for a missing key only', async () => {
    const { endpoint } = await fakeS3(() => ({ status: 404, body: errorBody('NoSuchKey', 'No.') }))
    expect(await open({ endpoint }).read('k')).toBeNull()
  })

  it('tries again what a busy server refuses, three times in all', async () => {
    let refusals = 2
    const { endpoint, requests } = await fakeS3(() =>
      refusals-- > 0 ? { status: 503, body: errorBody('SlowDown', 'Please reduce your request rate.') } : { body: 'v' },
    )
    expect(await open({ endpoint }).read('k')).toStrictEqual(encode('v'))
    expect(requests).toHaveLength(3)
    refusals = 1_000
    const error = await rejectionOf(open({ endpoint }).read('k'))
    expect(error).toMatchObject({ name: 'StorageError', cause: { name: 'SlowDown' } })
    expect(requests).toHaveLength(6)
  })

  it('tries again however often the requests of another storage have failed', async () => {
    const broken = await fakeS3(() => ({ status: 503, body: errorBody('SlowDown', 'No.') }))
    const failing = open({ endpoint: broken.endpoint })
    await rejectionsOf(Array.from({ length: 60 }, () => failing.read('k')))
    let refusals = 1
    const { endpoint } = await fakeS3(() =>
      refusals-- > 0 ? { status: 503, body: errorBody('SlowDown', 'No.') } : { body: 'v' },
    )
    expect(await open({ endpoint }).read('k')).toStrictEqual(encode('v'))
  }, 30_000)

  it('goes on after an empty page that says there is more', async () => {
    const { endpoint } = await fakeS3(({ url }) => ({
      body: url!.includes('continuation-token=two') ? pageBody(['p/b', 'p/a']) : pageBody([], 'two'),
    }))
    expect(await open({ endpoint, prefix: 'p' }).list('')).toEqual(['a', 'b'])
  })

  it.each([
    ['before it answers', {}],
    ['halfway through an answer', { 'content-length': '100' }],
    ['halfway through an answer of unknown length', { 'transfer-encoding': 'chunked' }],
  ])('rejects where the server hangs up %s', async (when, headers) => {
    const { endpoint } = await listen((_, outgoing) => {
      if (when === 'before it answers') return void outgoing.destroy()
      outgoing.writeHead(200, headers)
      outgoing.write('some', () => setTimeout(() => outgoing.destroy(), 20))
    })
    const errors = await rejectionsOf([open({ endpoint }).read('k'), open({ endpoint }).list('')])
    for (const error of errors) expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'ECONNRESET' } })
  })

  it.each(['a/b', 'a/../b'])('refuses the bucket %s, which would be a bucket and a part of a key', async (bucket) => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const storage = open({ endpoint, bucket })
    const errors = await rejectionsOf([storage.write('k', encode('v')), storage.read('k'), storage.list('')])
    for (const error of errors) expect(error.cause).toMatchObject({ name: 'InvalidBucketName' })
    expect(requests).toEqual([])
  })

  it('rejects where nobody listens', async () => {
    const error = await rejectionOf(open({ endpoint: 'http://127.0.0.1:1' }).read('k'))
    expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'ECONNREFUSED' } })
  })
})

describe.each(ourS3Storages)('%s, unlike the one of the SDK,', (_, open) => {
  it('tells the code, the message and the id of the request in the cause', async () => {
    const { endpoint } = await fakeS3(() => ({ status: 403, body: errorBody('AccessDenied', 'Not you.') }))
    const { cause } = await rejectionOf(open({ endpoint }).read('k'))
    expect(cause).toBeInstanceOf(Error)
    const told = { code: 'AccessDenied', name: 'AccessDenied', message: 'Not you.', requestId: 'REQUEST-7' }
    expect(cause).toMatchObject(told)
  })

  // The SDK gives the first page, or asks for the same one for ever.
  it.each([
    ['no next page', ''],
    ['the same page again', '<NextContinuationToken>two</NextContinuationToken>'],
  ])('takes no part of a listing for all of it where the server names %s', async (_, token) => {
    const { endpoint } = await fakeS3(() => ({
      body: pageBody(['k']).replace('<IsTruncated>false', `${token}<IsTruncated>true`),
    }))
    const storage = open({ endpoint, prefix: '' })
    for (const error of await rejectionsOf([storage.list(''), storage.search('k')])) {
      expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'IncompleteListing' } })
    }
  })

  it('takes a 404 without any words for a missing key, and a 403 for a fault', async () => {
    for (const [status, expected] of [
      [404, null],
      [403, 'StorageError'],
    ] as const) {
      const { endpoint } = await fakeS3(() => ({ status }))
      const outcome = await open({ endpoint })
        .read('k')
        .catch((error: Error) => error.name)
      expect(outcome).toBe(expected)
    }
  })
})

describe('our S3Storage', () => {
  const open = (endpoint: string, more: object = {}) =>
    new nativeStorage.S3Storage('bucket', { endpoint, region, credentials, forcePathStyle: true, ...more })

  it('sends no checksum, which some servers refuse, and asks for none', async () => {
    const { endpoint, requests } = await fakeS3(({ headers }) => {
      const names = Object.keys(headers).filter((name) => /checksum|trailer/.test(name))
      const isChunked = headers['content-encoding']?.includes('aws-chunked') || names.length > 0
      return isChunked ? { status: 501, body: errorBody('NotImplemented', names.join(' ')) } : { body: 'v' }
    })
    await open(endpoint).write('k', encode('v'))
    expect(await open(endpoint).read('k')).toStrictEqual(encode('v'))
    expect(requests.map(({ method, url }) => `${method} ${url!.split('?')[0]}`)).toEqual([
      'PUT /bucket/k',
      'GET /bucket/k',
    ])
  })

  it('puts the bucket into the name of the host unless it is told otherwise', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const port = new URL(endpoint).port
    await open(`http://localhost:${port}`).read('k')
    await open(`http://localhost:${port}`, { forcePathStyle: false, maxAttempts: 1 })
      .read('k')
      .catch(() => {})
    // A host of such a name may be unknown here: what counts is that it was not asked for in the path.
    const asked = requests.map(({ url, headers }) => [url!.split('?')[0], headers.host])
    expect(asked[0]).toEqual(['/bucket/k', `localhost:${port}`])
    for (const later of asked.slice(1)) expect(later).toEqual(['/k', `bucket.localhost:${port}`])
  })

  it('makes as many attempts as it is told', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ status: 503, body: errorBody('SlowDown', 'No.') }))
    for (const maxAttempts of [1, 2]) {
      requests.length = 0
      await rejectionOf(open(endpoint, { maxAttempts }).read('k'))
      expect(requests).toHaveLength(maxAttempts)
    }
  })

  it.each(['', '.', '..'])("refuses the bucket '%s', which no path can hold", async (bucket) => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const storage = new nativeStorage.S3Storage(bucket, { endpoint, region, credentials, forcePathStyle: true })
    expect((await rejectionOf(storage.read('k'))).cause).toMatchObject({ name: 'InvalidBucketName' })
    expect(requests).toEqual([])
  })

  it('says that there is no such host', async () => {
    const error = await rejectionOf(open('http://no-such-host.invalid', { maxAttempts: 1 }).read('k'))
    expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'ENOTFOUND' } })
  })

  it('waits for an answer as long as it is told', async () => {
    const { endpoint } = await fakeS3(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
      return { body: 'v' }
    })
    // The server answers late, and on this very thread: the request has long been given up by then.
    const error = await rejectionOf(open(endpoint, { requestTimeoutMs: 50, maxAttempts: 1 }).read('k'))
    expect(error).toMatchObject({ name: 'StorageError', cause: { code: 'TimeoutError' } })
  })

  it('signs with the credentials that it is given, also by a function, which is asked again when they expire', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const signer = () => /Credential=([^/]+)\/\d+\/([^/]+)/.exec(requests.at(-1)!.headers.authorization!)!.slice(1)
    await open(endpoint, { credentials: { ...credentials, accessKeyId: 'FIXED', sessionToken: 'T' } }).read('k')
    expect([...signer(), requests.at(-1)!.headers['x-amz-security-token']]).toEqual(['FIXED', region, 'T'])
    let asked = 0
    const provide = async () => {
      asked += 1
      const expiration = new Date(Date.now() + (asked === 1 ? 1_000 : 3_600_000))
      return { accessKeyId: `KEY${asked}`, secretAccessKey: 's', expiration }
    }
    const storage = open(endpoint, { credentials: provide })
    for (const key of ['KEY1', 'KEY2', 'KEY2']) {
      await storage.read('k')
      expect(signer()).toEqual([key, region])
    }
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('no keys today'))],
    [
      'throws',
      () => {
        throw new Error('no keys today')
      },
    ],
    ['gives nothing', async () => undefined],
    ['gives numbers', async () => ({ accessKeyId: 1, secretAccessKey: 2 })],
  ])('rejects its calls where the function for credentials %s', async (_, provide) => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const error = await rejectionOf(open(endpoint, { credentials: provide as never }).read('k'))
    expect(error).toMatchObject({ name: 'StorageError', cause: expect.any(Error) })
    expect(requests).toHaveLength(0)
  })

  it('uses a given client as it is, with its middleware', async () => {
    const { endpoint, requests } = await fakeS3(() => ({ body: 'v' }))
    const s3Client = client(endpoint)
    s3Client.middlewareStack.add(
      (next) => (args) => {
        ;(args.request as { headers: Record<string, string> }).headers['x-mine'] = 'yes'
        return next(args)
      },
      { step: 'build' },
    )
    const storage = new nativeStorage.S3Storage('b', { s3Client })
    await storage.write('k', encode('v'))
    await storage.read('k')
    await storage.delete('k')
    await storage.list('').catch(() => {})
    await storage.search('word').catch(() => {})
    expect(requests.map(({ headers }) => headers['x-mine'])).toEqual(['yes', 'yes', 'yes', 'yes', 'yes'])
  })

  it('hands on what the client of the caller throws', async () => {
    const send = (fault: unknown) => ({
      send: () => {
        throw fault
      },
    })
    for (const [fault, cause] of [
      [new RangeError('mine'), { code: 'RangeError', message: 'mine' }],
      [Object.assign(new Error('mine'), { code: 'EMINE' }), { code: 'EMINE', message: 'mine' }],
      ['text', { code: 'Error', message: 'text' }],
      [undefined, { code: 'Error', message: 'undefined' }],
    ] as const) {
      const storage = new nativeStorage.S3Storage('b', { s3Client: send(fault) })
      expect(await rejectionOf(storage.read('k'))).toMatchObject({ name: 'StorageError', cause })
    }
  })

  it.each([
    ['an answer without a body', async () => ({})],
    ['a body of text', async () => ({ Body: { transformToByteArray: async () => 'text' } })],
    ['nothing', async () => undefined],
  ])('rejects where the client gives %s', async (_, send) => {
    const storage = new nativeStorage.S3Storage('b', { s3Client: { send } })
    expect(await rejectionOf(storage.read('k'))).toMatchObject({ name: 'StorageError', cause: expect.any(Error) })
  })
})

describe('the constructor of S3Storage', () => {
  it('refuses a region beside a client, as that of the SDK does', () => {
    const message = 'Cannot specify both s3Client and region. Configure the region on the S3Client instead.'
    const options = { region: 'eu-central-1', s3Client: client() }
    for (const { S3Storage } of [sdkStorage, nativeStorage]) {
      const construct = () => new S3Storage('b', options)
      expect(construct).toThrow(expect.objectContaining({ name: 'StorageError', message }))
    }
  })

  it.each(['endpoint', 'forcePathStyle', 'credentials', 'maxAttempts', 'requestTimeoutMs', 'connectTimeoutMs'])(
    'refuses %s beside a client',
    (name) => {
      const values = { endpoint: 'http://x', forcePathStyle: true, credentials, maxAttempts: 2 }
      const value = { requestTimeoutMs: 5, connectTimeoutMs: 5, ...values }[name]
      expect(wrongOptions({ s3Client: client(), [name]: value })).toThrow(
        `Cannot specify both s3Client and ${name}. Configure the ${name} on the S3Client instead.`,
      )
    },
  )

  it.each([
    [{ prefix: 5 }],
    [{ region: {} }],
    [{ endpoint: 5 }],
    [{ s3Client: 'client' }],
    [{ credentials: 'key' }],
    [{ credentials: {} }],
    [{ credentials: { accessKeyId: 'a', secretAccessKey: 5 } }],
    [{ maxAttempts: 0 }],
    [{ maxAttempts: 1.5 }],
    [{ maxAttempts: '3' }],
    [{ requestTimeoutMs: -1 }],
    [{ connectTimeoutMs: 'soon' }],
    [{ searchStrategy: {} }],
    [{ searchCacheBytes: -1 }],
    ['text'],
    [5],
  ])('refuses %j with a TypeError', (options) => {
    expect(wrongOptions(options as object)).toThrow(TypeError)
  })

  it('refuses a bucket that is no string, and a call without new', () => {
    for (const bucket of [5, undefined, null, {}, '\ud800']) {
      expect(() => new nativeStorage.S3Storage(bucket as never)).toThrow(TypeError)
    }
    expect(() => (nativeStorage.S3Storage as unknown as () => void)()).toThrow(TypeError)
  })

  it('takes every option as absent that is undefined', () => {
    const names = ['prefix', 'region', 's3Client', 'searchStrategy', 'endpoint', 'forcePathStyle', 'credentials']
    const more = ['maxAttempts', 'requestTimeoutMs', 'connectTimeoutMs', 'searchCacheBytes']
    const options = Object.fromEntries([...names, ...more].map((name) => [name, undefined]))
    expect(wrongOptions(options)).not.toThrow()
    expect(wrongOptions({ s3Client: client(), ...{ region: undefined, forcePathStyle: false } })).not.toThrow()
  })
})
