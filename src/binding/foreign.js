// How storages, strategies and sandboxes written in JavaScript are called: by JavaScript, so that promises, thenables,
// plain values and exceptions of any type mean what they mean there, and the garbage collector sees every reference.
// Evaluated once in each environment by foreign.rs, which is the only caller.
;(() => {
  'use strict'

  class StorageError extends Error {
    constructor(message, options) {
      super(message, options)
      this.name = 'StorageError'
    }
  }

  const NAMESPACED = Symbol.for('strands.storage.namespaced')
  const EPHEMERAL = Symbol.for('strands.storage.ephemeral')
  const STRATEGY = Symbol('searchStrategy')
  const SANDBOX = Symbol('sandbox')
  const ASKED = Symbol('asked')

  /** The methods of each class that give promises. */
  const STORAGE_METHODS = ['write', 'read', 'delete', 'list', 'search']
  const ASYNC_METHODS = {
    InMemoryStorage: STORAGE_METHODS,
    LocalFileStorage: STORAGE_METHODS,
    S3Storage: STORAGE_METHODS,
    NamespacedStorage: STORAGE_METHODS,
    KeywordSearchStrategy: ['search'],
    Bm25SearchStrategy: ['index', 'remove', 'search', 'backfill', 'close'],
    TestMemoryStore: ['search', 'add'],
  }

  /** The classes of each name: one for each time that the module was loaded in this environment. */
  const loaded = Object.fromEntries(Object.keys(ASYNC_METHODS).map((name) => [name, []]))

  /** Entries that are read at the same time, so as not to overrun a remote backend. The SDKs read as many. */
  const BATCH_SIZE = 8

  /** The prototype of each storage class, with its methods as the module exports them. */
  const originals = new Map()

  const prototypeOf = (storage) => {
    for (const prototype of originals.keys()) {
      if (Object.prototype.isPrototypeOf.call(prototype, storage)) return prototype
    }
  }

  /** Whether a storage is one of ours whose `search` nobody has overridden. */
  function searchesByStrategy(storage) {
    const ours = originals.get(prototypeOf(storage))
    return !!ours && storage.search === ours[STORAGE_METHODS.indexOf('search')]
  }

  /** The index that a storage of ours searches in, if it is one of ours, which can search in a part of it. */
  function indexOf(storage) {
    const strategy = searchesByStrategy(storage) ? storage[STRATEGY] : undefined
    const isOurs = ({ prototype }) =>
      Object.prototype.isPrototypeOf.call(prototype, strategy) && strategy.search === prototype.search
    return loaded.Bm25SearchStrategy.some(isOurs) ? strategy : undefined
  }

  /** The keyword search that a storage of ours searches by, if it does. */
  function keywordSearchOf(storage) {
    if (!searchesByStrategy(storage)) return undefined
    const strategy = storage[STRATEGY] ?? functions.KeywordSearchStrategy
    const isKeywordSearch = (Class) => strategy === Class || strategy instanceof Class
    return loaded.KeywordSearchStrategy.some(isKeywordSearch) ? strategy : undefined
  }

  /** The promises of the turns of changes that go on, by number, of each object that was asked for changes. */
  const turns = new WeakMap()

  function keepTurn(owner, turn, promise) {
    if (!turns.has(owner)) turns.set(owner, new Map())
    turns.get(owner).set(turn, promise)
    const forget = () => turns.get(owner).delete(turn)
    promise.then(forget, forget)
  }

  /** The storage that each strategy with one index file is for. */
  const claims = new WeakMap()

  /** Up to so many keys are looked for one by one: a listing that begins with a key is short. */
  const FEW_KEYS = 8

  /** All keys of a storage that is not ours. */
  async function listing(storage) {
    const keys = await storage.list('')
    if (Array.isArray(keys)) return keys
    throw new TypeError(`list of ${describe(storage, null)} must give an array of keys`)
  }

  /** Whether a storage that is not ours has these keys. */
  async function existing(storage, keys) {
    if (keys.length <= FEW_KEYS) return Promise.all(keys.map(async (key) => (await storage.list(key)).includes(key)))
    const present = new Set(await listing(storage))
    return keys.map((key) => present.has(key))
  }

  const describe = (storage, folder) => folder ?? `a ${storage.constructor?.name ?? 'storage'} without a baseDir`

  /** The last change of each entry that goes on, in each storage with a strategy. */
  const changes = new WeakMap()

  /** Changes of one entry follow each other, so that the last one is the last in the index too. */
  function inOrder(storage, key, change) {
    if (!changes.has(storage)) changes.set(storage, new Map())
    const last = changes.get(storage)
    const changed = last.has(key) ? last.get(key).then(change, change) : change()
    last.set(key, changed)
    const forget = () => {
      if (last.get(key) === changed) last.delete(key)
    }
    changed.then(forget, forget)
    return changed
  }

  /** What an index of ours is told beside: that the storage calls, whose entry may have changed again. */
  const byStorage = (strategy) => (loaded.Bm25SearchStrategy.some((Class) => strategy instanceof Class) ? [true] : [])

  /** Tests may put another function in its place later. */
  const nextLoopTurn = setImmediate

  /** The answer to one change of a turn. */
  async function answer(owner, turn, number) {
    const { outputs, errors } = await turns.get(owner).get(turn)
    if (number in errors) throw errors[number]
    return outputs[number]
  }

  /** What Rust lends: the rules for names, and keyword search. */
  let native

  const isMissing = (error) => error?.code === 'ENOENT' || error?.code === 'ENOTDIR'

  /** What the work behind a promise may need: it must not be collected before. */
  const held = new WeakMap()

  /** Native methods throw if they are called on something else, or on a proxy: promises are for telling that. */
  function rejectWhereItThrows(prototype, name) {
    const native = prototype[name]
    const method = {
      [name](first, second, third, fourth) {
        try {
          const promise = native.call(this, first, second, third, fourth)
          held.set(promise, [this, first])
          return promise
        } catch (error) {
          return Promise.reject(error)
        }
      },
    }[name]
    Object.defineProperty(prototype, name, { value: method, writable: true, configurable: true })
  }

  /** Nothing is read of an entry that cannot be: one bad entry must not fail a search. */
  async function readOrSkip(storage, key) {
    try {
      return await storage.read(key)
    } catch (error) {
      if (error?.name === 'StorageError') return null
      throw error
    }
  }

  /** Any buffer as bytes, without a copy; whatever else it is, as it is. */
  function asUint8Array(data) {
    if (data instanceof ArrayBuffer) return new Uint8Array(data)
    return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : data
  }

  /** What a storage gave for an entry, if that is bytes or nothing. */
  function bytesOrNull(value) {
    if (!value) return null
    const data = asUint8Array(value)
    if (data instanceof Uint8Array) return data
    throw new TypeError(`data must be a Uint8Array, not ${typeof value}`)
  }

  async function walk(sandbox, directory, folder) {
    let entries
    try {
      entries = await sandbox.listFiles(directory)
    } catch (error) {
      if (isMissing(error)) return []
      throw new StorageError(`Failed to list sandbox storage under '${folder}'`, { cause: error })
    }
    const keys = []
    for (const { name, isDir } of entries) {
      const key = folder ? `${folder}/${name}` : name
      if (isDir) keys.push(...(await walk(sandbox, `${directory}/${name}`, key)))
      else if (!native.isInternalName(name)) keys.push(key)
    }
    return keys
  }

  const objectInput = (Key) => ({ Key })

  /** Each request to S3: the command of the AWS SDK, its input, and what Rust needs of its output. */
  const S3_REQUESTS = {
    put: { command: 'PutObjectCommand', input: (Key, Body) => ({ Key, Body }) },
    get: {
      command: 'GetObjectCommand',
      input: objectInput,
      reply: async ({ Body, ETag }) => ({ data: await Body.transformToByteArray(), etag: ETag ?? '' }),
    },
    head: { command: 'HeadObjectCommand', input: objectInput },
    delete: { command: 'DeleteObjectCommand', input: objectInput },
    list: {
      command: 'ListObjectsV2Command',
      input: (Prefix, ContinuationToken) => ({ Prefix, ContinuationToken, EncodingType: 'url' }),
      reply({ Contents, EncodingType, IsTruncated, NextContinuationToken }) {
        const named = (Contents ?? []).filter(({ Key }) => Key)
        return {
          names: named.map(({ Key }) => Key),
          etags: named.map(({ ETag }) => ETag ?? ''),
          isEncoded: EncodingType === 'url',
          isTruncated: !!IsTruncated,
          next: NextContinuationToken ?? undefined,
        }
      },
    },
  }

  /** What went wrong, in the words of the service if there was an answer, else in those of Node. */
  function faultOf(error) {
    try {
      const { $metadata, code, message, name } = Object(error)
      const itsName = $metadata?.httpStatusCode || name === 'NoSuchKey' ? name : (code ?? name)
      const requestId = $metadata?.requestId
      return {
        code: String(itsName ?? 'Error'),
        message: String(message ?? error),
        requestId: requestId === undefined || requestId === null ? undefined : String(requestId),
      }
    } catch {
      return { code: 'Error', message: 'something was thrown that cannot be looked at' }
    }
  }

  /** A function for Rust to ask, which never throws: what `answer` gives or throws is told by number. */
  const answering = (answer) => async (number, question, name, detail) => {
    let answered
    try {
      answered = { reply: await answer(question, name, detail) }
    } catch (error) {
      answered = { fault: faultOf(error) }
    }
    native.settle(number, answered)
  }

  const functions = {
    StorageError,

    /** Takes note of what the module exports, and adds what is written here. */
    adopt(exports, lent) {
      native = { ...lent, requireS3: () => exports.requireS3() }
      exports.StorageError = StorageError
      exports.namespace = (storage, prefix) => {
        const ours = prototypeOf(storage)
        return ours ? storage.namespace(prefix) : functions.view(storage, native.viewPrefix(prefix))
      }
      for (const [name, methods] of Object.entries(ASYNC_METHODS)) {
        const Class = exports[name]
        loaded[name].push(Class)
        for (const method of methods) rejectWhereItThrows(Class.prototype, method)
        if (methods === STORAGE_METHODS) {
          originals.set(
            Class.prototype,
            methods.map((method) => Class.prototype[method]),
          )
        }
      }
      functions.KeywordSearchStrategy = exports.KeywordSearchStrategy
      if (Symbol.asyncDispose) {
        const { prototype } = exports.Bm25SearchStrategy
        Object.defineProperty(prototype, Symbol.asyncDispose, {
          value: prototype.close,
          writable: true,
          configurable: true,
        })
      }
    },

    /** Whether a constructor of this name was called with `new`, on an instance of the class or of a subclass. */
    isConstructed: (name, object) => loaded[name].some((Class) => object instanceof Class),

    /** Begins a turn of changes, which ends with that of JavaScript. `promise` gives their answers. */
    beginMicroTurn(owner, turn, promise, goOn) {
      keepTurn(owner, turn, promise)
      queueMicrotask(() => goOn(true))
    },

    /**
     * The same for changes of which each follows upon some input or output: all that is done by now belongs to it. What
     * was asked for first need not wait for that to be written.
     */
    beginLoopTurn(owner, turn, promise, goOn) {
      keepTurn(owner, turn, promise)
      queueMicrotask(() => goOn(false))
      nextLoopTurn(goOn, true)
    },

    /** What a memory store answers to one addition. */
    added: async (store, turn, number) => ({ id: await answer(store, turn, number) }),

    /** What a search strategy answers to one change of an index. */
    async indexed(strategy, turn, number) {
      const warnings = await answer(strategy, turn, number)
      for (const message of warnings ?? []) process.emitWarning(message)
    },

    /** The set of words that a space separates. */
    setOf: (joined) => new Set(joined ? joined.split(' ') : []),

    /** The keys that two slashes separate, which are in no key. */
    keysOf: (joined) => (joined ? joined.split('//') : []),

    /** Search results, from what all of them have in a row. Each gets bytes of its own. */
    results(joined, scores, lengths, bytes) {
      let end = 0
      return functions.keysOf(joined).map((key, index) => {
        const start = end
        end += lengths[index]
        return { key, score: scores[index], data: bytes.slice(start, end) }
      })
    },

    /** The elements of a set, of whatever realm it is. */
    elementsOf: (set) => (Object.prototype.toString.call(set) === '[object Set]' ? [...set] : undefined),

    /** The text of `{ metadata }`, or what its `toJSON` threw: an exception of any type survives as a property. */
    stringify(metadata) {
      try {
        // Within a record, so that `toJSON` is called with the key that it would get there.
        return { text: JSON.stringify({ metadata }) }
      } catch (thrown) {
        return { thrown }
      }
    },

    /** Lets `storage` hold its strategy and its sandbox, where the garbage collector sees them. */
    attach(storage, strategy, sandbox, asked) {
      Object.defineProperty(storage, STRATEGY, { value: strategy })
      Object.defineProperty(storage, SANDBOX, { value: sandbox })
      Object.defineProperty(storage, ASKED, { value: asked })
    },

    strategyOf: (storage) => storage[STRATEGY],
    sandboxOf: (storage) => storage[SANDBOX],
    askedOf: (storage) => storage[ASKED],

    searchesByKeywords: (storage) => keywordSearchOf(storage) !== undefined,

    /** Makes requests to a bucket through a client of the AWS SDK. The storage holds it, and is held while it works. */
    askS3(client, Bucket) {
      const reference = new WeakRef(client)
      return answering(async (request, name, detail) => {
        const { command, input, reply } = S3_REQUESTS[request]
        const { [command]: Command } = native.requireS3()
        const output = await reference.deref().send(new Command({ Bucket, ...input(name, detail) }))
        return reply?.(output)
      })
    },

    /** Calls a function for credentials, which is held likewise. */
    askForCredentials(provide) {
      const reference = new WeakRef(provide)
      return answering(async () => {
        const provideNow = reference.deref()
        const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provideNow()
        return { accessKeyId, secretAccessKey, sessionToken, expiresAtMs: expiration && Number(expiration) }
      })
    },

    /** Tells the variables of this environment. */
    environment: answering(() => {
      // Whoever puts an object of their own in its place may have left in it what is no text.
      const names = Object.keys(process.env).filter((name) => typeof process.env[name] === 'string')
      return { names, values: names.map((name) => process.env[name]) }
    }),

    /** Whether all methods of one of our storages are still ours, and not those of a subclass or of the object itself. */
    isPlain(storage) {
      return !!originals.get(prototypeOf(storage))?.every((method, index) => storage[STORAGE_METHODS[index]] === method)
    },

    /** Search results without bytes. */
    ranked: (keys, scores) => keys.map((key, index) => ({ key, score: scores[index] })),

    /** Claims a strategy with one index file for a storage, or says which other it is for. */
    claim(strategy, storage, folder) {
      const claim = claims.get(strategy)
      const holder = claim?.storage.deref()
      // A storage that nobody can reach any more has nothing to say. Objects for one folder are one storage.
      if (!claim || (folder === null ? !holder : false)) {
        claims.set(strategy, { storage: new WeakRef(storage), folder, description: describe(storage, folder) })
        return null
      }
      if (folder === null ? holder === storage : folder === claim.folder) return null
      return [claim.description, describe(storage, folder)]
    },

    unclaim: (strategy) => claims.delete(strategy),

    /**
     * Lets another thread use a storage that is not ours, and tell `onProgress` how far it is. `work` gets the function
     * to be asked, and gives a promise. What JavaScript threw meanwhile is what the promise is rejected with.
     */
    async lend(storage, onProgress, work) {
      let thrown
      const answers = {
        list: () => listing(storage),
        read: async (key) => bytesOrNull(await readOrSkip(storage, key)),
        existing: (_, keys) => existing(storage, keys),
        progress: async (done, total) => void (await onProgress?.({ done: Number(done), total: Number(total) })),
      }
      const ask = answering(async (question, name, detail) => {
        try {
          return await answers[question](name, detail)
        } catch (error) {
          thrown ??= { error }
          throw error
        }
      })
      let result
      try {
        result = await work(ask)
      } catch (error) {
        thrown ??= { error }
      }
      if (thrown) throw thrown.error
      return result
    },

    warn: (message) => process.emitWarning(message),

    isOurs: (storage) => prototypeOf(storage) !== undefined,

    /** Whether a storage of ours, or of the SDK, keeps its files in a sandbox. */
    isSandboxed: (storage) => !!(storage[SANDBOX] ?? storage._sandbox),

    /** Writes an entry by `write`, and then indexes it. */
    index: (storage, write, key, data) =>
      inOrder(storage, key, async () => {
        await write()
        await storage[STRATEGY].index?.(storage, key, data, ...byStorage(storage[STRATEGY]))
      }),

    /** Deletes an entry by `remove`, and then takes it out of the index. */
    remove: (storage, remove, key) =>
      inOrder(storage, key, async () => {
        await remove()
        await storage[STRATEGY].remove?.(storage, key, ...byStorage(storage[STRATEGY]))
      }),

    async search(storage, query) {
      return storage[STRATEGY].search(storage, query)
    },

    /** Keyword search over anything with `list` and `read`. `score` takes the keys and the bytes of a batch. */
    async scan(storage, score) {
      const keys = [...(await storage.list(''))]
      const hits = []
      for (let start = 0; start < keys.length; start += BATCH_SIZE) {
        const batch = keys.slice(start, start + BATCH_SIZE)
        const values = await Promise.all(batch.map((key) => readOrSkip(storage, key)))
        const scores = score(batch, values.map(asUint8Array))
        for (const [index, data] of values.entries()) {
          if (scores[index] > 0) hits.push({ key: batch[index], score: scores[index], data })
        }
      }
      return hits.sort((left, right) => right.score - left.score)
    },

    async sandboxWrite(storage, path, key, data) {
      try {
        await storage[SANDBOX].writeFile(path, data)
      } catch (error) {
        throw new StorageError(`Failed to write '${key}' to sandbox storage`, { cause: error })
      }
    },

    async sandboxRead(storage, path, key) {
      try {
        const data = await storage[SANDBOX].readFile(path)
        return data instanceof Uint8Array ? new Uint8Array(data) : data
      } catch (error) {
        if (isMissing(error)) return null
        throw new StorageError(`Failed to read '${key}' from sandbox storage`, { cause: error })
      }
    },

    async sandboxDelete(storage, path, key) {
      try {
        await storage[SANDBOX].removeFile(path)
      } catch (error) {
        if (isMissing(error)) return
        throw new StorageError(`Failed to delete '${key}' from sandbox storage`, { cause: error })
      }
    },

    async sandboxList(storage, directory, folder, prefix) {
      const keys = await walk(storage[SANDBOX], directory, folder)
      return keys.filter((key) => key.startsWith(prefix)).sort()
    },

    /** A view of any storage, through its own methods. `prefix` is empty or ends in a slash. */
    view(storage, prefix) {
      const inner = (key) => key.slice(prefix.length)
      const view = {
        write: async (key, data) => storage.write(`${prefix}${key}`, data),
        read: async (key) => storage.read(`${prefix}${key}`),
        delete: async (key) => storage.delete(`${prefix}${key}`),
        list: async (query) => (await storage.list(`${prefix}${query}`)).map(inner),
        namespace: (nested) => functions.view(storage, native.viewPrefix(`${prefix}${nested}`)),
        [NAMESPACED]: true,
      }
      if (EPHEMERAL in storage) view[EPHEMERAL] = true
      const keywordSearch = keywordSearchOf(storage)
      if (keywordSearch) {
        // It counts the words of keys, and those of the prefix are in none of the view's.
        view.search = async (query) => keywordSearch.search(view, query)
      } else if (indexOf(storage)) {
        view.search = async (query) => indexOf(storage).search(storage, query, prefix)
      } else if (typeof storage.search === 'function') {
        view.search = async (query) => {
          const results = await storage.search(query)
          const own = results.filter((result) => result.key.startsWith(prefix))
          return own.map((result) => ({ ...result, key: inner(result.key) }))
        }
      }
      return view
    },

    warnOfDroppedStrategy(strategy) {
      const name = strategy.constructor?.name ?? 'The search strategy'
      process.emitWarning(
        `${name} needs the file system of the host, which a sandbox hides: keyword search takes its place`,
      )
    },
  }
  return functions
})()
