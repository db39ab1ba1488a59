// The two packages, export by export. The SDK does not export its tokeniser: it is loaded by its path.

import * as sdkStorage from '@strands-agents/sdk/storage'
import { TestMemoryStore as SdkTestMemoryStore } from '@strands-agents/sdk/vended-memory-stores/test-memory-store'
import * as ourStorage from 'strands-native/storage'
import * as ourSearch from 'strands-native/storage/search'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'

const sdkSearch = await import(new URL('keyword.js', import.meta.resolve('@strands-agents/sdk/storage/search')))

export const ours = { ...ourStorage, ...ourSearch, TestMemoryStore }
export const sdk = { ...sdkStorage, ...sdkSearch, TestMemoryStore: SdkTestMemoryStore }
