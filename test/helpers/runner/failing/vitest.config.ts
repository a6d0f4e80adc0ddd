import { defineConfig } from "vitest/config";

/** The test run that has to fail (`test/release/postgres-server.test.ts`). */
export default defineConfig({
  test: {
    globalSetup: ["test/helpers/postgres/setup.ts"],
    include: ["test/helpers/runner/failing/database.ts"],
  },
});
