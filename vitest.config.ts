import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import type { Reporter, TestCase } from "vitest/node";

export default defineConfig({
  test: {
    globalSetup: ["test/postgres-setup.ts"],
    // Many tests wait for processes, browsers and clocks: some more than there are cores keep all of them busy.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // To load LangChain takes longer than most of the files: a worker loads it once.
    isolate: false,
    // A loaded machine is slow, not wrong.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Where everybody waits for the result a test gets a second try, and the report names who needed it. Elsewhere each
    // has to pass at once: what fails once in many runs is looked into.
    retry: process.env["CI"] ? 1 : 0,
    reporters: ["default", secondTries()],
    projects: [
      {
        extends: true,
        test: {
          name: "src",
          include: ["src/**/*.test.ts"],
          typecheck: { enabled: true, include: ["src/**/*.test-d.ts"] },
        },
      },
      {
        extends: true,
        test: {
          // Before `src` in the alphabet, and so in time: at the end there are short files for all who have nothing to do.
          name: "package",
          include: ["test/**/*.test.ts", "web/src/**/*.test.ts"],
        },
      },
    ],
  },
});

/** Names at the end who needed a second try. */
function secondTries(): Reporter {
  const found: string[] = [];
  return {
    onTestCaseResult: (test: TestCase) => {
      if (test.diagnostic()?.flaky) found.push(`${test.module.relativeModuleId} > ${test.fullName}`);
    },
    onTestRunEnd: () => {
      for (const name of found) console.warn(`Needed a second try: ${name}`);
    },
  };
}
