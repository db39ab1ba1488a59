// What only JavaScript can say about JavaScript. Evaluated once in each environment, by foreign.rs.
;(() => {
  'use strict'

  class StorageError extends Error {
    constructor(message, options) {
      super(message, options)
      this.name = 'StorageError'
    }
  }

  const functions = {
    StorageError,

    /** Takes note of the classes that the module exports. */
    adopt(exports) {
      for (const name of ['InMemoryStorage', 'LocalFileStorage', 'TestMemoryStore']) functions[name] = exports[name]
      exports.StorageError = StorageError
    },

    /** The text of `{ metadata }`, or what its `toJSON` threw: an exception of any type survives as a property. */
    stringify(metadata) {
      try {
        // Within a record, so that `toJSON` is called with the key that it would get there.
        return { text: JSON.stringify({ metadata }) }
      } catch (thrown) {
        return { thrown }
      }
    },
  }
  return functions
})()
