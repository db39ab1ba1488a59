import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const create = (): string => realpathSync(mkdtempSync(join(tmpdir(), 'strands-native-test-')))

/** A new empty directory that vanishes when the test that asked for it ends. */
export function scratchDirectory(): string {
  const directory = create()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A new empty disk of one megabyte, or `null` where this process may not mount one. */
export function smallDisk(): string | null {
  const directory = create()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory]).status === 0
  onTestFinished(() => {
    if (mounted) spawnSync('umount', [directory])
    rmSync(directory, { recursive: true, force: true })
  })
  return mounted ? directory : null
}
