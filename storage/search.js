'use strict'

const native = require('../native.js')

exports.KeywordSearchStrategy = native.KeywordSearchStrategy
exports.STOP_WORDS = native.STOP_WORDS
exports.tokenOverlapScore = native.tokenOverlapScore
exports.tokenize = native.tokenize
