// `npm run bench:recall`: does search find what was said? Measured on a conversation of the LoCoMo data set
// (snap-research/locomo), which is not part of this package: `LOCOMO=<its JSON file> npm run bench:recall`.
//
// One turn is one entry, `speaker: text`; the questions are those of category 4 (single-hop). Recall@k is the share of the
// turns with the answer among the first k results, averaged over the questions; MRR the mean of 1 / rank of the first one.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ours, sdk } from './contenders.mjs'
import { minisearch, orama } from './other-indexes.mjs'
import { withPython } from './peer.mjs'

const path = process.env.LOCOMO ?? fileURLToPath(new URL('../../shared/data/locomo/conv-26.json', import.meta.url))
if (!existsSync(path)) {
  console.log(`There is no conversation at ${path}: nothing was measured. Set LOCOMO to the path of one.`)
  process.exit()
}

const SINGLE_HOP = 4
const conversation = JSON.parse(readFileSync(path, 'utf8'))
const turns = Object.keys(conversation)
  .filter((name) => /^session_\d+$/.test(name))
  .flatMap((name) => conversation[name])
const questions = conversation.qa.filter(({ category, evidence }) => category === SINGLE_HOP && evidence.length > 0)
console.log(`${turns.length} turns, ${questions.length} questions`)

// A key is a number that says nothing, in the order of the conversation, so that words of the key do not count.
const entries = turns.map(({ speaker, text }, index) => [String(index).padStart(6, '0'), `${speaker}: ${text}`])
const keyOf = new Map(turns.map(({ dia_id: id }, index) => [id, entries[index][0]]))

const scratch = mkdtempSync(join(tmpdir(), 'strands-native-recall-'))
try {
  const bm25 = async (options) => {
    const searchStrategy = new ours.Bm25SearchStrategy({
      dbPath: join(scratch, `${options?.match}.sqlite`),
      ...options,
    })
    const rankings = await inStorage(new ours.InMemoryStorage({ searchStrategy }))
    await searchStrategy.close()
    return rankings
  }
  print('keyword, ours', await inStorage(new ours.InMemoryStorage()))
  print('keyword, TypeScript SDK', await inStorage(new sdk.InMemoryStorage()))
  print('bm25, ours', await bm25(), [56, 62, 0.43])
  print("bm25, ours, match 'all'", await bm25({ match: 'all' }))
  print('bm25, Python SDK', await inPython())
  print('MiniSearch', await inIndex(minisearch()))
  print('Orama', await inIndex(orama()))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** The keys that each question finds in a storage, best first. */
async function inStorage(storage) {
  for (const [key, text] of entries) await storage.write(key, new TextEncoder().encode(text))
  const rankings = []
  for (const { question } of questions) rankings.push((await storage.search(question)).map(({ key }) => key))
  return rankings
}

async function inIndex(index) {
  for (const [key, text] of entries) await index.add(key, text)
  const rankings = []
  for (const { question } of questions) {
    rankings.push((await index.search(question, entries.length)).map(({ id }) => id))
  }
  return rankings
}

function inPython() {
  const request = {
    folder: join(scratch, 'python'),
    documents: entries,
    questions: questions.map(({ question }) => question),
  }
  return withPython((python) => python('rank', request))
}

/** A row of the three measures. `floors` are the least that is wanted of each, if any. */
function print(name, rankings, floors) {
  const totals = { at5: 0, at10: 0, reciprocal: 0 }
  for (const [number, { evidence }] of questions.entries()) {
    const ranks = evidence
      .map((id) => rankings[number].indexOf(keyOf.get(id)))
      .map((index) => (index < 0 ? Infinity : index + 1))
    const recallAt = (k) => ranks.filter((rank) => rank <= k).length / ranks.length
    totals.at5 += recallAt(5)
    totals.at10 += recallAt(10)
    totals.reciprocal += 1 / Math.min(...ranks)
  }
  const [at5, at10, mrr] = Object.values(totals).map((total) => total / questions.length)
  const measures = [at5 * 100, at10 * 100, mrr]
  const missed = floors?.some((floor, index) => measures[index] < floor)
  const verdict = floors ? `  floor >= ${floors.join(' / ')}${missed ? ', missed' : ''}` : ''
  const [percent5, percent10] = measures.map((share) => share.toFixed(1))
  console.log(`${name.padEnd(26)} Recall@5 ${percent5}  Recall@10 ${percent10}  MRR ${mrr.toFixed(3)}${verdict}`)
}
