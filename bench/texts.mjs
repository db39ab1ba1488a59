// Made-up texts with the statistics of real ones: a few words everywhere, many words hardly anywhere (Zipf's law).
// The same texts in every run.

const COMMON =
  'the to and of a in is for on it with user that was at they she he but not from about said my this have we be as so'
const ONSETS = 'b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st t tr v w'.split(' ')
const VOWELS = 'a e i o u ai ea ee ie oa ou'.split(' ')
const CODAS = ['', '', 'b', 'ck', 'd', 'g', 'l', 'm', 'n', 'nd', 'p', 'r', 'rt', 's', 'st', 't', 'th']
const VOCABULARY_SIZE = 50_000
/** With it, 200,000 characters hold 37,000 words, 6,000 of them distinct, which is usual for English prose. */
const SKEW = 0.2

const random = mulberry32(20_260_101)
const pick = (choices) => choices[Math.floor(random() * choices.length)]

const vocabulary = [...inventWords(new Set(COMMON.split(' ')))]

function inventWords(words) {
  while (words.size < VOCABULARY_SIZE) {
    // Frequent words are short.
    const syllables = 1 + Math.floor(random() * (words.size < 300 ? 1.2 : words.size < 3000 ? 2 : 3.5))
    words.add(Array.from({ length: syllables }, () => pick(ONSETS) + pick(VOWELS) + pick(CODAS)).join(''))
  }
  return words
}

/** A word from `first` on, the more often the nearer to it. */
function word(first = 0) {
  const [most, least] = [first + 1, VOCABULARY_SIZE].map((rank) => rank ** -SKEW)
  const rank = (most + random() * (least - most)) ** (-1 / SKEW)
  return vocabulary[Math.min(Math.floor(rank) - 1, VOCABULARY_SIZE - 1)]
}

/** A sentence as people write it: a capital, a comma or a number here and there, a full stop. */
export function sentence(words = 8 + Math.floor(random() * 22)) {
  const written = Array.from({ length: words }, (_, place) => {
    const chance = random()
    if (chance < 0.03) return String(Math.floor(random() * 3000))
    const plain = place === 0 || chance > 0.95 ? capitalized(word()) : word()
    return chance > 0.85 && chance < 0.92 ? `${plain},` : plain
  })
  return `${written.join(' ')}.`
}

/** A question of three to eight words, of which one to three carry its meaning. */
export function question() {
  const rare = () => word(200)
  const forms = [
    () => `What did the user say about ${rare()}?`,
    () => `${rare()} ${rare()}`,
    () => `Where is the ${rare()} of ${capitalized(rare())}?`,
    () => `When was ${capitalized(rare())} at the ${rare()} with ${rare()}?`,
    () => `Which ${word(30)} is it?`,
  ]
  return pick(forms)()
}

/** Sentences up to a length in characters. */
export function longText(length) {
  let text = ''
  while (text.length < length) text += `${sentence()}${random() < 0.2 ? '\n\n' : ' '}`
  return text.slice(0, length)
}

/** The same in Greek, Cyrillic, Latin with accents, and Chinese: a letter of each for one of English. */
export function longForeignText(length) {
  const alphabets = ['αβγδεζηθικλμνξοπρστυφχψωάέ', 'абвгдежзийклмнопрстуфхцчшщ', 'àbçdéfgħîjķłmñöpqřšťüvŵxýž']
  const chinese = () => String.fromCharCode(0x4e00 + Math.floor(random() * 3000))
  let text = ''
  while (text.length < length) {
    const alphabet = pick(alphabets)
    const letter = (ascii) => alphabet[ascii.toLowerCase().charCodeAt(0) - 97]
    const foreign = sentence().replace(/[a-z]/gi, (ascii) =>
      ascii < 'a' ? letter(ascii).toUpperCase() : letter(ascii),
    )
    text += `${foreign} ${Array.from({ length: 6 }, chinese).join('')}。 `
  }
  return text.slice(0, length)
}

function capitalized(text) {
  return text[0].toUpperCase() + text.slice(1)
}

/** A small generator of numbers from 0 to 1 with a seed (public domain, by Tommy Ettinger). */
function mulberry32(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
