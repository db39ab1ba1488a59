/** What became of a call, as plain data: two implementations agree when these are equal. */
export type Settled = { value: unknown } | { rejected: string; message: string }

/** Waits for a call to settle and tells how; a synchronous throw counts as neither and is let through. */
export async function settled(call: () => Promise<unknown>): Promise<Settled> {
  try {
    return { value: await call() }
  } catch (error) {
    const { name, message } = error as Error
    return { rejected: name, message }
  }
}

/** An error as the storages and stores reject with. */
export type Rejection = Error & { cause?: { code?: string } }

/** What a call rejects with; a call that succeeds is an error itself. */
export function rejectionOf(call: Promise<unknown>): Promise<Rejection> {
  return call.then(
    (value) => {
      throw new Error(`the call was expected to reject, and gave ${JSON.stringify(value)}`)
    },
    (error: Rejection) => error,
  )
}

/** What each of several calls under way rejects with. */
export const rejectionsOf = (calls: Promise<unknown>[]): Promise<Rejection[]> => Promise.all(calls.map(rejectionOf))
