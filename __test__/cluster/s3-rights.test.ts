// What a server that checks who asks, and keeps any key, does beside what the quick server of `npm test` does.
import { S3Client } from '@aws-sdk/client-s3'
import { describe, expect, it } from 'vitest'
import { nativeStorage, sdkStorage } from '../implementations.js'
import { freshPrefix, s3Storages, server } from '../s3.js'
import { rejectionsOf } from '../settled.js'
import { decode, encode } from '../text-bytes.js'

const { endpoint, region, bucket, credentials } = server

/** Every way to a storage with other settings than those that work. */
const misled = (settings: object) => {
  const all = { endpoint, region, credentials, forcePathStyle: true, ...settings }
  return [
    new sdkStorage.S3Storage(bucket, { s3Client: new S3Client(all) }),
    new nativeStorage.S3Storage(bucket, all),
    new nativeStorage.S3Storage(bucket, { s3Client: new S3Client(all) }),
  ]
}

it.each([
  ['a secret that is wrong', { credentials: { ...credentials, secretAccessKey: 'wrong' } }, /^AccessDenied$/],
  ['a key that nobody has', { credentials: { ...credentials, accessKeyId: 'GK000000000000000000000000' } }, /./],
  ['another region', { region: 'eu-central-1' }, /^AuthorizationHeaderMalformed$/],
])('every call is rejected for %s, with the same code as by the SDK', async (_, settings, code) => {
  const codes: unknown[] = []
  for (const storage of misled(settings)) {
    const calls = [storage.write('k', encode('v')), storage.read('k'), storage.delete('k'), storage.list('')]
    const errors = await rejectionsOf([...calls, storage.search('word')])
    for (const error of errors) expect(error.name).toBe('StorageError')
    codes.push(errors.map(({ cause }) => (cause as Error).name))
  }
  expect(codes[1]).toEqual(codes[0])
  expect(codes[2]).toEqual(codes[0])
  for (const name of codes[0] as string[]) expect(name).toMatch(code)
})

describe.each(s3Storages)('%s', (_, open) => {
  it('keeps a key with a line feed in it', async () => {
    const prefix = freshPrefix()
    await open({ prefix }).write('line\nbreak', encode('v'))
    for (const [, other] of s3Storages) {
      expect(await other({ prefix }).list('line\n')).toEqual(['line\nbreak'])
      expect(decode(await other({ prefix }).read('line\nbreak'))).toBe('v')
    }
  })
})
