// What child programs share: loading the classes of one side by name, and giving up root's rights.

/** The storage and memory classes of the SDK or of this package. */
export async function load(who) {
  const [storage, memory] =
    who === 'sdk'
      ? [
          await import('@strands-agents/sdk/storage'),
          await import('@strands-agents/sdk/vended-memory-stores/test-memory-store'),
        ]
      : [await import('strands-native/storage'), await import('strands-native/vended-memory-stores/test-memory-store')]
  return { ...storage, ...memory }
}

/** Goes on as a user without rights, as root is refused nothing; without effect for anyone else. */
export function dropRights(uid = 65534) {
  if (process.getuid() !== 0) return
  process.setgroups([])
  process.setegid(65534)
  process.seteuid(uid)
}

/** What became of a promise, as plain data. */
export async function outcome(promise) {
  try {
    return { value: (await promise) ?? null }
  } catch (error) {
    return { rejected: error.name, message: error.message, code: error.cause?.code }
  }
}
