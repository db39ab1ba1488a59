// Memory files as an agent leaves them.

import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { sentence } from './texts.mjs'

const FIRST_CREATED_AT = Date.UTC(2026, 0, 1)

/** Writes a file of so many records, a minute apart, every third with metadata. */
export async function writeMemoryFile(path, count) {
  const records = Array.from({ length: count }, (_, number) => ({
    id: randomUUID(),
    content: sentence(),
    createdAt: new Date(FIRST_CREATED_AT + number * 60_000).toISOString(),
    ...(number % 3 === 0 && { metadata: { source: 'conversation', turn: number } }),
  }))
  writeFileSync(path, JSON.stringify(records, null, 2))
  await untilSettled()
}

/** Waits until what was just written has a time stamp that a later change cannot share. */
export function untilSettled() {
  return setTimeout(100)
}
