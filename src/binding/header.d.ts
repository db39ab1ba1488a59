// Made by `napi build`: edit src/binding/header.d.ts (the types before the first class) or the Rust docs (the rest).

/** Anything that `JSON.stringify` writes and `JSON.parse` gives back. */
export type JSONValue = string | number | boolean | null | { [key: string]: JSONValue } | JSONValue[]

/** One hit of {@link Storage.search}. */
export interface StorageSearchResult {
  /** Key of the entry that matched. */
  key: string
  /** How well it matched: higher is better. The scale is the search strategy's own. */
  score: number
  /** The entry's bytes, where the search had to read them anyway. */
  data?: Uint8Array
}

/**
 * Bytes by key. Has the shape of the SDK's `Storage`: a value of either type serves where the other is asked for.
 *
 * `ListQuery` and `SearchQuery` are what `list` and `search` accept; a backend may widen them, but takes a plain string
 * in any case.
 */
export interface Storage<ListQuery = string, SearchQuery = string> {
  /**
   * Stores `data` under `key` and replaces what was there.
   *
   * @throws {@link StorageError} (as a rejection, like every fault) if the key is not valid or the write fails
   */
  write(key: string, data: Uint8Array): Promise<void>
  /** The bytes under `key`, or `null` if there are none. */
  read(key: string): Promise<Uint8Array | null>
  /** Removes `key`. Removing what is not there is no fault. */
  delete(key: string): Promise<void>
  /** The keys that begin with the query, in the order of JavaScript's `sort()`. An empty string lists them all. */
  list(query: ListQuery): Promise<string[]>
  /** A view of this storage in which every key is below `prefix`. */
  namespace?(prefix: string): Storage
  /** The entries that match the query, best first. */
  search?(query: SearchQuery): Promise<StorageSearchResult[]>
}

/** A view of `storage`, of this package or any other, in which every key is below `prefix`. */
export declare function namespace(storage: Storage, prefix: string): Storage

/** A way to search a storage. Has the shape of the SDK's `SearchStrategy`. */
export interface SearchStrategy<S extends Storage = Storage, SearchQuery = string> {
  /** Whether the strategy reads the host's files itself, so that it is of no use with a sandbox. */
  readonly requiresHostFs?: boolean
  /** Takes an entry that was deleted out of the strategy's index. The SDK's storages do not call it. */
  remove?: (storage: S, key: string) => Promise<void>
  /** Takes one entry into the strategy's index. A strategy without an index leaves it out. */
  index?: (storage: S, key: string, data: Uint8Array) => Promise<void>
  /** The entries of `storage` that match the query, best first. */
  search(storage: S, query: SearchQuery): Promise<StorageSearchResult[]>
}

/** Where the files of a {@link LocalFileStorage} are, if not on the host. The SDK's sandboxes have this shape. */
export interface Sandbox {
  /** The bytes of a file. Rejects with an error whose `code` is `'ENOENT'` or `'ENOTDIR'` if there is none. */
  readFile(path: string): Promise<Uint8Array>
  /** Writes a file, and the directories that it needs. */
  writeFile(path: string, content: Uint8Array): Promise<void>
  /** Removes a file. */
  removeFile(path: string): Promise<void>
  /** What is in a directory. */
  listFiles(path: string): Promise<{ name: string; isDir?: boolean | undefined }[]>
}

/** Options of an {@link InMemoryStorage}. */
export interface InMemoryStorageOptions {
  /** How to search. Where it is not given: {@link KeywordSearchStrategy}. */
  searchStrategy?: SearchStrategy<InMemoryStorage> | undefined
  /**
   * How many bytes of entries keyword search keeps between searches; 64 MiB where it is not given. Their words take
   * about as much memory again. What does not fit is read at each search.
   */
  searchCacheBytes?: number | undefined
}

