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

/**
 * Finds entries by the words of a question, ranked by BM25, in an index that is kept up to date by each write.
 *
 * The index is a SQLite file that the Python SDK's `Bm25SearchStrategy` makes and reads too: beside the folder of the
 * storage, `.__strands_<folder>-fts5.sqlite`, or at `dbPath`. Any number of processes and threads may use it at the same
 * time. One strategy serves any number of folders, each with an index of its own.
 */
export declare class Bm25SearchStrategy {
  /**
   * Opens nothing.
   *
   * @param options.dbPath - the index file, for one storage of any kind; if not given, beside the folder of each storage
   * @param options.match - whether an entry must hold `'any'` term of the question or `'all'`; any if not given
   * @param options.limit - how many results a search gives at most; all if not given
   * @param options.normalize - the Unicode form that questions and entries are brought into first; none if not given
   * @throws TypeError if an option is something else
   */
  constructor(options?: Bm25SearchStrategyOptions | undefined)
  /** The index is a file of the host: the strategy is of no use with a sandbox. */
  get requiresHostFs(): true
  /**
   * Takes an entry into the index, in place of what the index has of it. The storages call this for each write. Entries
   * whose names begin with a dot are left out.
   *
   * @throws StorageError if the index cannot be written; the entry is then stored and not indexed
   */
  index(storage: Storage, key: string, data: Uint8Array): Promise<void>
  /**
   * Takes an entry out of the index. The storages of this package call this for each deletion.
   *
   * @throws StorageError if the index cannot be written; searches leave the entry out all the same
   */
  remove(storage: Storage, key: string): Promise<void>
  /**
   * The entries of `storage` that hold a term of `query`, or a word that begins with one, best first. `score` is
   * between 0 and 1. Stop words and single ASCII characters are no terms. What is not indexed is not found.
   *
   * @throws StorageError if the index cannot be read
   */
  search(storage: Storage, query: string): Promise<StorageSearchResult[]>
  /**
   * Makes the index that of the entries of `storage`: takes in what was there before, takes out what is gone, and touches
   * only what has changed.
   *
   * @param options.onProgress - called now and then, and in the end, with the number of entries that are `done` and
   * their `total`
   * @throws StorageError if the storage cannot be listed or the index cannot be written
   */
  backfill(storage: Storage, options?: Bm25BackfillOptions | undefined): Promise<Bm25BackfillResult>
  /**
   * Closes every index, once what waits is written. A later call opens them again; nothing has to be closed for a process
   * to end.
   */
  close(): Promise<void>
}

/**
 * Keeps values in this process: they are gone when it ends. Unbounded.
 *
 * Keys are split at `/`; empty segments are dropped.
 */
export declare class InMemoryStorage {
  /**
   * @param searchStrategy - how to search; by keywords if not given
   * @param options.searchCacheBytes - how many bytes of entries keyword search keeps; 64 MiB if not given
   */
  constructor(searchStrategy?: SearchStrategy<InMemoryStorage> | InMemoryStorageOptions | undefined)
  /**
   * Stores a copy of `data` under `key`, replacing any earlier value.
   *
   * @throws StorageError if the key is empty or holds a `..` segment or a backslash
   */
  write(key: string, data: Uint8Array): Promise<void>
  /**
   * A copy of the value under `key`, or `null` if there is none.
   *
   * @throws StorageError if the key is not valid
   */
  read(key: string): Promise<Uint8Array | null>
  /**
   * Removes the value under `key`, if there is one.
   *
   * @throws StorageError if the key is not valid
   */
  delete(key: string): Promise<void>
  /**
   * The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key.
   *
   * @throws StorageError if the prefix holds a `..` segment or a backslash
   */
  list(prefix: string): Promise<string[]>
  /**
   * All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
   * neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
   */
  search(query: string): Promise<StorageSearchResult[]>
  /**
   * A view of the entries whose keys begin with `prefix` and a slash, under keys without them.
   *
   * @throws StorageError if the prefix holds a `..` segment or a backslash
   */
  namespace(prefix: string): Storage
  /** Removes every entry. */
  clear(): void
}

/**
 * Finds entries by the words they share with a query: the default of every storage.
 *
 * Stop words do not count, and neither does the extension of a key. The storages of this package are searched without
 * going through JavaScript, unless a subclass overrides one of their methods; any other object with `list` and `read`
 * is read through those, at most 8 entries at a time. The class itself serves as a strategy too.
 */
