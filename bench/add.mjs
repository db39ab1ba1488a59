// TestMemoryStore.add, beside what no safe replacement of a file can do without: writing the same bytes to a scratch
// file and renaming it.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ours, sdk } from './contenders.mjs'
import { writeMemoryFile } from './memory-file.mjs'
import { race } from './race.mjs'
import { printCost, printSpeedUp } from './table.mjs'
import { sentence } from './texts.mjs'

const BURST = 1_000

export async function add(folder) {
  for (const count of [1_000, 10_000]) await addOne(folder, count)
  await addManyAtOnce(folder)
}

async function addOne(folder, count) {
  const path = (name) => join(folder, `${count}.${name}.json`)
  const addition = async ({ TestMemoryStore }, name) => {
    await writeMemoryFile(path(name), count)
    const store = new TestMemoryStore({ name: 'bench', path: path(name) })
    await store.add(sentence())
    return { call: () => store.add(sentence()) }
  }
  let bytes
  const before = () => {
    bytes = readFileSync(path('ours'))
  }
  const [scratch, target] = [join(folder, 'scratch'), join(folder, 'target')]
  const writeAndRename = () => {
    writeFileSync(scratch, bytes)
    renameSync(scratch, target)
  }
  const writeAndRenameAsync = async () => {
    await writeFile(scratch, bytes)
    await rename(scratch, target)
  }
  const ourAddition = await addition(ours, 'ours')
  const floor = await race(
    { ours: ourAddition, sync: { call: writeAndRename, before }, async: { call: writeAndRenameAsync, before } },
    // Few enough for the file to grow by no more than a fifth.
    { calls: 4, rounds: 50 },
  )
  const what = `one add onto ${count.toLocaleString('en')} records`
  printCost(`${what}, against the bare file work`, floor.ours, ['fs sync', floor.sync], 1.6)
  printCost(`${what}, against the bare file work`, floor.ours, ['fs.promises', floor.async])
  const times = await race({ ours: ourAddition, sdk: await addition(sdk, 'sdk') }, { calls: 1, rounds: 15 })
  printSpeedUp(what, times.ours, ['SDK', times.sdk])
}

async function addManyAtOnce(folder) {
  const contents = Array.from({ length: BURST }, () => sentence())
  const burst = ({ TestMemoryStore }, name) => {
    const path = join(folder, `burst.${name}.json`)
    let store
    return {
      before: () => {
        rmSync(path, { force: true })
        store = new TestMemoryStore({ name: 'bench', path })
      },
      call: () => Promise.all(contents.map((content) => store.add(content))),
    }
  }
  const times = await race({ ours: burst(ours, 'ours'), sdk: burst(sdk, 'sdk') }, { calls: 1, rounds: 5 })
  const what = `${BURST.toLocaleString('en')} adds at once into an empty store`
  printSpeedUp(what, times.ours, ['SDK', times.sdk], 300)
}
