export type {
  InMemoryStorageOptions,
  LocalFileStorageOptions,
  S3ClientLike,
  S3Credentials,
  S3StorageOptions,
  Sandbox,
  SearchStrategy,
  Storage,
  StorageSearchResult,
} from '../index.js'
export { InMemoryStorage, LocalFileStorage, NamespacedStorage, namespace, S3Storage, StorageError } from '../index.js'