export declare class KeywordSearchStrategy {
  /**
   * @param options.normalize - the Unicode form that queries and entries are brought into first; none if not given
   * @throws TypeError if `normalize` is something else than `'NFC'` or `'NFKC'`
   */
  constructor(options?: NormalizeOptions | undefined)
  /**
   * All entries of `storage` that hold a word of `query`, those with most of its words first, else in the order of
   * the listing. `score` is the number of words, `data` what was read. An entry whose `read` rejects with a
   * `StorageError` is left out; any other rejection is handed on.
   */
  search(storage: Storage, query: string): Promise<StorageSearchResult[]>
  /** The same as the method of an instance without options. */
  static search(storage: Storage, query: string): Promise<StorageSearchResult[]>
}

/**
 * Keeps each value in a file below a folder: the key `a/b.md` is the file `b.md` in its subfolder `a`.
 *
 * A write replaces the file as a whole, so that a reader finds the old value or the new one. Symbolic links are
 * written through, and an existing file keeps its permissions.
 */
export declare class LocalFileStorage {
  /**
   * Touches no file. A relative folder is relative to the current directory at the time of each call.
   *
   * @param baseDir - the folder, `./.strands/` if not given
   * @param sandbox - where files are read and written instead of the host, if given; or all options in one object
   * @param searchStrategy - how to search; by keywords if not given
   * @param options.fsync - whether a write is on the disk before its promise resolves, and not only in the cache of
   * the operating system; off if not given
   * @param options.searchCacheBytes - how many bytes of files keyword search keeps; 64 MiB if not given
   * @throws StorageError if `baseDir` is empty, or if the strategy needs the host's files, which a sandbox hides
   */
  constructor(baseDir?: string | undefined, sandbox?: Sandbox | LocalFileStorageOptions | undefined, searchStrategy?: SearchStrategy<LocalFileStorage> | undefined)
  /**
   * The same storage with its files in `sandbox`: every byte goes through its `readFile`, `writeFile`, `removeFile`
   * and `listFiles`. A storage that has a sandbox already gives itself. A strategy that needs the host's files is
   * dropped, with a process warning.
   */
  forSandbox(sandbox: Sandbox): LocalFileStorage
  /** The folder under which the files are. */
  get baseDir(): string
  /**
   * Stores `data` under `key`, replacing any earlier value. The bytes are those at the time of the call.
   *
   * @throws StorageError if the key is empty or holds a `..` segment or a backslash, or if the file cannot be
   * written; `cause.code` is then that of the operating system, such as `ENOSPC`, and the old value is still there
   */
  write(key: string, data: Uint8Array): Promise<void>
  /**
   * The value under `key`, or `null` if there is none.
   *
   * @throws StorageError if the key is not valid or the file cannot be read
   */
  read(key: string): Promise<Uint8Array | null>
  /**
   * Removes the value under `key`, if there is one.
   *
   * @throws StorageError if the key is not valid or the file cannot be removed
   */
  delete(key: string): Promise<void>
  /**
   * The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key.
   *
   * Files whose names begin with `.__strands_` are the package's own and left out, and so are names that are not
   * valid Unicode, which no key can spell.
   *
   * @throws StorageError if the prefix holds a `..` segment or a backslash, or if a folder cannot be read
   */
  list(prefix: string): Promise<string[]>
  /**
   * All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
   * neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
   *
   * @throws StorageError if a folder cannot be read
   */
  search(query: string): Promise<StorageSearchResult[]>
  /**
   * The storage of the subfolder `prefix`.
   *
   * @throws StorageError if the prefix holds a `..` segment or a backslash
   */
  namespace(prefix: string): LocalFileStorage
}

/** A view of another storage in which every key carries a prefix that the caller does not see. */
export declare class NamespacedStorage {
  /** Stores a copy of `data` under `key`, replacing any earlier value. */
  write(key: string, data: Uint8Array): Promise<void>
  /** The value under `key`, or `null` if there is none. */
  read(key: string): Promise<Uint8Array | null>
  /** Removes the value under `key`, if there is one. */
  delete(key: string): Promise<void>
  /** The keys of this view that begin with `prefix`, sorted as JavaScript sorts strings. */
  list(prefix: string): Promise<string[]>
  /** The entries of this view that hold a word of `query`, best first. Keys count without the view's prefix. */
  search(query: string): Promise<StorageSearchResult[]>
  /** A view within this view. */
  namespace(prefix: string): Storage
}

/**
 * Keeps each value in an object of an S3 bucket, on AWS or on a server that speaks its language.
 *
 * Settings that are not given are looked for at the first call, where the tools of AWS look for them: environment
 * (`AWS_PROFILE` and `AWS_ENDPOINT_URL_S3` among others), profiles, single sign-on, web identity, and the roles of
 * containers and instances. At most 128 requests of a storage and its views are under way at the
 * same time, unless an `s3Client` makes them.
 */
