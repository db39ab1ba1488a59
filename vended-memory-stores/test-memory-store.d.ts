export type {
  ExtractionConfig,
  JSONValue,
  MemoryEntry,
  SearchOptions,
  TestMemoryAddResult,
  TestMemoryStoreConfig,
} from '../index.js'
export { TestMemoryStore } from '../index.js'
