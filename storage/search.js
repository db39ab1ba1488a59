'use strict'

const native = require('../native.js')

exports.Bm25SearchStrategy = native.Bm25SearchStrategy
exports.KeywordSearchStrategy = native.KeywordSearchStrategy
exports.STOP_WORDS = native.STOP_WORDS
exports.tokenOverlapScore = native.tokenOverlapScore
exports.tokenize = native.tokenize