/** Options of a {@link LocalFileStorage}. */
export interface LocalFileStorageOptions {
  /** Where the files are, if not on the host. */
  sandbox?: Sandbox | undefined
  /** How to search. Where it is not given: {@link KeywordSearchStrategy}. */
  searchStrategy?: SearchStrategy<LocalFileStorage> | undefined
  /** Whether a write is on the disk before its promise resolves, and not only in the system's cache. Off by default. */
  fsync?: boolean | undefined
  /**
   * How many bytes of files keyword search keeps between searches; 64 MiB where it is not given. Their words take
   * about as much memory again. What does not fit is read at each search.
   */
  searchCacheBytes?: number | undefined
}

/** Who asks a server for something. */
export interface S3Credentials {
  /** Name of the key. */
  accessKeyId: string
  /** The key itself. */
  secretAccessKey: string
  /** Marks credentials that expire. */
  sessionToken?: string | undefined
  /** When they do. A function is asked again before that. */
  expiration?: Date | undefined
}

/** Options of an {@link S3Storage}. What is not given comes from the environment, as for all tools of AWS. */
export interface S3StorageOptions {
  /** What the names of all objects begin with, before a slash. */
  prefix?: string | undefined
  /** The region, such as `'eu-central-1'`. Not beside `s3Client`. */
  region?: string | undefined
  /**
   * An `S3Client` of `@aws-sdk/client-s3`, which then makes all requests, with its middleware, endpoint and credentials.
   * None of the settings below goes with it, as it has them already.
   */
  s3Client?: S3ClientLike | undefined
  /** How to search. Where it is not given: {@link KeywordSearchStrategy}. */
  searchStrategy?: SearchStrategy<any> | undefined
  /** URL of a server other than those of AWS. */
  endpoint?: string | undefined
  /** Whether the bucket stands in the path of each URL and not in the name of the host. Off where not given. */
  forcePathStyle?: boolean | undefined
  /** Credentials, or a function that gives them whenever they are needed. */
  credentials?: S3Credentials | (() => Promise<S3Credentials>) | undefined
  /** How often a request is made before its fault counts; 3 where neither this nor `AWS_MAX_ATTEMPTS` is given. */
  maxAttempts?: number | undefined
  /**
   * The longest that one attempt may take, and then the bytes of an object. No limit where it is not given, but bytes
   * that stop coming for some seconds are given up.
   */
  requestTimeoutMs?: number | undefined
  /** The longest that making a connection may take; 3,100 where it is not given. */
  connectTimeoutMs?: number | undefined
  /**
   * How many bytes of entries keyword search keeps between searches; 64 MiB where it is not given. Their words take
   * about as much memory again. What does not fit is fetched at each search. Each view keeps entries of its own.
   */
  searchCacheBytes?: number | undefined
}

/** The part of an `S3Client` that is used. */
export interface S3ClientLike {
  /** Makes a request. */
  send(command: any): Promise<any>
}

/** How text is normalised before it is split into words. */
export interface NormalizeOptions {
  /**
   * The Unicode form that a text is brought into: with `'NFC'` a letter and its accent are found as one character and as
   * two, with `'NFKC'` full-width letters and ligatures are found by plain ones too. Where it is not given: none, as in
   * the SDKs.
   */
  normalize?: 'NFC' | 'NFKC' | undefined
}

/** Options of a {@link Bm25SearchStrategy}. */
export interface Bm25SearchStrategyOptions extends NormalizeOptions {
  /**
   * The index file. One for one storage of any kind, but for a sandboxed one. Where it is not given, each folder has an
   * index beside it, named `.__strands_<folder>-fts5.sqlite`.
   */
  dbPath?: string | undefined
  /** Whether an entry must hold any term of the question, or all of them. Any, where it is not given. */
  match?: 'any' | 'all' | undefined
  /** At most this many results, 1 or more. All, where it is not given. */
  limit?: number | undefined
}

/** Options of one {@link Bm25SearchStrategy.backfill}. */
export interface Bm25BackfillOptions {
  /** Called now and then, and in the end. What it throws ends the backfill. */
  onProgress?: ((progress: { done: number; total: number }) => void) | undefined
}

