// TestMemoryStore.search.

import { copyFileSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ours, sdk } from './contenders.mjs'
import { writeMemoryFile } from './memory-file.mjs'
import { race } from './race.mjs'
import { printCost, printSpeedUp } from './table.mjs'
import { question } from './texts.mjs'

const questions = Array.from({ length: 64 }, question)
const IN_FLIGHT = 64

export async function recall(folder) {
  for (const [count, floor] of [
    [1_000, 60],
    [10_000, 300],
    [100_000, 500],
  ]) {
    const path = join(folder, `${count}.json`)
    await writeMemoryFile(path, count)
    await recallUnchanged(path, count, floor)
    if (count === 10_000) await recallFirst(path, count)
  }
}

async function recallUnchanged(path, count, floor) {
  const search = ({ TestMemoryStore }) => {
    const store = new TestMemoryStore({ name: 'bench', path })
    return { call: (index) => store.search(questions[index % questions.length]) }
  }
  const what = `recall from ${count.toLocaleString('en')} unchanged records`
  // What any file work off the JavaScript thread costs at the least: a look at the file, there and back.
  const hop = { call: () => stat(path) }
  const single = await race({ ours: search(ours), sdk: search(sdk), hop })
  printSpeedUp(what, single.ours, ['SDK', single.sdk], floor)
  printCost(`${what}, against a bare stat`, single.ours, ['fs.promises.stat', single.hop])
  // The SDK's recall keeps the one JavaScript thread busy all the time: its time stays the same.
  const many = await race({ ours: search(ours) }, { seconds: 1, inFlight: IN_FLIGHT })
  printSpeedUp(`${what}, ${IN_FLIGHT} in flight`, many.ours, ['SDK', single.sdk])
}

/** What was read of a file is kept for all of a process, by its path: only a path never used before is a first time. */
async function recallFirst(original, count) {
  const search = ({ TestMemoryStore }, name) => {
    let copies = 0
    let path
    return {
      before: () => {
        if (path) rmSync(path)
        path = `${original}.${name}.${copies++}`
        copyFileSync(original, path)
      },
      call: (index) => new TestMemoryStore({ name: 'bench', path }).search(questions[index % questions.length]),
    }
  }
  const times = await race({ ours: search(ours, 'ours'), sdk: search(sdk, 'sdk') }, { calls: 1, seconds: 3 })
  printSpeedUp(`first recall from ${count.toLocaleString('en')} records`, times.ours, ['SDK', times.sdk], 4)
}
