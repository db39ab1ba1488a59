import { readFileSync, writeFileSync } from 'node:fs'

/** One record of a memory file. */
export interface MemoryRecord {
  id: string
  content: string
  createdAt: string
  metadata?: unknown
}

/** The record with this number: each is a minute younger than the one before. */
export function record(number: number, content: string, metadata?: unknown): MemoryRecord {
  const id = `019ad000-0000-7000-8000-${String(number).padStart(12, '0')}`
  const createdAt = new Date(Date.UTC(2025, 0, 1, 0, number)).toISOString()
  return metadata === undefined ? { id, content, createdAt } : { id, content, createdAt, metadata }
}

/** Records as both SDKs lay them out. */
export const layOut = (records: unknown): string => JSON.stringify(records, null, 2)

/** Writes a memory file as the SDKs do. */
export const writeRecords = (path: string, records: unknown): void => writeFileSync(path, layOut(records))

/** The records of a memory file, which has to be whole. */
export const readRecords = (path: string): MemoryRecord[] => JSON.parse(readFileSync(path, 'utf8')) as MemoryRecord[]

/** The text of a memory file with every id and time of creation, which differ from run to run, made the same. */
export const withoutIdsAndTimes = (path: string): string =>
  readFileSync(path, 'utf8')
    .replaceAll(/"id": "[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"/g, '"id": "…"')
    .replaceAll(/"createdAt": "\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g, '"createdAt": "…"')
