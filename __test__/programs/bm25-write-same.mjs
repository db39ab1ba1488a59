// Writes the same ten entries again and again into a folder with a BM25 index, each time with a word of its own, and deletes
// some of them: <folder> <label> <rounds>.
import { Bm25SearchStrategy } from 'strands-native/storage/search'
import { load } from './implementation.mjs'

const [folder, label, rounds] = process.argv.slice(2)
const { LocalFileStorage } = await load('native')
const storage = new LocalFileStorage(folder, { searchStrategy: new Bm25SearchStrategy() })
for (let round = 0; round < Number(rounds); round += 1) {
  const calls = Array.from({ length: 10 }, (_, n) =>
    (round + n) % 7 === 0
      ? storage.delete(`k${n}.md`)
      : storage.write(`k${n}.md`, new TextEncoder().encode(`zebra ${label}round${round}x`)),
  )
  await Promise.all(calls)
}
