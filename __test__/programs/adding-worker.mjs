// A worker thread that adds `count` facts to `path`, and then reports their ids.
import { parentPort, workerData } from 'node:worker_threads'
import { load } from './implementation.mjs'

const { TestMemoryStore } = await load('native')
const { path, label, count } = workerData
const store = new TestMemoryStore({ name: label, path })
const added = await Promise.all(Array.from({ length: count }, (_, number) => store.add(`${label}_${number}`)))
parentPort.postMessage(added.map(({ id }) => id))