export declare class S3Storage {
  /**
   * Loads nothing, and connects to nothing.
   *
   * @param bucket - the name of the bucket
   * @param options.prefix - what the names of all objects begin with, before a slash; nothing if not given
   * @param options.s3Client - makes the requests, with its middleware, endpoint and credentials
   * @throws StorageError if `s3Client` is given and something that it has already, such as `region`
   */
  constructor(bucket: string, options?: S3StorageOptions | undefined)
  /**
   * Stores `data` under `key`, replacing any earlier value. The bytes are those at the time of the call.
   *
   * @throws StorageError if the key is empty or holds a `..` segment or a backslash, or if the request fails; `cause`
   * then has the service's `code`, such as `AccessDenied`, and the `requestId`
   */
  write(key: string, data: Uint8Array): Promise<void>
  /**
   * The value under `key`, or `null` if there is none.
   *
   * @throws StorageError if the key is not valid or the request fails, also for want of the bucket
   */
  read(key: string): Promise<Uint8Array | null>
  /**
   * Removes the value under `key`, if there is one.
   *
   * @throws StorageError if the key is not valid or the request fails
   */
  delete(key: string): Promise<void>
  /**
   * The keys that begin with `prefix`, sorted as JavaScript sorts strings. An empty prefix matches every key. Takes
   * one request for each 1,000 keys.
   *
   * Objects that no key can name are left out, such as the markers that end in a slash by which some programs make
   * folders.
   *
   * @throws StorageError if the prefix holds a `..` segment or a backslash, or if a request fails
   */
  list(prefix: string): Promise<string[]>
  /**
   * All entries that hold a word of `query`, those with most of its words first. Stop words do not count, and
   * neither does the extension of a key; `score` is the number of words, `data` the entry's bytes.
   *
   * Lists all entries each time, and gets those that are new or have changed since the last time.
   *
   * @throws StorageError if the entries cannot be listed
   */
  search(query: string): Promise<StorageSearchResult[]>
  /**
   * A view of the entries whose keys begin with `prefix` and a slash, under keys without them. Shares the client, and
   * searches only its own entries.
   *
   * @throws StorageError if the prefix holds a `..` segment or a backslash
   */
  namespace(prefix: string): Storage
}

/**
 * Memories in one JSON file, found by the words they share with a question.
 *
 * The file is that of the SDKs, `~/.strands/memory/<name>.json` unless `path` says otherwise, and may be shared with
 * them. Any number of stores, threads and processes that use this package may write one file at the same time without
 * losing a memory. What was read is kept, and read again only when the file has changed.
 */
export declare class TestMemoryStore {
  /**
   * Touches no file.
   *
   * @throws Error if `name` or `path` is empty, or `maxSearchResults` below 1
   * @throws TypeError if an option has another type
   */
  constructor(options: TestMemoryStoreConfig)
  /**
   * The memories that share words with `query`: those with most of its words first, then the newest, then those
   * last in the file. `metadata._relevanceScore` is the number of words. A query without words finds nothing.
   *
   * @throws Error if `maxSearchResults` is below 1, or if the file is not a memory file; the message names the file
   * and the place in it
   * @throws StorageError if the file cannot be read
   */
  search(query: string, options?: SearchOptions): Promise<MemoryEntry[]>
  /**
   * Stores a memory and gives its id. Content that is already there, white space at its ends aside, is not stored
   * again: the id is then that of the memory that has it, whose metadata stays as it is.
   *
   * Metadata is stored as `JSON.stringify` gives it at the time of the call.
   *
   * @throws Error if the store is not writable, if `content` is empty, or if the file is not a memory file, which is
   * then left as it is
   * @throws StorageError if the file cannot be written; it is then as it was
   */
  add(content: string, metadata?: Record<string, JSONValue>): Promise<TestMemoryAddResult>
}

/**
 * The distinct words of a text, lower-cased, in the order in which they first occur: runs of letters, numbers and
 * underscores, `text.toLowerCase().split(/[^\p{L}\p{N}_]+/u)` in JavaScript's terms.
 *
 * @param options.normalize - the Unicode form that the text is brought into first; none if not given
 * @throws TypeError if `text` is not a string
 */
export declare function tokenize(text: string, options?: NormalizeOptions | undefined): Set<string>

/**
 * How many of the distinct words of `content` are in `queryTokens`. 0 if there are none.
 *
 * @throws TypeError if an argument has another type
 */
export declare function tokenOverlapScore(queryTokens: Set<string>, content: string): number
