import whole from "../../vitest.config.ts";

/** The test run that has to fail (`test/postgres-server.test.ts`). */
export default {
  ...whole,
  test: { ...whole.test, include: ["test/failing/database.ts"], typecheck: { enabled: false } },
};
