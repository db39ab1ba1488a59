const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Text as UTF-8. */
export const encode = (text: string): Uint8Array => encoder.encode(text)

/** UTF-8 as text; bytes that are not UTF-8 are an error, `null` stays `null`. */
export const decode = (bytes: Uint8Array | null): string | null => (bytes === null ? null : decoder.decode(bytes))
