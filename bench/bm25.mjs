// Bm25SearchStrategy, beside that of the Python SDK, bare SQLite, and MiniSearch and Orama, whose indexes are in memory only.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ours } from './contenders.mjs'
import { untilSettled } from './memory-file.mjs'
import { minisearch, orama } from './other-indexes.mjs'
import { withPeer, withPython } from './peer.mjs'
import { median, race } from './race.mjs'
import { printCost, printSize, printSpeedUp } from './table.mjs'
import { longText } from './texts.mjs'

const FEW = 4_000
const SOME = 5_000
const MANY = 50_000
const FOLDERS = 50
const HOLDER = fileURLToPath(new URL('index-holder.mjs', import.meta.url))

/** Five words of which most documents have one. Each is its own stem. */
const WORDS = ['chug', 'goack', 'said', 'truck', 'user']
const QUERY = WORDS.join(' ')
/** What ours asks SQLite for. */
const EXPRESSION = WORDS.map((word) => `"${word}" OR "${word}" *`).join(' OR ')

/** Keys and texts, and the bytes of the texts: made when they are needed, since they take a while. */
let documents
let bytes

export async function bm25(folder) {
  const encoder = new TextEncoder()
  documents = Array.from({ length: MANY }, (_, number) => [`notes/${number % FOLDERS}/${number}.md`, longText(400)])
  bytes = documents.map(([, text]) => encoder.encode(text))
  await withPython(async (python) => {
    await indexing(folder, python)
    for (const count of [SOME, MANY]) await searching(folder, python, count)
  })
  await backfilling(folder)
  inMemory(folder)
}

function openIndex(place, options) {
  const strategy = new ours.Bm25SearchStrategy(options)
  return { strategy, storage: new ours.LocalFileStorage(place, { searchStrategy: strategy }) }
}

function placeOf(folder, name) {
  return join(folder, name, 'documents')
}

function indexFileOf(place) {
  return join(dirname(place), '.__strands_documents-fts5.sqlite')
}

async function indexing(folder, python) {
  let filled = 0
  const sdk = (through, atOnce) => {
    const place = placeOf(folder, `python ${filled++}`)
    return python('fill', { folder: place, documents: documents.slice(0, FEW), through, atOnce })
  }
  const [inTurn, together] = ['one after another', 'at once'].map((how) => `${FEW.toLocaleString('en')} ${how}`)

  // First: the Python SDK makes a file for each document and removes it, after which some file systems are slow to make
  // files for a minute. For the same reason nothing here is removed.
  const writing = (options) => ({ ours: fill(folder, 'write', options), bare: fill(folder, 'bare', options) })
  const written = await race(writing(), { calls: 1, rounds: 3 })
  const writtenAtOnce = await race(writing({ atOnce: true }), { calls: 1, rounds: 5 })

  const others = { minisearch: fillInMemory(minisearch), orama: fillInMemory(orama) }
  const index = await race({ ours: fill(folder, 'index'), ...others }, { calls: 1, rounds: 3 })
  printSpeedUp(`BM25: index ${inTurn}`, index.ours, ['Python SDK', await sdk('index', false)], 50)
  printCost('... against an index in memory', index.ours, ['MiniSearch', index.minisearch])
  printCost('... against an index in memory', index.ours, ['Orama', index.orama])
  const [one, many] = [index.ours / FEW, MANY.toLocaleString('en')]
  printCost(`... one of ${many}`, await indexMany(folder), [`of ${FEW.toLocaleString('en')}`, one], 1.5)
  const atOnce = await race({ ours: fill(folder, 'index', { atOnce: true }) }, { calls: 1, rounds: 7 })
  printSpeedUp(`BM25: index ${together}`, atOnce.ours, ['Python SDK', await sdk('index', true)], 300)

  const file = 'LocalFileStorage.write'
  printSpeedUp(`${file} with BM25, ${inTurn}`, written.ours, ['Python SDK', await sdk('write', false)])
  printCost('... against writing without an index', written.ours, ['bare', written.bare])
  printSpeedUp(`${file} with BM25, ${together}`, writtenAtOnce.ours, ['Python SDK', await sdk('write', true)])
  printCost('... against writing without an index', writtenAtOnce.ours, ['bare', writtenAtOnce.bare])
}

let folders = 0

/** A few documents through the strategy's `index`, the storage's `write`, or `write` of a storage without a strategy. */
function fill(folder, through, { atOnce = false } = {}) {
  let strategy
  let put
  return {
    before: async () => {
      await strategy?.close()
      const place = placeOf(folder, `${through} ${folders++}`)
      const index = openIndex(place)
      const storage = through === 'bare' ? new ours.LocalFileStorage(place) : index.storage
      strategy = index.strategy
      put = (key, data) => (through === 'index' ? strategy.index(storage, key, data) : storage.write(key, data))
      await put('first', new Uint8Array())
    },
    call: async () => {
      if (atOnce) return await Promise.all(documents.slice(0, FEW).map(([key], number) => put(key, bytes[number])))
      for (let number = 0; number < FEW; number++) await put(documents[number][0], bytes[number])
    },
  }
}

function fillInMemory(make) {
  let index
  return {
    before: () => {
      index = make()
    },
    call: async () => {
      for (const [key, text] of documents.slice(0, FEW)) await index.add(key, text)
    },
  }
}

/** Indexes many documents one after another: the time of one. The index stays for the searches. */
async function indexMany(folder) {
  const { strategy, storage } = openIndex(placeOf(folder, String(MANY)))
  const started = performance.now()
  for (const [number, [key]] of documents.entries()) await strategy.index(storage, key, bytes[number])
  const each = (performance.now() - started) / MANY
  await strategy.close()
  return each
}

