export type {
  Bm25BackfillOptions,
  Bm25BackfillResult,
  Bm25SearchStrategyOptions,
  NormalizeOptions,
  SearchStrategy,
  StorageSearchResult,
} from '../index.js'
export { Bm25SearchStrategy, KeywordSearchStrategy, STOP_WORDS, tokenize, tokenOverlapScore } from '../index.js'
