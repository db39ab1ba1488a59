import { Model } from '@strands-agents/sdk'

/**
 * A model without a network: `reply(messages)` looks at the conversation as a real model would receive it, and says what
 * to answer: `{ text }`, or `{ tool, input }` to call a tool.
 */
export class ScriptedModel extends Model {
  #reply

  constructor(reply) {
    super()
    this.#reply = reply
  }

  getConfig() {
    return { modelId: 'scripted' }
  }

  updateConfig() {}

  async *stream(messages) {
    const { text, tool, input } = this.#reply(messages)
    yield { type: 'modelMessageStartEvent', role: 'assistant' }
    if (tool) {
      yield {
        type: 'modelContentBlockStartEvent',
        start: { type: 'toolUseStart', name: tool, toolUseId: `call-${messages.length}` },
      }
      yield {
        type: 'modelContentBlockDeltaEvent',
        delta: { type: 'toolUseInputDelta', input: JSON.stringify(input) },
      }
    } else {
      yield { type: 'modelContentBlockStartEvent' }
      yield { type: 'modelContentBlockDeltaEvent', delta: { type: 'textDelta', text } }
    }
    yield { type: 'modelContentBlockStopEvent' }
    yield { type: 'modelMessageStopEvent', stopReason: tool ? 'toolUse' : 'endTurn' }
  }
}

/** The text blocks of the last message: what the user said, and what the SDK added to it. */
export function lastText(messages) {
  const blocks = messages.at(-1).content
  return blocks.filter((block) => block.type === 'textBlock').map((block) => block.text)
}
