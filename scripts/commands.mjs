// How the scripts run other programs, always from the top of the repository.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The top of the repository, with a slash at its end. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs a program, and resolves to its exit code, its standard output, and everything it printed. What it prints is also
 * passed on as it comes, unless `quiet`.
 */
export function run(command, args, { quiet = false, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options })
    let stdout = ''
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text
      output += text
      if (!quiet) process.stdout.write(text)
    })
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text
      if (!quiet) process.stderr.write(text)
    })
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code: code ?? signal, stdout, output }))
  })
}

/** Runs a program that has to succeed, and resolves to its standard output. */
export async function succeed(command, args, options) {
  const { code, stdout, output } = await run(command, args, options)
  if (code === 0) return stdout
  throw new Error(`${[command, ...args].join(' ')} ended with ${code}${options?.quiet ? `:\n${output}` : ''}`)
}
