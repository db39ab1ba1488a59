// tokenize and tokenOverlapScore.

import { ours, sdk } from './contenders.mjs'
import { race } from './race.mjs'
import { printSpeedUp } from './table.mjs'
import { longForeignText, longText, question, sentence } from './texts.mjs'

const LENGTH = 200_000

export async function tokens() {
  const tokenized = (text) => [`tokenize, ${text.length.toLocaleString('en')} characters`, text]
  const texts = [
    [...tokenized(longText(LENGTH)), 'English', 3],
    [...tokenized(longForeignText(LENGTH)), 'not ASCII', 3],
    [...tokenized(longText(2_000)), 'English'],
    [...tokenized(question()), 'a question'],
  ]
  for (const [what, text, kind, floor] of texts) {
    const times = await race(on(({ tokenize }) => tokenize(text)))
    printSpeedUp(`${what}, ${kind}`, times.ours, ['SDK', times.sdk], floor)
  }
  const query = sdk.tokenize(question())
  for (const content of [sentence(), longText(2_000), longText(LENGTH)]) {
    const times = await race(on(({ tokenOverlapScore }) => tokenOverlapScore(query, content)))
    const what = `tokenOverlapScore, ${content.length.toLocaleString('en')} characters`
    printSpeedUp(what, times.ours, ['SDK', times.sdk])
  }
}

function on(call) {
  return { ours: { call: () => call(ours) }, sdk: { call: () => call(sdk) } }
}
