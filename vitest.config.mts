import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: '__test__/s3-server.mjs',
    include: ['__test__/**/*.test.ts'],
    // What only a cluster can do is run by `npm run test:s3`.
    exclude: process.env.STRANDS_TEST_CLUSTER ? [] : ['__test__/cluster/**'],
    // A process for each file: the suites load addons and change the working directory, the umask and the environment.
    pool: 'forks',
    testTimeout: 60_000,
  },
})
