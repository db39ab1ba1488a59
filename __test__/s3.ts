// The S3 server of this run, and storages on it.
import { randomUUID } from 'node:crypto'
import { S3Client } from '@aws-sdk/client-s3'
import { nativeStorage, sdkStorage } from './implementations.js'

const { env } = process

/** Where the server is, and who may ask it. */
export const server = {
  endpoint: env.STRANDS_TEST_S3_ENDPOINT!,
  region: env.STRANDS_TEST_S3_REGION!,
  bucket: env.STRANDS_TEST_S3_BUCKET!,
  credentials: {
    accessKeyId: env.STRANDS_TEST_S3_ACCESS_KEY_ID!,
    secretAccessKey: env.STRANDS_TEST_S3_SECRET_ACCESS_KEY!,
  },
}

export interface Where {
  bucket?: string
  prefix?: string
  endpoint?: string
  // A strategy of any of the classes that are compared.
  searchStrategy?: never
}

/** A client of the AWS SDK for the server of this run. */
export function client(endpoint = server.endpoint, more: object = {}): S3Client {
  const { region, credentials } = server
  return new S3Client({ endpoint, region, credentials, forcePathStyle: true, ...more })
}

/** A prefix that no other test has. */
export const freshPrefix = (): string => `test/${randomUUID()}`

/** Every way to a storage, for `describe.each`. A storage begins empty, unless its prefix is given. */
export const s3Storages = [
  [
    'the S3Storage of the SDK',
    ({ bucket = server.bucket, prefix = freshPrefix(), endpoint, searchStrategy }: Where = {}) =>
      new sdkStorage.S3Storage(bucket, {
        prefix,
        s3Client: client(endpoint),
        searchStrategy,
      }),
  ],
  [
    'our S3Storage',
    ({ bucket = server.bucket, prefix = freshPrefix(), endpoint = server.endpoint, searchStrategy }: Where = {}) => {
      const { region, credentials } = server
      const options = { prefix, endpoint, region, credentials, forcePathStyle: true, searchStrategy }
      return new nativeStorage.S3Storage(bucket, options)
    },
  ],
  [
    'our S3Storage with an s3Client',
    ({ bucket = server.bucket, prefix = freshPrefix(), endpoint, searchStrategy }: Where = {}) =>
      new nativeStorage.S3Storage(bucket, { prefix, s3Client: client(endpoint), searchStrategy }),
  ],
] as const

export const ourS3Storages = s3Storages.slice(1) as [
  string,
  (where?: Where) => InstanceType<typeof nativeStorage.S3Storage>,
][]
