// The two sides of every comparison: the SDK's classes and ours, under the names the suites' titles use.
import * as sdkStorage from '@strands-agents/sdk/storage'
import { TestMemoryStore as SdkTestMemoryStore } from '@strands-agents/sdk/vended-memory-stores/test-memory-store'
import * as nativeStorage from 'strands-native/storage'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'

export type Who = 'sdk' | 'native'

/** Every implementation of the storage classes, for `describe.each`. */
export const storages = [
  ['sdk', sdkStorage],
  ['native', nativeStorage],
] as const

/** Every implementation of TestMemoryStore, for `describe.each`. */
export const memoryStores = [
  ['sdk', SdkTestMemoryStore],
  ['native', TestMemoryStore],
] as const

export { nativeStorage, SdkTestMemoryStore, sdkStorage, TestMemoryStore }
