// The SDK's tokenizer is not among its exports: it is loaded from the file beside the module that is.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

interface KeywordModule {
  tokenize(text: string): Set<string>
  tokenOverlapScore(queryTokens: Set<string>, content: string): number
  STOP_WORDS: Set<string>
}

const search = createRequire(import.meta.url).resolve('@strands-agents/sdk/storage/search')
const keyword = (await import(pathToFileURL(join(dirname(search), 'keyword.js')).href)) as KeywordModule

export const { tokenize, tokenOverlapScore, STOP_WORDS } = keyword
