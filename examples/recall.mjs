// The second process: a new agent, which has never seen the fact, is asked about it. Before the model is called, the
// SDK's memory manager searches the store and puts what it finds into the message, in a <memory> block.
//
//   node examples/recall.mjs notes.json 'Which seat is mine?'

import { Agent } from '@strands-agents/sdk'
import { TestMemoryStore } from 'strands-native/vended-memory-stores/test-memory-store'
import { lastText, ScriptedModel } from './scripted-model.mjs'

const [path, question] = process.argv.slice(2)

// Knows nothing but what stands in the <memory> block of the message it receives.
const model = new ScriptedModel((messages) => {
  const [, memory = ''] = lastText(messages)
  console.log((memory.trim() || '(no memory was found)').replace(/^/gm, '       '))
  const entries = [...memory.matchAll(/<entry[^>]*>(.*?)<\/entry>/gs)].map(([, content]) => content)
  return { text: entries.length > 0 ? `You told me: ${entries.join(' ')}` : 'I do not know.' }
})

const agent = new Agent({
  model,
  memoryManager: { stores: [new TestMemoryStore({ name: 'notes', path })] },
  printer: false,
})

console.log(`user:  ${question}`)
await agent.invoke(question)
console.log(`agent: ${lastText(agent.messages).join('')}`)
