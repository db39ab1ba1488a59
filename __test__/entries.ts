// Entries of a storage as the search suites write them down: texts by key.
import { encode } from './text-bytes.js'

/** What a suite needs of a storage to fill it. */
interface Writable {
  write(key: string, data: Uint8Array): Promise<void>
}

/** Texts by key. */
export type Entries = Record<string, string>

/** Writes texts, one after the other, and gives the storage back. */
export async function fill<S extends Writable>(storage: S, entries: Entries): Promise<S> {
  for (const [key, text] of Object.entries(entries)) await storage.write(key, encode(text))
  return storage
}

/** Results as pairs, which is how expectations are written. */
export const keysAndScores = (results: { key: string; score: number }[]): [string, number][] =>
  results.map(({ key, score }) => [key, score])
