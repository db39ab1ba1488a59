// Servers on the loopback address that stand between a storage and S3, or in its place.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { server } from './s3.js'

/** A server on the loopback address until the test ends. */
export async function listen(listener: RequestListener): Promise<{ endpoint: string; server: Server }> {
  const http = createServer(listener).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(() => {
    http.close()
    http.closeAllConnections()
  })
  return { endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, server: http }
}

/** Requests by kind since the last look. */
export interface Counts {
  PUT: number
  GET: number
  HEAD: number
  DELETE: number
  LIST: number
}

const none = (): Counts => ({ PUT: 0, GET: 0, HEAD: 0, DELETE: 0, LIST: 0 })

/** A proxy in front of the server of this run: where it is, what has passed since the last look, most at a time. */
export async function countingProxy(): Promise<{
  endpoint: string
  counts: () => Partial<Counts>
  most: () => number
}> {
  let counts = none()
  let [now, most] = [0, 0]
  const { endpoint } = await listen((incoming, outgoing) => {
    const isList = incoming.method === 'GET' && incoming.url!.includes('list-type=2')
    counts[isList ? 'LIST' : (incoming.method as keyof Counts)] += 1
    now += 1
    most = Math.max(most, now)
    outgoing.on('close', () => (now -= 1))
    const { method, headers } = incoming
    // The name of the host is part of what was signed, and stays.
    const forwarded = request(server.endpoint + incoming.url, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  return {
    endpoint,
    counts() {
      const passed = Object.entries(counts).filter(([, count]) => count > 0)
      counts = none()
      return Object.fromEntries(passed)
    },
    most: () => most,
  }
}

export interface Reply {
  status?: number
  headers?: Record<string, string>
  body?: string
}

/** A server that answers as it is told, and keeps what it was asked. */
export async function fakeS3(
  answer: (request: IncomingMessage, body: Buffer) => Reply,
): Promise<{ endpoint: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = []
  const { endpoint } = await listen(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    requests.push(incoming)
    const { status = 200, headers = {}, body = '' } = answer(incoming, Buffer.concat(chunks))
    outgoing.writeHead(status, { 'content-type': 'application/xml', 'x-amz-request-id': 'REQUEST-7', ...headers })
    outgoing.end(body)
  })
  return { endpoint, requests }
}

/** The document by which S3 tells of a fault. */
export const errorBody = (code: string, message: string): string =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message><RequestId>REQUEST-7</RequestId></Error>`

/** The document of one page of a listing. */
export const pageBody = (keys: string[], next?: string): string => {
  const contents = keys.map((key) => `<Contents><Key>${key}</Key><ETag>"${key}"</ETag><Size>1</Size></Contents>`)
  const more = next === undefined ? 'false' : `true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`
  const truncated = next === undefined ? `<IsTruncated>${more}</IsTruncated>` : `<IsTruncated>${more}`
  return `<?xml version="1.0"?><ListBucketResult>${truncated}${contents.join('')}</ListBucketResult>`
}
