// Every backend of both sides, for suites about what all of them do.
import { nativeStorage, sdkStorage, type Who } from './implementations.js'
import { s3Storages } from './s3.js'
import { scratchDirectory } from './scratch-directory.js'

export type Backend = 'InMemoryStorage' | 'LocalFileStorage' | 'S3Storage' | 'S3Storage with an s3Client'

/** The pairs to compare: all, or those of one backend, which the environment names. */
export const backends = (
  [
    ['sdk', 'InMemoryStorage'],
    ['native', 'InMemoryStorage'],
    ['sdk', 'LocalFileStorage'],
    ['native', 'LocalFileStorage'],
    ['sdk', 'S3Storage'],
    ['native', 'S3Storage'],
    ['native', 'S3Storage with an s3Client'],
  ] as [Who, Backend][]
).filter(([, backend]) => backend.startsWith(process.env.STRANDS_TEST_BACKEND ?? ''))

/** An empty storage. */
export function open(who: Who, backend: Backend, baseDir?: string) {
  const classes = who === 'sdk' ? sdkStorage : nativeStorage
  if (backend === 'InMemoryStorage') return new classes.InMemoryStorage()
  if (backend === 'LocalFileStorage') return new classes.LocalFileStorage(baseDir ?? scratchDirectory())
  const [ofSdk, ours, oursWithClient] = s3Storages.map(([, openS3]) => openS3)
  if (backend === 'S3Storage with an s3Client') return oursWithClient!()
  return who === 'sdk' ? ofSdk!() : ours!()
}
