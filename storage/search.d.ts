export type { SearchStrategy, StorageSearchResult } from '../index.js'
export { STOP_WORDS, tokenize, tokenOverlapScore } from '../index.js'
