// S3Storage in processes of its own: what it takes from the environment, and when it lets the process end.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram, runScript } from './child-program.js'
import { freshPrefix, ourS3Storages, server } from './s3.js'
import { errorBody, fakeS3 } from './s3-traffic.js'
import { scratchDirectory } from './scratch-directory.js'
import { decode, encode } from './text-bytes.js'

const timeoutMs = 20_000
const { endpoint, region, bucket, credentials } = server

/** An environment in which nothing of AWS is set, and no file of its tools is found. */
const bareEnv = (): Record<string, string | undefined> => {
  const nothing = Object.keys(process.env).filter((name) => name.startsWith('AWS_'))
  const file = join(scratchDirectory(), 'absent')
  return {
    ...Object.fromEntries(nothing.map((name) => [name, undefined])),
    AWS_CONFIG_FILE: file,
    AWS_SHARED_CREDENTIALS_FILE: file,
    AWS_EC2_METADATA_DISABLED: 'true',
  }
}

const keys = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }

/** Writes a key with the storage of one side, and reads it again. */
const roundTrip = (who: string, prefix: string, more = '') => `
  const { S3Storage } = await load('${who}')
  const storage = new S3Storage('${bucket}', { prefix: '${prefix}'${more} })
  await storage.write('k', new TextEncoder().encode('from ${who}'))
  console.log(JSON.stringify(new TextDecoder().decode(await storage.read('k'))))
`

// The SDK cannot be told to use path style, which the servers of this suite need unless they are told by their address.
describe.each(['sdk', 'native'])('the S3Storage of %s', (who) => {
  it('takes endpoint, region and credentials from the environment', async () => {
    const env = { ...bareEnv(), ...keys, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: region }
    expect(await runScript(roundTrip(who, freshPrefix()), { timeoutMs, env })).toBe(`from ${who}`)
  })

  it('takes them from the profile that the environment names', async () => {
    const folder = scratchDirectory()
    const [config, secrets] = [join(folder, 'config'), join(folder, 'credentials')]
    writeFileSync(config, `[profile mine]\nregion = ${region}\nendpoint_url = ${endpoint}\n`)
    const { accessKeyId, secretAccessKey } = credentials
    writeFileSync(secrets, `[mine]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`)
    const files = { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: secrets }
    const env = { ...bareEnv(), ...files, AWS_PROFILE: 'mine' }
    expect(await runScript(roundTrip(who, freshPrefix()), { timeoutMs, env })).toBe(`from ${who}`)
  })
})

