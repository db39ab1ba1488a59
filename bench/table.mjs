// The printed table, a row at a time.

export function printTitle(group) {
  console.log(`\n${cells(group, 'ours', 'against', 'ratio')}`)
}

/** A row of times: how many times as fast as the other we are. `floor` is the least that is wanted, if any. */
export function printSpeedUp(what, ours, [otherName, other], floor) {
  const ratio = other / ours
  const verdict = floor === undefined ? undefined : `floor >= ${floor}x${ratio < floor ? ', missed' : ''}`
  console.log(cells(what, time(ours), `${otherName} ${time(other)}`, `${digits(ratio)}x`, verdict))
}

/** A row of times: how many times as long as the other we take. `ceiling` is the most that is allowed, if any. */
export function printCost(what, ours, [otherName, other], ceiling) {
  printMultiple(what, [ours, time], [otherName, other, time], ceiling)
}

/** A row of bytes: how many times the other we take. `ceiling` is the most that is allowed, if any. */
export function printSize(what, ours, [otherName, other], ceiling) {
  printMultiple(what, [ours, size], [otherName, other, size], ceiling)
}

function printMultiple(what, [ours, format], [otherName, other], ceiling) {
  const ratio = ours / other
  const verdict = ceiling === undefined ? undefined : `floor <= ${ceiling}x${ratio > ceiling ? ', missed' : ''}`
  console.log(cells(what, format(ours), `${otherName} ${format(other)}`, `x ${digits(ratio)}`, verdict))
}

function cells(what, ours, against, ratio, verdict = '') {
  const columns = [what.padEnd(58), ours.padStart(9), against.padStart(21), ratio.padStart(10), verdict]
  return columns.join('  ').trimEnd()
}

function time(milliseconds) {
  if (milliseconds < 1) return `${digits(milliseconds * 1000)} µs`
  return milliseconds < 1000 ? `${digits(milliseconds)} ms` : `${digits(milliseconds / 1000)} s`
}

function size(bytes) {
  return `${digits(bytes / 1e6)} MB`
}

/** Three digits, and no exponent. */
function digits(number) {
  return number >= 100 ? Math.round(number).toLocaleString('en') : number.toPrecision(3)
}
