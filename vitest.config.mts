import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: '__test__/s3-server.ts',
    include: ['__test__/**/*.test.ts'],
    // A process for each file: the suites load addons and change the working directory, the umask and the environment.
    pool: 'forks',
    testTimeout: 60_000,
  },
})
