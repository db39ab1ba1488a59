import { type ExecutionResult, type FileInfo, Sandbox } from '@strands-agents/sdk/sandbox'

/** What a storage asked its sandbox to do. */
export type SandboxCall = [operation: 'read' | 'write' | 'remove' | 'list', path: string]

const missing = (path: string): Error => Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' })

/** A sandbox that keeps its files in a map and its calls in a list. */
export class MapSandbox extends Sandbox {
  readonly files = new Map<string, Uint8Array>()
  readonly calls: SandboxCall[] = []

  override async readFile(path: string): Promise<Uint8Array> {
    this.calls.push(['read', path])
    const content = this.files.get(path)
    if (content === undefined) throw missing(path)
    return content
  }

  override async writeFile(path: string, content: Uint8Array): Promise<void> {
    this.calls.push(['write', path])
    this.files.set(path, content)
  }

  override async removeFile(path: string): Promise<void> {
    this.calls.push(['remove', path])
    if (!this.files.delete(path)) throw missing(path)
  }

  override async listFiles(path: string): Promise<FileInfo[]> {
    this.calls.push(['list', path])
    const entries = new Map<string, FileInfo>()
    for (const file of this.files.keys()) {
      if (!file.startsWith(`${path}/`)) continue
      const [name, ...rest] = file.slice(path.length + 1).split('/')
      entries.set(name!, { name: name!, isDir: rest.length > 0 })
    }
    if (entries.size === 0) throw missing(path)
    return [...entries.values()]
  }

  override async *executeStreaming(): AsyncGenerator<ExecutionResult> {
    yield { type: 'executionResult', exitCode: 127, stdout: '', stderr: 'nothing runs here', outputFiles: [] }
  }

  override executeCodeStreaming(): AsyncGenerator<ExecutionResult> {
    return this.executeStreaming()
  }
}