/** What a {@link Bm25SearchStrategy.backfill} did, in numbers of entries. */
export interface Bm25BackfillResult {
  /** Taken into the index, or taken in anew. */
  indexed: number
  /** In the index as they are. */
  unchanged: number
  /** Taken out of the index. */
  removed: number
}

// The same as in TypeScript's own library, for those who compile without it.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol
  }
}

// The method of the class of this name that has no name; the others stand below, from the Rust sources.
export interface Bm25SearchStrategy {
  /** The same as `close()`, for `await using`. Where Node has no `Symbol.asyncDispose`, it is not there. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A storage operation failed. The message names the operation and the key; `cause` is the fault below it, which for a
 * fault of the operating system carries a `code` such as `'ENOSPC'`.
 */
export declare class StorageError extends Error {
  constructor(message: string, options?: { cause?: unknown })
  /** The fault below this one, if there is one. */
  cause?: unknown
}

/** Common English words that keyword search leaves out of a query. */
export declare const STOP_WORDS: Set<string>

/** One memory, as a search returns it. */
export interface MemoryEntry {
  /** The text that was remembered. */
  content: string
  /** Name of the store it came from. The SDK's memory manager fills it in; a store leaves it out. */
  storeName?: string
  /** What was stored with the text, and the search's score under `_relevanceScore`. */
  metadata?: Record<string, JSONValue>
}

/** Options of one {@link TestMemoryStore.search}. */
export interface SearchOptions {
  /** At most this many results. At least 1; where it is not given, the store's own limit holds. */
  maxSearchResults?: number
}

/** Says when memories are extracted from a conversation. The SDK's triggers have this shape. */
export interface ExtractionTrigger {
  /** Kind of trigger, for the log. */
  readonly name: string
  /** Called once: hooks into the agent and calls `fire` whenever it is time to extract. */
  attach(context: { agent: any; fire: () => void }): void
}

/** Turns messages into memories. The SDK's extractors have this shape. */
export interface Extractor {
  /** The memories that `messages` hold. */
  extract(messages: any[], context?: any): Promise<{ content: string; metadata?: Record<string, JSONValue> }[]>
}

/** How the SDK's memory manager extracts memories by itself. The SDK's `ExtractionConfig` has this shape. */
export interface ExtractionConfig {
  /** When to extract. Where it is not given: every five turns. */
  trigger?: ExtractionTrigger | ExtractionTrigger[]
  /** How to turn messages into memories. Where it is not given, the agent's model does. */
  extractor?: Extractor
  /** Kinds of content blocks, such as `'toolUse'`, that are taken out of the messages first. */
  filter?: { exclude: any[] }
}

/** What every memory store tells the SDK's memory manager about itself. */
export interface MemoryStoreConfig {
  /** Name by which the memory tools address this store. Must not be empty. */
  readonly name: string
  /** What the store is for, in words for the model: it becomes part of the tools' descriptions. */
  readonly description?: string
  /** At most this many results of a search that sets no limit itself. At least 1; 10 where it is not given. */
  readonly maxSearchResults?: number
  /** Whether `add` is allowed. */
  readonly writable?: boolean
  /** Whether, and how, the memory manager extracts memories from the conversation by itself. Off where not given. */
  readonly extraction?: boolean | ExtractionConfig
}

/** Configuration of a {@link TestMemoryStore}. `writable` is on where it is not given. */
export interface TestMemoryStoreConfig extends MemoryStoreConfig, NormalizeOptions {
  /** Whether memories go to a file (the default), or live and die with this instance. */
  persist?: boolean
  /** The JSON file. Where it is not given: `~/.strands/memory/<name>.json`. Means nothing with `persist: false`. */
  path?: string
}

/** What {@link TestMemoryStore.add} resolves to. */
export interface TestMemoryAddResult {
  /** Id of the record that holds the content: the new one, or the one that held it already. */
  id: string
}

// The data properties of the class of this name; its methods stand below, from the Rust sources.
export interface TestMemoryStore extends MemoryStoreConfig {
  /** Whether `add` is allowed. */
  readonly writable: boolean
}
