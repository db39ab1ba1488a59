// Work that another process does and times itself: see bm25_peer.py.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { root } from '../scripts/commands.mjs'
import { installPythonSdk } from '../scripts/setup.mjs'

/** Runs `work` beside a process of Python with the Python SDK. */
export async function withPython(work) {
  await installPythonSdk()
  const program = fileURLToPath(new URL('bm25_peer.py', import.meta.url))
  return await withPeer(join(root, '.venv/bin/python'), [program], work)
}

/** Starts a program, runs `work` with a function that asks it something, and lets it end. */
export async function withPeer(command, args, work) {
  const peer = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: peer.stdout })[Symbol.asyncIterator]()
  const ask = async (call, request) => {
    peer.stdin.write(`${JSON.stringify({ call, ...request })}\n`)
    const { value: line, done } = await answers.next()
    if (done) throw new Error(`${command} ended while asked to ${call}`)
    const { value, error } = JSON.parse(line)
    if (error !== undefined) throw new Error(`${command}, asked to ${call}: ${error}`)
    return value
  }
  try {
    return await work(ask)
  } finally {
    peer.stdin.end()
  }
}
