import { defineConfig } from "vitest/config";

/** The test run that has to fail (`test/release/postgres-server.test.ts`). */
export default defineConfig({
  test: { globalSetup: ["test/postgres-setup.ts"], include: ["test/failing/database.ts"] },
});
