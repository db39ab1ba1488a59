'use strict'

const native = require('../native.js')

exports.TestMemoryStore = native.TestMemoryStore
