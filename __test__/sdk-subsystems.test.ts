// The parts of the SDK that keep something, run on our storages and our store as they run on its own.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  Agent,
  FunctionTool,
  type JSONValue,
  MemoryManager,
  type Message,
  Model,
  SessionManager,
} from '@strands-agents/sdk'
import { FileMemoryStore } from '@strands-agents/sdk/vended-memory-stores/file-memory-store'
import { ContextOffloader } from '@strands-agents/sdk/vended-plugins/context-offloader'
import { describe, expect, it } from 'vitest'
import { memoryStores, nativeStorage, sdkStorage, type Who } from './implementations.js'
import { readRecords } from './memory-records.js'
import { scratchDirectory } from './scratch-directory.js'
import { decode } from './text-bytes.js'

type Reply = { text: string } | { tool: string; input: JSONValue }

/** A model without a network, which answers with what `reply` makes of the conversation. */
class ScriptedModel extends Model {
  constructor(private readonly reply: (messages: Message[]) => Reply) {
    super()
  }

  getConfig() {
    return { modelId: 'scripted' }
  }

  updateConfig() {}

  override async *stream(messages: Message[]) {
    const answer = this.reply(messages)
    yield { type: 'modelMessageStartEvent', role: 'assistant' } as const
    if ('tool' in answer) {
      const start = { type: 'toolUseStart', name: answer.tool, toolUseId: `call-${messages.length}` } as const
      yield { type: 'modelContentBlockStartEvent', start } as const
      const delta = { type: 'toolUseInputDelta', input: JSON.stringify(answer.input) } as const
      yield { type: 'modelContentBlockDeltaEvent', delta } as const
    } else {
      yield { type: 'modelContentBlockStartEvent' } as const
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text: answer.text } } as const
    }
    yield { type: 'modelContentBlockStopEvent' } as const
    yield { type: 'modelMessageStopEvent', stopReason: 'tool' in answer ? 'toolUse' : 'endTurn' } as const
  }
}

type Backend = 'InMemoryStorage' | 'LocalFileStorage'

function open(who: Who, backend: Backend) {
  const classes = who === 'sdk' ? sdkStorage : nativeStorage
  return backend === 'InMemoryStorage'
    ? new classes.InMemoryStorage()
    : new classes.LocalFileStorage(scratchDirectory())
}

const backends: [Who, Backend][] = [
  ['sdk', 'InMemoryStorage'],
  ['native', 'InMemoryStorage'],
  ['sdk', 'LocalFileStorage'],
  ['native', 'LocalFileStorage'],
]

/** All the text of a conversation. */
const textOf = (messages: unknown[]): string => JSON.stringify(messages)

