// `npm run pack`: builds the addon and leaves both packages in dist/, ready for `npm publish`.

import { join } from 'node:path'
import { root } from './commands.mjs'
import { pack } from './pack.mjs'
import { buildAddon, installNodePackages } from './setup.mjs'

await installNodePackages()
await buildAddon()
for (const file of await pack(join(root, 'dist'))) console.log(file)
