'use strict'

// One `exports.X =` line per name: this is the form in which Node finds the names for ESM importers.
const native = require('./native.js')

exports.Bm25SearchStrategy = native.Bm25SearchStrategy
exports.InMemoryStorage = native.InMemoryStorage
exports.LocalFileStorage = native.LocalFileStorage
exports.KeywordSearchStrategy = native.KeywordSearchStrategy
exports.NamespacedStorage = native.NamespacedStorage
exports.namespace = native.namespace
exports.S3Storage = native.S3Storage
exports.STOP_WORDS = native.STOP_WORDS
exports.StorageError = native.StorageError
exports.TestMemoryStore = native.TestMemoryStore
exports.tokenOverlapScore = native.tokenOverlapScore
exports.tokenize = native.tokenize
