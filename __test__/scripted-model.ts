import { type JSONValue, type Message, Model } from '@strands-agents/sdk'

/** What a model answers: a text, or a call of a tool. */
export type Reply = { text: string } | { tool: string; input: JSONValue }

/** A model without a network, which answers with what `reply` makes of the conversation. */
export class ScriptedModel extends Model {
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
