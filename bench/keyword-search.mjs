// Keyword search, which both packages do where no other strategy is given.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ours, sdk } from './contenders.mjs'
import { untilSettled } from './memory-file.mjs'
import { race } from './race.mjs'
import { printSpeedUp } from './table.mjs'
import { longText, question } from './texts.mjs'

const ENTRIES = 5_000
const questions = Array.from({ length: 16 }, question)
/** Every key below holds a word of it. */
const COMMON_QUESTION = 'What do my notes say about the user?'

const texts = Array.from({ length: ENTRIES }, () => longText(400))

export async function keywordSearch(folder) {
  await overFiles(folder)
  await overMemory()
  await overPlainStorage()
}

async function overFiles(folder) {
  let base = join(folder, '0')
  mkdirSync(base)
  for (const [number, text] of texts.entries()) writeFileSync(join(base, `${number}.md`), text)
  await untilSettled()

  // Whatever is kept of a folder for the next search is kept by its name: a new name makes it a first search.
  let renamed = 0
  const before = () => {
    const name = join(folder, String(++renamed))
    renameSync(base, name)
    base = name
  }
  const first = ({ LocalFileStorage }) => ({
    before,
    call: (index) => new LocalFileStorage(base).search(questions[index % questions.length]),
  })
  const firsts = await race({ ours: first(ours), sdk: first(sdk) }, { calls: 1, rounds: 7 })
  const what = `keyword search over ${ENTRIES.toLocaleString('en')} files`
  printSpeedUp(`${what}, first`, firsts.ours, ['SDK', firsts.sdk], 15)

  const repeated = ({ LocalFileStorage }) => {
    const storage = new LocalFileStorage(base)
    return { call: (index) => storage.search(questions[index % questions.length]) }
  }
  const times = await race({ ours: repeated(ours), sdk: repeated(sdk) })
  printSpeedUp(`${what}, repeated`, times.ours, ['SDK', times.sdk], 40)
}

async function overMemory() {
  const search = async ({ InMemoryStorage }) => {
    const storage = new InMemoryStorage()
    for (const [number, text] of texts.entries()) {
      await storage.write(`notes/${number}.md`, new TextEncoder().encode(text))
    }
    return { call: () => storage.search(COMMON_QUESTION) }
  }
  const contenders = { ours: await search(ours), sdk: await search(sdk) }
  const hits = (await contenders.ours.call()).length
  const times = await race(contenders)
  const what = `keyword search over ${ENTRIES.toLocaleString('en')} entries in memory, ${hits.toLocaleString('en')} hits`
  printSpeedUp(what, times.ours, ['SDK', times.sdk], 4)
}

/** A storage of the user's own, whose promises are JavaScript's whoever reads it. */
async function overPlainStorage() {
  const entries = new Map(texts.map((text, number) => [`notes/${number}.md`, new TextEncoder().encode(text)]))
  const storage = { list: async () => [...entries.keys()], read: async (key) => entries.get(key) ?? null }
  const search = ({ KeywordSearchStrategy }) => ({
    call: (index) => KeywordSearchStrategy.search(storage, questions[index % questions.length]),
  })
  const times = await race({ ours: search(ours), sdk: search(sdk) })
  const what = `keyword search over ${ENTRIES.toLocaleString('en')} entries of a plain JavaScript storage`
  printSpeedUp(what, times.ours, ['SDK', times.sdk], 1)
}
