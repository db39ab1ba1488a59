// What the benchmarks need, and a fresh clone lacks. It comes before them, since they import it.

import { buildAddon, installNodePackages, installPythonSdk } from '../scripts/setup.mjs'

await installNodePackages()
await buildAddon()
await installPythonSdk()
