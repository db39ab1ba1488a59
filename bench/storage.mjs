// InMemoryStorage and LocalFileStorage, without search.

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ours, sdk } from './contenders.mjs'
import { race } from './race.mjs'
import { printCost, printSpeedUp } from './table.mjs'
import { longText } from './texts.mjs'

const KEYS = 256
const IN_FLIGHT = 64
const keys = Array.from({ length: KEYS }, (_, number) => `notes/${number}.md`)
const value = new TextEncoder().encode(longText(400))

export async function storage(folder) {
  await inMemory()
  await inFiles(folder)
  await listing(folder)
}

async function inMemory() {
  const [our, its] = [new ours.InMemoryStorage(), new sdk.InMemoryStorage()]
  const written = await race({ ours: write(our), sdk: write(its) })
  printCost('InMemoryStorage: write, 400 bytes', written.ours, ['SDK', written.sdk], 2.5)
  const read = await race({ ours: readBack(our), sdk: readBack(its) })
  printCost('InMemoryStorage: read', read.ours, ['SDK', read.sdk], 2.5)
  for (let number = 0; number < 5_000; number++) {
    for (const storage of [our, its]) await storage.write(`more/${number}.md`, value)
  }
  const listed = await race({ ours: { call: () => our.list('more/') }, sdk: { call: () => its.list('more/') } })
  printSpeedUp('InMemoryStorage: list, 5,000 keys', listed.ours, ['SDK', listed.sdk], 1)
}

async function inFiles(folder) {
  const our = new ours.LocalFileStorage(join(folder, 'ours'))
  const its = new sdk.LocalFileStorage(join(folder, 'sdk'))
  mkdirSync(join(folder, 'bare/notes'), { recursive: true })
  const writeAndRename = (index) => {
    const target = join(folder, 'bare', keys[index % KEYS])
    writeFileSync(`${target}.scratch`, value)
    renameSync(`${target}.scratch`, target)
  }
  for (const [inFlight, floors, how] of [
    [1, [3, 2], 'one at a time'],
    [IN_FLIGHT, [], `${IN_FLIGHT} in flight`],
  ]) {
    const bare = inFlight === 1 && { sync: { call: writeAndRename } }
    const written = await race({ ours: write(our), sdk: write(its), ...bare }, { inFlight, seconds: 3 })
    const what = `LocalFileStorage: write, ${how}`
    printSpeedUp(what, written.ours, ['SDK', written.sdk], floors[0])
    // No safe write can do with less; where it takes long, it is the file system's time that both spend.
    if (bare) printCost('the same, against the bare file work', written.ours, ['fs sync', written.sync])
    const read = await race({ ours: readBack(our), sdk: readBack(its) }, { inFlight })
    printSpeedUp(`LocalFileStorage: read, ${how}`, read.ours, ['SDK', read.sdk], floors[1])
  }
}

async function listing(folder) {
  const base = join(folder, 'listed')
  for (let number = 0; number < 5_000; number++) {
    const subfolder = join(base, `folder ${number % 50}`)
    if (number < 50) mkdirSync(subfolder, { recursive: true })
    writeFileSync(join(subfolder, `${number}.md`), value)
  }
  const list = ({ LocalFileStorage }) => {
    const storage = new LocalFileStorage(base)
    return { call: () => storage.list('') }
  }
  const listed = await race({ ours: list(ours), sdk: list(sdk) })
  printSpeedUp('LocalFileStorage: list, 5,000 files in 50 folders', listed.ours, ['SDK', listed.sdk], 3)
}

function write(storage) {
  return { call: (index) => storage.write(keys[index % KEYS], value) }
}

function readBack(storage) {
  return { call: (index) => storage.read(keys[index % KEYS]) }
}