/** Writes so many documents as files, without an index. */
function writeFiles(place, count) {
  for (let number = 0; number < FOLDERS; number++) mkdirSync(join(place, `notes/${number}`), { recursive: true })
  for (let number = 0; number < count; number++) writeFileSync(join(place, documents[number][0]), bytes[number])
}

async function searching(folder, python, count) {
  const place = placeOf(folder, String(count))
  writeFiles(place, count)
  const { strategy, storage } = openIndex(place)
  await strategy.backfill(storage)

  const search = { call: () => strategy.search(storage, QUERY) }
  const hits = (await search.call()).length
  const what = `BM25: ${hits.toLocaleString('en')} hits of ${count.toLocaleString('en')}`
  await againstSqlite(what, search, python, indexFileOf(place))
  await againstMemory(what, search, count)

  const ten = openIndex(place, { limit: 10 })
  const limited = { ours: { call: () => ten.strategy.search(ten.storage, QUERY) }, all: search }
  const times = await race(limited, { calls: 1, rounds: 15 })
  printSpeedUp(`${what}, limit 10`, times.ours, ['all hits', times.all], count === MANY ? 2.5 : undefined)
  await againstSdk(python, place, count)
}

/** SQLite alone, on the very file. What answers `raw` as bm25_peer.py does can be named by RAW_SQLITE, and runs as well. */
async function againstSqlite(what, search, python, path) {
  const found = await search.call()
  const { rows } = await python('raw', { path, expression: EXPRESSION, rows: true })
  // The comparison is worth nothing unless both do the same.
  const scores = new Map(rows.map(([key, rank]) => [key, -rank / (1 - rank)]))
  assert.equal(found.length, rows.length)
  for (const { key, score } of found) assert.ok(Math.abs(score - scores.get(key)) < 1e-9, `${key} has another score`)

  const compare = async (name, ask) => {
    const raw = { call: async () => (await ask('raw', { path, expression: EXPRESSION })).milliseconds, tellsTime: true }
    const times = await race({ ours: search, raw }, { calls: 1, rounds: 15 })
    printCost(`${what}, against bare SQLite`, times.ours, [name, times.raw], 1.3)
  }
  await compare('in Python', python)
  const { RAW_SQLITE } = process.env
  if (RAW_SQLITE) await withPeer(RAW_SQLITE, [], (ask) => compare('RAW_SQLITE', ask))
}

async function againstMemory(what, search, count) {
  for (const [name, make] of Object.entries({ MiniSearch: minisearch, Orama: orama })) {
    const index = make()
    for (const [key, text] of documents.slice(0, count)) await index.add(key, text)
    const times = await race(
      { ours: search, other: { call: () => index.search(QUERY, count) } },
      { calls: 1, rounds: 7 },
    )
    printSpeedUp(what, times.ours, [name, times.other])
  }
}

/** The Python SDK finds what has all words. So do we here, in the same file. */
async function againstSdk(python, place, count) {
  const all = openIndex(place, { match: 'all' })
  const search = () => all.strategy.search(all.storage, QUERY)
  const sdk = () => python('search', { folder: place, query: QUERY })
  const hits = (await search()).length
  assert.equal((await sdk()).hits, hits)
  const itself = { call: async () => (await sdk()).milliseconds, tellsTime: true }
  const times = await race({ ours: { call: search }, itself }, { calls: 1, rounds: 31 })
  const what = `BM25: ${hits} hits of ${count.toLocaleString('en')}, match 'all'`
  printSpeedUp(what, times.ours, ['Python SDK', times.itself])
}

async function backfilling(folder) {
  const place = placeOf(folder, 'backfilled')
  writeFiles(place, SOME)
  await untilSettled()
  const { strategy, storage } = openIndex(place)
  const backfill = () => strategy.backfill(storage)
  const remove = async () => {
    await strategy.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${indexFileOf(place)}${suffix}`, { force: true })
  }
  const read = () => {
    for (const [key] of documents.slice(0, SOME)) readFileSync(join(place, key))
  }
  const per1000 = (time) => time / (SOME / 1_000)
  const what = `BM25: backfill of ${SOME.toLocaleString('en')} files, per 1,000`
  const first = await race({ ours: { before: remove, call: backfill }, read: { call: read } }, { calls: 1, rounds: 7 })
  printCost(`${what}, first`, per1000(first.ours), ['readFileSync', per1000(first.read)])
  const again = await race(
    { ours: { call: backfill }, list: { call: () => storage.list('') } },
    { calls: 1, rounds: 15 },
  )
  printCost(`${what}, repeated`, per1000(again.ours), ['list', per1000(again.list)])
}

/** How far a process grows that indexes all files and searches them, beside the size of the texts. */
function inMemory(folder) {
  const place = placeOf(folder, String(MANY))
  const texts = ['texts', bytes.reduce((total, { length }) => total + length, 0)]
  for (const [name, processes] of [
    ['ours', 3],
    ['MiniSearch', 1],
    ['Orama', 1],
  ]) {
    const grown = Array.from({ length: processes }, () =>
      JSON.parse(execFileSync(process.execPath, ['--expose-gc', HOLDER, name, place, QUERY])),
    )
    const of = (figure) => median(grown.map((process) => process[figure]))
    const what = `BM25: memory, ${MANY.toLocaleString('en')} documents${name === 'ours' ? '' : `, ${name}`}`
    printSize(`${what}, indexed`, of('indexed'), texts)
    printSize(`${what}, searched`, of('searched'), texts)
    printSize(`${what}, at the peak`, of('peak'), texts)
  }
  printSize('BM25: the index file', statSync(indexFileOf(place)).size, texts)
}
