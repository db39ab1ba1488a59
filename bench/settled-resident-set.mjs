// What a process holds on to, in a process that was started with --expose-gc.

import { setTimeout } from 'node:timers/promises'

/** The resident set in bytes, after the garbage has gone. */
export async function settledResidentSet() {
  for (let times = 0; times < 3; times++) {
    globalThis.gc()
    await setTimeout(50)
  }
  return process.memoryUsage.rss()
}