describe('our S3Storage', () => {
  it('is collected with a client or a function for credentials that leads back to it, and not before it has answered', async () => {
    const source = `
      const { S3Storage } = await load('native')
      const options = {
        client(holder) {
          const send = async ({ input }) => {
            await new Promise((resolve) => setTimeout(resolve, 50))
            return { holder, Body: { transformToByteArray: async () => new Uint8Array([7]) }, ETag: input.Key }
          }
          return { s3Client: { send } }
        },
        credentials: (holder) => ({ region: 'r', endpoint: 'http://127.0.0.1:1', maxAttempts: 1, credentials: async () => holder }),
      }
      const seen = {}
      for (const [name, optionsFor] of Object.entries(options)) {
        let alive = 100
        const registry = new FinalizationRegistry(() => (alive -= 1))
        const open = () => {
          const holder = {}
          holder.storage = new S3Storage('b', optionsFor(holder))
          registry.register(holder.storage)
          return holder.storage
        }
        for (let made = 0; made < 100; made += 1) open()
        // Nothing but its promise leads to this one.
        const reading = new S3Storage('b', optionsFor({})).read('k').then((value) => [...value], (error) => error.name)
        for (let round = 0; round < 50 && alive > 0; round += 1) {
          gc()
          await new Promise((resolve) => setTimeout(resolve, 10))
        }
        seen[name] = [alive, await reading]
      }
      console.log(JSON.stringify(seen))
    `
    const seen = await runScript(source, { timeoutMs, nodeOptions: ['--expose-gc'] })
    expect(seen).toEqual({ client: [0, [7]], credentials: [0, 'StorageError'] })
  })

  it('prefers AWS_ENDPOINT_URL_S3 to AWS_ENDPOINT_URL, and the option to both', async () => {
    const wrong = 'http://127.0.0.1:1'
    const env = { ...bareEnv(), ...keys, AWS_ENDPOINT_URL: wrong, AWS_REGION: region }
    const right = { ...env, AWS_ENDPOINT_URL_S3: endpoint }
    expect(await runScript(roundTrip('native', freshPrefix()), { timeoutMs, env: right })).toBe('from native')
    const bothWrong = { ...env, AWS_ENDPOINT_URL_S3: wrong }
    const told = roundTrip('native', freshPrefix(), `, endpoint: '${endpoint}'`)
    expect(await runScript(told, { timeoutMs, env: bothWrong })).toBe('from native')
  })

  it.each(['profile mine', 'services of-mine'])('keeps the path of an endpoint in the section %s', async (section) => {
    const { endpoint: base, requests } = await fakeS3(() => ({ body: 'v' }))
    const config = join(scratchDirectory(), 'config')
    const url = `endpoint_url = ${base}/base`
    const given = section.startsWith('services') ? `services = of-mine\n[${section}]\ns3 =\n  ${url}` : url
    writeFileSync(config, `[profile mine]\nregion = ${region}\n${given}\n`)
    const source = `
      const { S3Storage } = await load('native')
      await new S3Storage('bucket', { forcePathStyle: true }).read('k')
      console.log('0')
    `
    await runScript(source, { timeoutMs, env: { ...bareEnv(), ...keys, AWS_CONFIG_FILE: config, AWS_PROFILE: 'mine' } })
    expect(requests.map(({ url }) => url!.split('?')[0])).toEqual(['/base/bucket/k'])
  })

  it('takes variables with nothing in them for absent', async () => {
    const config = join(scratchDirectory(), 'config')
    const { accessKeyId, secretAccessKey } = credentials
    const secrets = `aws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}`
    writeFileSync(config, `[default]\nregion = ${region}\nendpoint_url = ${endpoint}\n${secrets}\n`)
    const names = ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE', 'AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_S3']
    const more = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_WEB_IDENTITY_TOKEN_FILE']
    const env = { ...bareEnv(), ...Object.fromEntries([...names, ...more].map((name) => [name, ''])) }
    const source = roundTrip('native', freshPrefix())
    expect(await runScript(source, { timeoutMs, env: { ...env, AWS_CONFIG_FILE: config } })).toBe('from native')
  })

  it('passes over what is no text in an environment that the program has made', async () => {
    const source = `
      process.env = { ...process.env, AWS_PROFILE: undefined, NUMBER: 5 }
      ${roundTrip('native', freshPrefix())}
    `
    const env = { ...bareEnv(), ...keys, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: region }
    expect(await runScript(source, { timeoutMs, env })).toBe('from native')
  })

  it.each([
    ['a region', 'MissingRegion', keys],
    ['credentials', 'CredentialsProviderError', { AWS_REGION: region }],
  ])('says that it has not been told %s', async (_, code, given) => {
    const source = `
      const { S3Storage } = await load('native')
      console.log(JSON.stringify(await outcome(new S3Storage('${bucket}').read('k'))))
    `
    const env = { ...bareEnv(), ...given, AWS_ENDPOINT_URL_S3: endpoint }
    const message = `Failed to read 'k' from S3 bucket '${bucket}'`
    expect(await runScript(source, { timeoutMs, env })).toEqual({ rejected: 'StorageError', message, code })
  })

  it('neither loads a client nor connects until it is used, and keeps no process alive', async () => {
    const source = `
      import { createRequire } from 'node:module'
      const require = createRequire(process.cwd() + '/x.js')
      const { S3Storage } = await load('native')
      globalThis.kept = [
        new S3Storage('b'),
        new S3Storage('b', { endpoint: 'http://127.0.0.1:1', region: 'r', credentials: async () => ({}) }),
        new S3Storage('b', { s3Client: { send() {} } }),
        new S3Storage('b').namespace('n'),
      ]
      const loaded = Object.keys(require.cache).filter((file) => file.includes('client-s3'))
      console.log(JSON.stringify(loaded))
    `
    expect(await runScript(source, { timeoutMs })).toEqual([])
  })

  it.each([
    ['of its own', `endpoint: '${endpoint}', region: '${region}', credentials, forcePathStyle: true`],
    [
      'of a function for credentials',
      `endpoint: '${endpoint}', region: '${region}', credentials: async () => credentials`,
    ],
    ['of a client', `s3Client: new S3Client({ endpoint: '${endpoint}', region: '${region}', credentials })`],
  ])('ends with its process after requests %s, and not before a write that nobody waits for', async (_, options) => {
    const prefix = freshPrefix()
    const source = `
      import { S3Client } from '@aws-sdk/client-s3'
      const { S3Storage } = await load('native')
      const credentials = ${JSON.stringify(credentials)}
      const storage = new S3Storage('${bucket}', { prefix: '${prefix}', ${options} })
      await storage.write('a', new TextEncoder().encode('dark mode'))
      await storage.read('..').catch(() => {})
      console.log(JSON.stringify((await storage.search('dark')).length))
      storage.write('late', new TextEncoder().encode('landed'))
    `
    expect(await runScript(source, { timeoutMs, env: bareEnv() })).toBe(1)
    expect(decode(await ourS3Storages[0]![1]({ prefix }).read('late'))).toBe('landed')
  })

  it('ends with its process after a call was rejected', async () => {
    const { endpoint: refusing } = await fakeS3(() => ({ status: 403, body: errorBody('AccessDenied', 'No.') }))
    const source = `
      const { S3Storage } = await load('native')
      const credentials = { accessKeyId: 'a', secretAccessKey: 's' }
      const storage = new S3Storage('bucket', { endpoint: '${refusing}', region: 'r', credentials, forcePathStyle: true })
      console.log(JSON.stringify((await outcome(storage.search('word'))).code))
    `
    expect(await runScript(source, { timeoutMs, env: bareEnv() })).toBe('AccessDenied')
  })

  it('survives worker threads that are terminated in the midst of its calls', async () => {
    const prefix = freshPrefix()
    const data = JSON.stringify({ endpoint, region, bucket, credentials, prefix })
    const printed = await runProgram('terminate-s3-workers.mjs', [data], { timeoutMs: 100_000 })
    expect(JSON.parse(printed)).toEqual({ workers: 24 })
    const storage = ourS3Storages[0]![1]({ prefix })
    for (const key of await storage.list('')) {
      const value = (await storage.read(key))!
      expect(value).toStrictEqual(new Uint8Array(10_000).fill(value[0]!))
    }
  }, 120_000)

  it('has 300 calls done at once, in the order that the server likes', async () => {
    const storage = ourS3Storages[0]![1]()
    const names = Array.from({ length: 300 }, (_, number) => `k${number}`)
    await Promise.all(names.map((name) => storage.write(name, encode(name))))
    expect((await Promise.all(names.map((name) => storage.read(name)))).map(decode)).toEqual(names)
  })
})
