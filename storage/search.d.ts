export type { NormalizeOptions, SearchStrategy, StorageSearchResult } from '../index.js'
export { KeywordSearchStrategy, STOP_WORDS, tokenize, tokenOverlapScore } from '../index.js'
