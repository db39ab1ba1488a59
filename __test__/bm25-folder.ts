// A folder with a BM25 index, as the BM25 suites use it.
import { basename, dirname, join } from 'node:path'
import type { Bm25SearchStrategyOptions } from 'strands-native'
import { LocalFileStorage } from 'strands-native/storage'
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { onTestFinished } from 'vitest'
import { scratchDirectory } from './scratch-directory.js'

/** Where the index of a folder is, if nothing else was said. */
export const indexBeside = (folder: string): string =>
  join(dirname(folder), `.__strands_${basename(folder)}-fts5.sqlite`)

/** The keys of results. */
export const keysOf = (results: { key: string }[]): string[] => results.map(({ key }) => key)

/** The folder `memory` of a new directory, or the one given, with a storage and a strategy for it. */
export function openFolder(options?: Bm25SearchStrategyOptions, folder = join(scratchDirectory(), 'memory')) {
  const strategy = new Bm25SearchStrategy(options)
  const storage = new LocalFileStorage(folder, { searchStrategy: strategy })
  /** The keys that a search finds. */
  const find = async (query: string): Promise<string[]> => keysOf(await storage.search(query))
  return { folder, index: options?.dbPath ?? indexBeside(folder), strategy, storage, find }
}

/** A process warning. */
export type Warning = Error & { code?: string }

/** The warnings of this process from now to the end of the test; `settled` waits for those that were emitted already. */
export function collectWarnings(): { warnings: Warning[]; settled(): Promise<Warning[]> } {
  const warnings: Warning[] = []
  const collect = (warning: Warning) => warnings.push(warning)
  process.on('warning', collect)
  onTestFinished(() => void process.off('warning', collect))
  const settled = async () => {
    // A warning is emitted at the end of the turn in which it was raised.
    await new Promise((resolve) => setImmediate(resolve))
    return warnings
  }
  return { warnings, settled }
}
