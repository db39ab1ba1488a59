export type {
  InMemoryStorageOptions,
  LocalFileStorageOptions,
  Sandbox,
  SearchStrategy,
  Storage,
  StorageSearchResult,
} from '../index.js'
export { InMemoryStorage, LocalFileStorage, NamespacedStorage, namespace, StorageError } from '../index.js'