describe.each(backends)('on %s %s', (who, backend) => {
  it('a session goes on in another agent', async () => {
    const storage = open(who, backend)
    const start = (reply: string) =>
      new Agent({
        id: 'seats',
        model: new ScriptedModel(() => ({ text: reply })),
        sessionManager: new SessionManager({ sessionId: 'session-1', storage }),
        printer: false,
      })
    await start('Noted.').invoke('My seat is 12C.')
    const keys = await storage.list('')
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(key).toMatch(/^session\/session-1\/scopes\/agent\/seats\//)
    const second = start('It is 12C.')
    await second.invoke('Which seat?')
    expect(textOf(second.messages)).toMatch(/My seat is 12C.*Noted.*Which seat.*It is 12C/s)
  })

  it('a session can be deleted, and leaves others alone', async () => {
    const storage = open(who, backend)
    const sessions = ['one', 'two'].map((sessionId) => new SessionManager({ sessionId, storage }))
    for (const sessionManager of sessions) {
      const model = new ScriptedModel(() => ({ text: 'Noted.' }))
      await new Agent({ model, sessionManager, printer: false }).invoke('Hello')
    }
    await sessions[0]!.deleteSession()
    expect(await storage.list('session/one/')).toEqual([])
    expect((await storage.list('session/two/')).length).toBeGreaterThan(0)
  })

  it('a FileMemoryStore keeps and finds its entries', async () => {
    const storage = open(who, backend)
    const store = new FileMemoryStore({ name: 'facts', writable: true, storage })
    await store.add('# Seats\nUser prefers aisle seats')
    await store.add('# Tea\nUser drinks green tea')
    await store.add('# Seats\nNever row 13')
    expect(await storage.list('')).toHaveLength(2)
    for (const key of await storage.list('')) expect(key).toMatch(/^memory\/facts\//)
    const [best] = await store.search('aisle seats')
    expect(best!.content).toContain('User prefers aisle seats')
    expect(best!.content).toContain('Never row 13')
    expect((await new FileMemoryStore({ name: 'facts', storage }).search('green tea'))[0]!.content).toContain(
      'green tea',
    )
  })

  it('a large tool result is offloaded, and comes back when the model asks for it', async () => {
    const storage = open(who, backend)
    const large = Array.from({ length: 3_000 }, (_, n) => `row ${n}: value ${n * n}`).join('\n')
    const table = new FunctionTool({ name: 'table', description: 'a large table', callback: () => large })
    const model = new ScriptedModel((messages) =>
      messages.length === 1 ? { tool: 'table', input: {} } : { text: 'It is large.' },
    )
    const agent = new Agent({
      model,
      tools: [table],
      plugins: [new ContextOffloader({ storage, maxResultTokens: 500, previewTokens: 50 })],
      printer: false,
    })
    await agent.invoke('Show the table')
    const keys = await storage.list('offloader/')
    expect(keys).toHaveLength(1)
    expect(decode(await storage.read(keys[0]!))).toContain('row 2999: value 8994001')
    expect(textOf(agent.messages)).not.toContain('row 2000: value')
  })

  it('a context manager knows whether its stash lasts, and what class keeps it', async () => {
    const storage = open(who, backend)
    const model = new ScriptedModel(() => ({ text: 'Hello.' }))
    const agent = new Agent({ model, contextManager: { strategies: [], stash: { storage } }, printer: false })
    await agent.invoke('Hello')
    const { stashIsDurable, stash } = (agent as unknown as { contextManager: ContextManagerState }).contextManager
    expect(stashIsDurable).toBe(backend === 'LocalFileStorage')
    expect(stash.storageTypeName).toBe(backend)
  })
})

interface ContextManagerState {
  stashIsDurable: boolean
  stash: { storageTypeName: string }
}

describe.each(memoryStores)('with a %s TestMemoryStore', (_, Store) => {
  it('an agent adds a memory with a tool, and another finds it injected', async () => {
    const path = join(scratchDirectory(), 'notes.json')
    const remembering = new Agent({
      model: new ScriptedModel((messages) =>
        messages.length === 1
          ? { tool: 'add_memory', input: { entries: ['The seat of the user is 12C'] } }
          : { text: 'Noted.' },
      ),
      memoryManager: { stores: [new Store({ name: 'notes', path })], addToolConfig: true },
      printer: false,
    })
    await remembering.invoke('My seat is 12C')
    expect(readRecords(path)).toMatchObject([{ content: 'The seat of the user is 12C' }])
    expect(readdirSync(join(path, '..'))).toEqual(['notes.json'])

    let heard = ''
    const recalling = new Agent({
      model: new ScriptedModel((messages) => {
        heard = textOf(messages)
        return { text: 'It is 12C.' }
      }),
      memoryManager: { stores: [new Store({ name: 'notes', path })] },
      printer: false,
    })
    await recalling.invoke('Which seat is mine?')
    expect(heard).toContain('The seat of the user is 12C')
  })

  it('a memory manager routes, names and limits what it finds', async () => {
    const [first, second] = ['first', 'second'].map((name) => new Store({ name, persist: false, description: name }))
    const readOnly = new Store({ name: 'read-only', persist: false, writable: false })
    const manager = new MemoryManager({ stores: [first!, second!, readOnly] })
    await manager.add('an apple', { stores: ['first'], metadata: { n: 1 } })
    await manager.add('a pear and an apple', { stores: ['second'] })
    const found = await manager.search('apple')
    expect(found.map(({ content, storeName }) => [content, storeName]).sort()).toEqual([
      ['a pear and an apple', 'second'],
      ['an apple', 'first'],
    ])
    expect(await manager.search('apple', { stores: ['first'] })).toMatchObject([
      { metadata: { n: 1, _relevanceScore: 1 } },
    ])
    await expect(manager.add('no', { stores: ['read-only'] })).rejects.toThrow(/read-only|writable/)
  })
})
