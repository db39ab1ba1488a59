// Two search libraries for JavaScript, each as `{ add(key, text), search(query, limit) }`. `search` gives what the library
// calls its results, as they come.

import { create, insert, search } from '@orama/orama'
import MiniSearch from 'minisearch'

/** With its defaults, which find any term of a query, and prefixes, as ours does. */
export function minisearch() {
  const index = new MiniSearch({ fields: ['text'] })
  return {
    add: (id, text) => index.add({ id, text }),
    search: (query) => index.search(query, { prefix: true }),
  }
}

/** With its defaults: any term of a query, and prefixes. */
export function orama() {
  const index = create({ schema: { text: 'string' } })
  return {
    add: (id, text) => insert(index, { id, text }),
    search: async (term, limit) => (await search(index, { term, limit })).hits,
  }
}
