// Counts of what passed and what failed, over all suites of one run.

const counts = []

/** Adds a suite's own counts. A suite that ran nothing is a failure: its tests have gone missing. */
export function count(name, passed, failed) {
  if (passed + failed === 0) failed = 1
  counts.push({ name, passed, failed })
}

/** Runs one check: it passes unless it throws. Tells whether it passed. */
export async function check(name, body) {
  try {
    await body()
    console.log(`ok      ${name}`)
    count(name, 1, 0)
    return true
  } catch (error) {
    // A failed command or assertion says it all; anything else is a fault of the script.
    console.log(`FAILED  ${name}\n${/^(Assertion)?Error$/.test(error.name) ? error.message : error.stack}`)
    count(name, 0, 1)
    return false
  }
}

/** Prints the suites that failed and, as the last line, the sums. Sets the exit code. */
export function report() {
  const sum = (key) => counts.reduce((total, suite) => total + suite[key], 0)
  console.log()
  for (const { name, failed } of counts) if (failed > 0) console.log(`FAILED  ${name} (${failed})`)
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`)
  if (sum('failed') > 0 || sum('passed') === 0) process.exitCode = 1
}
