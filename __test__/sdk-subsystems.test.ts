// The parts of the SDK that keep something, run on our storages and our store as they run on its own.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, FunctionTool, MemoryManager, SessionManager } from '@strands-agents/sdk'
import { FileMemoryStore } from '@strands-agents/sdk/vended-memory-stores/file-memory-store'
import { ContextOffloader } from '@strands-agents/sdk/vended-plugins/context-offloader'
import { KeywordSearchStrategy } from 'strands-native/storage/search'
import { describe, expect, it } from 'vitest'
import { backends, open } from './backends.js'
import { memoryStores, nativeStorage, sdkStorage, type Who } from './implementations.js'
import { MapSandbox } from './map-sandbox.js'
import { readRecords } from './memory-records.js'
import { scratchDirectory } from './scratch-directory.js'
import { type Reply, ScriptedModel } from './scripted-model.js'
import { decode } from './text-bytes.js'

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
    await expect.poll(() => storage.list('session/one/')).toEqual([])
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
    expect(stashIsDurable).toBe(backend !== 'InMemoryStorage')
    expect(stash.storageTypeName).toBe(backend.split(' ')[0])
  })
})

// What a session keeps beside the conversation, and how far back it can go.
describe.each(backends)('a session on %s %s', (who, backend) => {
  const agentOn = (storage: ReturnType<typeof open>, sessionManager: SessionManager, reply = 'Noted.') =>
    new Agent({
      id: 'seats',
      model: new ScriptedModel(() => ({ text: reply })),
      storage,
      sessionManager,
      printer: false,
    })

  it('keeps the state of the agent, and each snapshot that it was told to take', async () => {
    const storage = open(who, backend)
    const manage = () => new SessionManager({ sessionId: 'trip', storage, snapshotTrigger: () => true })
    const first = manage()
    const agent = agentOn(storage, first)
    for (const [n, text] of ['My seat is 12C.', 'No, 14A.', 'Done.'].entries()) {
      agent.appState.set('seat', n)
      await agent.invoke(text)
    }
    const snapshotIds = await first.listSnapshotIds({ target: agent })
    expect(snapshotIds).toHaveLength(3)
    expect(await first.listSnapshotIds({ target: agent, limit: 1, startAfter: snapshotIds[0]! })).toEqual([
      snapshotIds[1],
    ])

    const later = manage()
    const restored = agentOn(storage, later)
    await restored.initialize()
    expect(textOf(restored.messages)).toBe(textOf(agent.messages))
    expect(restored.appState.get('seat')).toBe(2)
    expect(await later.restoreSnapshot({ target: restored, snapshotId: snapshotIds[0]! })).toBe(true)
    expect(textOf(restored.messages)).toContain('My seat is 12C.')
    expect(textOf(restored.messages)).not.toContain('14A')
    expect(restored.appState.get('seat')).toBe(0)
    expect(await later.restoreSnapshot({ target: restored, snapshotId: later.sessionId }).catch(() => false)).toBe(
      false,
    )
  })

  it('saves with each message, and through a view as well', async () => {
    const storage = open(who, backend)
    const view = storage.namespace('tenant')
    const sessionManager = new SessionManager({ sessionId: 'trip', storage: view, saveLatestOn: 'message' })
    await agentOn(storage, sessionManager).invoke('My seat is 12C.')
    const keys = await storage.list('')
    expect(keys.length).toBeGreaterThan(0)
    for (const key of keys) expect(key).toMatch(/^tenant\/trip\//)
    expect(await storage.list('session')).toEqual([])
    const restored = agentOn(storage, new SessionManager({ sessionId: 'trip', storage: view }))
    await restored.initialize()
    expect(textOf(restored.messages)).toContain('My seat is 12C.')
  })
})

it('a session that one storage saved is restored from the files by the other', async () => {
  for (const [saving, restoring] of [
    ['sdk', 'native'],
    ['native', 'sdk'],
  ] as const) {
    const root = scratchDirectory()
    const start = (who: Who) => {
      const { LocalFileStorage } = who === 'sdk' ? sdkStorage : nativeStorage
      const sessionManager = new SessionManager({ sessionId: 'trip', storage: new LocalFileStorage(root) })
      return new Agent({
        id: 'a',
        model: new ScriptedModel(() => ({ text: 'Noted.' })),
        sessionManager,
        printer: false,
      })
    }
    await start(saving).invoke('My seat is 12C.')
    const second = start(restoring)
    await second.invoke('Which seat?')
    expect(textOf(second.messages)).toMatch(/My seat is 12C.*Noted.*Which seat/s)
  }
})

/** A tool result of 3,000 lines, which an offloader takes out of the conversation. */
const largeText = Array.from({ length: 3_000 }, (_, n) => `row ${n}: value ${n * n}`).join('\n')
const largeTable = () => new FunctionTool({ name: 'table', description: 'a large table', callback: () => largeText })

/** Asks for the table, then for a row of it by the reference that stands in its place. */
const askingModel = () =>
  new ScriptedModel((messages): Reply => {
    if (messages.length === 1) return { tool: 'table', input: {} }
    const reference = /\[Stored references:\]\\n\s*(\S+)/.exec(textOf(messages))?.[1]
    if (messages.length === 3) {
      return { tool: 'retrieve_offloaded_content', input: { reference: reference ?? '', pattern: 'row 2345:' } }
    }
    return { text: 'Done.' }
  })

describe.each(backends)('a context offloader on %s %s', (who, backend) => {
  it('lets the model read a part of what it took away', async () => {
    const storage = open(who, backend)
    const agent = new Agent({
      model: askingModel(),
      tools: [largeTable()],
      plugins: [new ContextOffloader({ storage, maxResultTokens: 500, previewTokens: 50 })],
      printer: false,
    })
    await agent.invoke('Show the table, then row 2345')
    expect(textOf(agent.messages)).toContain('row 2345: value 5499025')
    expect(textOf(agent.messages)).not.toContain('row 1000: value')
  })

  it('keeps each agent to its sandbox, where the storage has files', async () => {
    const root = scratchDirectory()
    const classes = who === 'sdk' ? sdkStorage : nativeStorage
    const storage = backend === 'InMemoryStorage' ? new classes.InMemoryStorage() : new classes.LocalFileStorage(root)
    const offloader = new ContextOffloader({ storage, maxResultTokens: 500, previewTokens: 50 })
    const sandboxes = [new MapSandbox(), new MapSandbox()]
    for (const [n, sandbox] of sandboxes.entries()) {
      const agent = new Agent({
        id: `agent-${n}`,
        model: askingModel(),
        tools: [largeTable()],
        plugins: [offloader],
        sandbox,
        printer: false,
      })
      await agent.invoke('Show the table, then row 2345')
      expect(textOf(agent.messages)).toContain('row 2345: value 5499025')
    }
    const filesIn = sandboxes.map(({ files }) =>
      [...files.keys()].filter((path) => path.startsWith(`${root}/offloader/`)),
    )
    expect(filesIn.map((files) => files.length)).toEqual(backend === 'InMemoryStorage' ? [0, 0] : [1, 1])
    expect((await storage.list('')).length > 0).toBe(backend === 'InMemoryStorage')
    expect(readdirSync(root)).toEqual([])
  })

  it('deletes what nobody asked for in a while', async () => {
    const storage = open(who, backend)
    const offloader = new ContextOffloader({ storage, maxResultTokens: 500, previewTokens: 50, evictAfterCycles: 2 })
    const model = new ScriptedModel((messages) =>
      messages.length === 1
        ? { tool: 'table', input: {} }
        : messages.length < 12
          ? { tool: 'small', input: {} }
          : { text: 'Done.' },
    )
    const small = new FunctionTool({ name: 'small', description: 'a word', callback: () => 'word' })
    const agent = new Agent({ model, tools: [largeTable(), small], plugins: [offloader], printer: false })
    await agent.invoke('Show the table')
    // The offloader does not wait for its deletions. One that never comes would run this test into its time limit.
    while ((await storage.list('')).length > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(textOf(agent.messages)).toContain('Stored references')
  })
})

describe.each(backends)('a memory manager with stores on %s %s', (who, backend) => {
  it('searches and adds to file memories and to test memories side by side', async () => {
    const storage = open(who, backend)
    const path = join(scratchDirectory(), 'notes.json')
    const Store = memoryStores.find(([name]) => name === who)![1]
    const seats = new FileMemoryStore({ name: 'seats', description: 'seats', storage })
    const meals = new FileMemoryStore({ name: 'meals', description: 'meals', storage, search: KeywordSearchStrategy })
    const notes = new Store({ name: 'notes', description: 'notes', path })
    const readOnly = new FileMemoryStore({ name: 'closed', storage, writable: false })
    const manager = new MemoryManager({ stores: [seats, meals, notes, readOnly] })
    await manager.add('# Seats\nThe user prefers aisle seats', { stores: ['seats'] })
    await manager.add('# Meals\nThe user prefers green tea', { stores: ['meals'] })
    await manager.add('The user prefers trains', { stores: ['notes'] })
    await expect(manager.add('no', { stores: ['closed'] })).rejects.toThrow(/closed|writable/)
    const found = await manager.search('what the user prefers')
    expect(found.map(({ storeName }) => storeName).sort()).toEqual(['meals', 'notes', 'seats'])
    expect((await manager.search('prefers tea', { stores: ['meals'] })).map(({ content }) => content)).toEqual([
      '# Meals\nThe user prefers green tea',
    ])
    expect(await storage.list('')).toEqual(['memory/meals/meals.md', 'memory/seats/seats.md'])
    expect(readRecords(path)).toMatchObject([{ content: 'The user prefers trains' }])
  })

  it('serves an agent that remembers with a tool and is reminded in the next conversation', async () => {
    const storage = open(who, backend)
    const manager = () => ({ stores: [new FileMemoryStore({ name: 'facts', storage })], addToolConfig: true })
    const remembering = new Agent({
      model: new ScriptedModel((messages) =>
        messages.length === 1
          ? { tool: 'add_memory', input: { entries: ['# Seats\nThe seat of the user is 12C'] } }
          : { text: 'Noted.' },
      ),
      memoryManager: manager(),
      printer: false,
    })
    await remembering.invoke('My seat is 12C')
    expect(decode(await storage.read('memory/facts/seats.md'))).toContain('12C')
    let heard = ''
    const recalling = new Agent({
      model: new ScriptedModel((messages) => {
        heard = textOf(messages)
        return { text: 'It is 12C.' }
      }),
      memoryManager: manager(),
      printer: false,
    })
    await recalling.invoke('Which seat is mine?')
    expect(heard).toContain('The seat of the user is 12C')
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
