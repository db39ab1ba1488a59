// Timing several ways to do one thing so that noise hits them alike.

/** So long that the clock's resolution and a stray interruption do not count. */
const SHORTEST_SAMPLE_MS = 20

/**
 * Runs the contenders in turn, in the other order every other round, and gives the median time in milliseconds of one
 * call of each, by name.
 *
 * A contender is `{ call, before }`: `call(index)` is timed and may give a promise; `before()` runs untimed ahead of
 * each sample. A sample is `calls` calls; where that is not given, as many as make a sample of 20 ms, found while
 * warming up. Rounds go on for `seconds` or, where it is given, for `rounds`.
 *
 * What runs in another process times itself: where `tellsTime` is true, `call` gives the milliseconds that it took.
 */
export async function race(contenders, { calls, rounds, seconds = 2, inFlight = 1 } = {}) {
  const runners = Object.entries(contenders).map(([name, contender]) => ({ name, ...contender, index: 0, samples: [] }))
  for (const runner of runners) {
    runner.calls = calls ?? inFlight
    // The first ones may read files, compile and index, and would tell nothing of the others.
    if (calls === undefined) for (let warm = 0; warm < 3; warm++) await sample(runner, inFlight)
    while (calls === undefined && (await sample(runner, inFlight)) * runner.calls < SHORTEST_SAMPLE_MS) {
      runner.calls *= 2
    }
  }
  const fewest = rounds ?? 5
  const started = performance.now()
  for (let round = 0; round < fewest || (!rounds && performance.now() - started < seconds * 1000); round++) {
    for (const runner of round % 2 ? runners.toReversed() : runners) {
      runner.samples.push(await sample(runner, inFlight))
    }
  }
  return Object.fromEntries(runners.map(({ name, samples }) => [name, median(samples)]))
}

async function sample(runner, inFlight) {
  const { call, before, calls, tellsTime } = runner
  await before?.()
  if (tellsTime) {
    let total = 0
    for (let done = 0; done < calls; done++) total += await call(runner.index++)
    return total / calls
  }
  const started = performance.now()
  if (inFlight > 1) {
    for (let done = 0; done < calls; done += inFlight) {
      await Promise.all(Array.from({ length: inFlight }, () => call(runner.index++)))
    }
  } else {
    for (let done = 0; done < calls; done++) {
      const result = call(runner.index++)
      if (result instanceof Promise) await result
    }
  }
  return (performance.now() - started) / calls
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
