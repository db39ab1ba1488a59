import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { linesOf } from './child-program.js'

const python = fileURLToPath(new URL('../.venv/bin/python', import.meta.url))
const server = fileURLToPath(new URL('python/sdk_server.py', import.meta.url))

/** Where a store is: at a path, or by name in the memory folder of a home directory. */
export type Place = { path: string } | { name: string; home: string }

/** Where entries are that Python searches: the files of a folder, or texts that it is to keep in memory. */
export type PythonEntries = { folder: string } | { entries: Record<string, string> }

/** A key and its score. */
export type PythonHit = [key: string, score: number]

/** The Python SDK's TestMemoryStore, keyword search and BM25 search, served by one Python process. */
export class PythonSdk {
  private constructor(
    private readonly process: ChildProcessByStdio<Writable, Readable, null>,
    private readonly answers: AsyncGenerator<string>,
  ) {}

  /** Starts Python in the virtual environment that the tests' script makes. */
  static async start(): Promise<PythonSdk> {
    if (!existsSync(python)) {
      throw new Error(`${python} is missing: \`npm test\` makes it, with strands-agents 1.62.0 in it`)
    }
    const process = spawn(python, [server], { stdio: ['pipe', 'pipe', 'inherit'] })
    const sdk = new PythonSdk(process, linesOf(process))
    const ready = await sdk.answers.next()
    if (ready.done) throw new Error(`${server} ended before it was ready; its error is above`)
    return sdk
  }

  /** Adds a content; `metadata` is JSON text, which may hold a bare `NaN` for Python to read. */
  async add(place: Place, content: string, metadata?: string): Promise<{ id: string }> {
    return this.call({ call: 'add', ...place, content, ...(metadata === undefined ? {} : { metadata }) })
  }

  async search(place: Place, query: string): Promise<{ content: string; metadata: Record<string, unknown> }[]> {
    return this.call({ call: 'search', ...place, query })
  }

  /** What the Python SDK's KeywordSearchStrategy finds; `data` are bytes as numbers. */
  async keywordSearch(
    entries: PythonEntries,
    query: string,
  ): Promise<{ key: string; score: number; data: number[] }[]> {
    return this.call({ call: 'keyword_search', ...entries, query })
  }

  /** Writes entries, texts or bytes as numbers, into a folder with the Python SDK's Bm25SearchStrategy. */
  async bm25Write(folder: string, entries: Record<string, string | number[]>, dbPath?: string): Promise<void> {
    await this.call({ call: 'bm25_write', folder, entries, db_path: dbPath })
  }

  /** What the Python SDK's Bm25SearchStrategy finds in a folder. */
  async bm25Search(folder: string, query: string, dbPath?: string): Promise<PythonHit[]> {
    return this.call({ call: 'bm25_search', folder, query, db_path: dbPath })
  }

  /** Executes statements in a SQLite database, outside of any transaction, and gives the rows of the last. */
  async sql(path: string, ...statements: string[]): Promise<unknown[][]> {
    return this.call({ call: 'sql', path, statements, hold: false })
  }

  /** The same with a connection, and a transaction that it began, which stay until the next statements on this path. */
  async hold(path: string, ...statements: string[]): Promise<unknown[][]> {
    return this.call({ call: 'sql', path, statements, hold: true })
  }

  /** Lets Python come to its end. */
  async stop(): Promise<void> {
    this.process.stdin.end()
    for await (const line of this.answers) throw new Error(`an answer that nobody asked for: ${line}`)
  }

  private async call<T>(request: object): Promise<T> {
    this.process.stdin.write(`${JSON.stringify(request)}\n`)
    const { value, done } = await this.answers.next()
    if (done) throw new Error(`${server} ended before it answered; its error is above`)
    const reply = JSON.parse(value) as { value: T } | { error: string }
    if ('error' in reply) throw new Error(reply.error)
    return reply.value
  }
}
