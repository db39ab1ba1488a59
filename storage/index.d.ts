export type { SearchStrategy, Storage, StorageSearchResult } from '../index.js'
export { InMemoryStorage, LocalFileStorage, NamespacedStorage, StorageError } from '../index.js'
