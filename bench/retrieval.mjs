// `npm run bench:recall`: does search find what was said? Measured on a conversation of the LoCoMo data set
// (snap-research/locomo), which is not part of this package: `LOCOMO=<its JSON file> npm run bench:recall`.
//
// One turn is one entry, `speaker: text`; the questions are those of category 4 (single-hop). Recall@k is the share of the
// turns with the answer among the first k results, averaged over the questions; MRR the mean of 1 / rank of the first one.

import { existsSync, readFileSync } from 'node:fs'
import { ours, sdk } from './contenders.mjs'

const path = process.env.LOCOMO ?? new URL('../../shared/data/locomo/conv-26.json', import.meta.url).pathname
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

const percent = (share) => (share * 100).toFixed(1)

for (const [name, { InMemoryStorage }] of Object.entries({ 'keyword, ours': ours, 'keyword, TypeScript SDK': sdk })) {
  const storage = new InMemoryStorage()
  const keyOf = new Map()
  for (const { speaker, dia_id: id, text } of turns) {
    // A number that says nothing, in the order of the conversation, so that words of the key do not count.
    const key = String(keyOf.size).padStart(6, '0')
    keyOf.set(id, key)
    await storage.write(key, new TextEncoder().encode(`${speaker}: ${text}`))
  }
  const totals = { at5: 0, at10: 0, reciprocal: 0 }
  for (const { question, evidence } of questions) {
    const ranking = (await storage.search(question)).map(({ key }) => key)
    const ranks = evidence
      .map((id) => ranking.indexOf(keyOf.get(id)))
      .map((index) => (index < 0 ? Infinity : index + 1))
    const recallAt = (k) => ranks.filter((rank) => rank <= k).length / ranks.length
    totals.at5 += recallAt(5)
    totals.at10 += recallAt(10)
    totals.reciprocal += 1 / Math.min(...ranks)
  }
  const [at5, at10, mrr] = Object.values(totals).map((total) => total / questions.length)
  console.log(`${name.padEnd(26)} Recall@5 ${percent(at5)}  Recall@10 ${percent(at10)}  MRR ${mrr.toFixed(3)}`)
}
