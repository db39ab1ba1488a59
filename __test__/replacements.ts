import { watch, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'

/**
 * How often a file is replaced, by a rename over it, while `action` runs.
 *
 * Counts the operating system's own events. A rename is one event of the file's name, and is never merged with the next,
 * because the events of the scratch file's name lie between them.
 */
export async function countReplacements(path: string, action: () => Promise<unknown>): Promise<number> {
  const [directory, name] = [dirname(path), basename(path)]
  const sentinel = '.last-event'
  let replacements = 0
  const watcher = watch(directory)
  const allSeen = new Promise<void>((resolve) => {
    watcher.on('change', (type, file) => {
      if (file === name && type === 'rename') replacements += 1
      if (file === sentinel) resolve()
    })
  })
  try {
    await action()
    writeFileSync(`${directory}/${sentinel}`, '')
    await allSeen
  } finally {
    watcher.close()
  }
  return replacements
}
