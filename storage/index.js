'use strict'

const native = require('../native.js')

exports.InMemoryStorage = native.InMemoryStorage
exports.LocalFileStorage = native.LocalFileStorage
exports.NamespacedStorage = native.NamespacedStorage
exports.S3Storage = native.S3Storage
exports.StorageError = native.StorageError
exports.namespace = native.namespace
