// The first process: an agent hears a fact and stores it with the SDK's `add_memory` tool.
//
//   node examples/remember.mjs notes.json 'My seat is 12C.'

import { Agent } from '@strands-agents/sdk'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'
import { lastText, ScriptedModel } from './scripted-model.mjs'

const [path, fact] = process.argv.slice(2)

// Hears a user: stores what they said. Hears back from the tool: says how that went.
const model = new ScriptedModel((messages) => {
  const [said] = lastText(messages)
  if (said) return { tool: 'add_memory', input: { entries: [said] } }
  const [{ status }] = messages.at(-1).content
  return { text: status === 'success' ? 'I will remember that.' : 'I could not store that.' }
})

const agent = new Agent({
  model,
  memoryManager: { stores: [new TestMemoryStore({ name: 'notes', path })], addToolConfig: true },
  printer: false,
})

console.log(`user:  ${fact}`)
await agent.invoke(fact)
for (const block of agent.messages.flatMap((message) => message.content)) {
  if (block.type === 'toolUseBlock') console.log(`agent: ${block.name}(${JSON.stringify(block.input)})`)
  if (block.type === 'toolResultBlock') console.log(`tool:  ${block.status} ${JSON.stringify(block.content)}`)
}
console.log(`agent: ${lastText(agent.messages).join('')}`)
