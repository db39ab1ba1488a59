import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const packageRoot = fileURLToPath(new URL('..', import.meta.url))

export interface ProgramOptions {
  /** Added to this process's environment; `undefined` takes a variable out. */
  env?: Record<string, string | undefined>
  /** Options for Node itself. */
  nodeOptions?: string[]
  /** A bash `ulimit` argument, such as `-n 128`, that holds for the program. */
  ulimit?: string
  /** After this time the program is killed and the test fails. */
  timeoutMs?: number
}

type Program = ChildProcessByStdio<null, Readable, Readable>

function spawnNode(nodeArguments: string[], options: ProgramOptions): Program {
  const command = [process.execPath, ...(options.nodeOptions ?? []), ...nodeArguments]
  const [file, ...rest] =
    options.ulimit === undefined ? command : ['bash', '-c', `ulimit ${options.ulimit} && exec "$@"`, 'bash', ...command]
  const program = spawn(file!, rest, {
    cwd: packageRoot,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void program.kill('SIGKILL'))
  return program
}

/** Starts `__test__/programs/<name>` and leaves it running; it dies with the test. */
export function startProgram(name: string, args: string[], options: ProgramOptions = {}): Program {
  return spawnNode([fileURLToPath(new URL(`programs/${name}`, import.meta.url)), ...args], options)
}

/** Whether a program has ended, by itself or by a signal. */
export const hasEnded = (program: Program): boolean => program.exitCode !== null || program.signalCode !== null

/** The whole lines a program prints, as they come. */
export async function* linesOf(program: { stdout: Readable }): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of program.stdout.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop()!
    yield* lines
  }
}

async function finish(program: Program, timeoutMs: number): Promise<string> {
  let [stdout, stderr] = ['', '']
  program.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  program.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const timer = setTimeout(() => program.kill('SIGKILL'), timeoutMs)
  const [code, signal] = (await once(program, 'close')) as [number | null, string | null]
  clearTimeout(timer)
  if (code !== 0) throw new Error(`the program ended with ${code ?? signal}\n${stdout}\n${stderr}`)
  return stdout
}

/** Runs `__test__/programs/<name>` to its end and gives what it printed; any end but exit code 0 is an error. */
export async function runProgram(name: string, args: string[], options: ProgramOptions = {}): Promise<string> {
  return finish(startProgram(name, args, options), options.timeoutMs ?? 60_000)
}

/**
 * Runs ES module source as a program of its own, at the root of this package, with `load`, `dropRights` and `outcome`
 * of `programs/implementation.mjs` at hand, and gives the JSON it printed. Any end but exit code 0 is an error.
 */
export async function runScript<T = unknown>(source: string, options: ProgramOptions = {}): Promise<T> {
  const prelude = `import { dropRights, load, outcome } from './__test__/programs/implementation.mjs'\n`
  const program = spawnNode(['--input-type=module', '--eval', prelude + source], options)
  return JSON.parse(await finish(program, options.timeoutMs ?? 60_000)) as T
}
