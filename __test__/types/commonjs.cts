// The same entry points from a CommonJS module, by `import` and by `require`.

import native = require('strands-native')

import { InMemoryStorage } from 'strands-native/storage'
import { Bm25SearchStrategy, tokenize } from 'strands-native/storage/search'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'

export const storage: native.InMemoryStorage = new InMemoryStorage()
export const store: native.TestMemoryStore = new TestMemoryStore({ name: 'notes', persist: false })
export const words: Set<string> = tokenize('some words')
export const strategy: native.Bm25SearchStrategy = new Bm25SearchStrategy({ match: 'any' })
