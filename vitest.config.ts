import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ShortReporter } from "./test/helpers/runner/short-reporter.ts";

/**
 * Test files that only a release needs: whole tasks that were played by hand, the programs in a model's place, growth,
 * memory, kills and races over many rounds, people's hands on the page, in editors and at a terminal that have
 * contracts of their own within a process.
 */
const RELEASE_ONLY = [
  "src/deepagents/protocol.test.ts",
  "src/files/disk/races.test.ts",
  "src/files/floods.test.ts",
  "src/middleware/repeats/killed-calls.test.ts",
  "src/middleware/summarization/killed-summary.test.ts",
  "src/models/offline/**/*.test.ts",
  "src/storage/growth.test.ts",
  "src/storage/kill.test.ts",
  "src/storage/same-history.test.ts",
  "src/subagents/background/killed.test.ts",
  "src/surfaces/server/{memory,races}.test.ts",
  "src/threads/prepare/graph-stream.test.ts",
  "test/e2e/acp{,-page,-plan}.test.ts",
  "test/e2e/page-{actions,layout}.test.ts",
  "test/e2e/{demo,mcp,plan-edit,played-task,project,terminal}.test.ts",
];

/** Test files that the release run tries again with more rounds, sizes and widths (`test/helpers/runner/rounds.ts`). */
const DEEPER = [
  "src/deep/{ledger,order}.test.ts",
  "src/files/disk/{disk,ripgrep}.test.ts",
  "src/files/disk/keeper/keeper.test.ts",
  "src/files/shell/shell.test.ts",
  "src/files/text/merge-*.test.ts",
  "src/langgraph/messages.test.ts",
  "src/langgraph/loop/loop.test.ts",
  "src/mcp/tools/tool-names.test.ts",
  "src/middleware/dangling-calls/dangling-calls.test.ts",
  "src/middleware/ordered-calls/ordered-calls.test.ts",
  "src/middleware/summarization/holds.test.ts",
  "src/middleware/plan/cost.test.ts",
  "src/models/{choose,providers}.test.ts",
  "src/plan/engine.test.ts",
  "src/project/bypasses.test.ts",
  "src/storage/codec/{message-lists,values}.test.ts",
  "src/storage/leases.test.ts",
  "src/storage/store/item-store.test.ts",
  "src/storage/postgres/writes/batch.test.ts",
  "src/storage/sqlite/file/wal.test.ts",
  "src/subagents/{stopped-team,teams}.test.ts",
  "src/threads/edit/stopped-edit.test.ts",
  "src/surfaces/server/{claims,shared-stores}.test.ts",
  "src/surfaces/server/langgraph/crons.test.ts",
  "src/threads/host/decisions.test.ts",
  "src/threads/host/schedules/schedules.test.ts",
  "src/threads/run/ordered-turn.test.ts",
  "test/e2e/{acp-actions,cli,doctor,serve}.test.ts",
  "test/e2e/page-states.test.ts",
  "test/e2e/examples-in-comments.test.ts",
  "test/e2e/readme.test.ts",
  "test/e2e/session.test.ts",
];

/** The release run has tests of many processes that are killed and started again. */
const HANG_MS = process.env["HOLDFAST_RELEASE"] ? 1_200_000 : 240_000;

/** Files that test the whole package go first: at the end there are short files for all who have nothing to do. */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of a sequencer, not of an array
    const sorted = await super.sort(files);
    const isLong = ({ moduleId, project }: TestSpecification): boolean =>
      moduleId.startsWith(`${project.config.root}/test/`);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    globalSetup: ["test/helpers/runner/temporary-files.ts", "test/helpers/postgres/setup.ts"],
    setupFiles: ["test/helpers/runner/seed.ts"],
    // With npx the commands would print "npx holdfast".
    env: { npm_command: "" },
    // Many tests wait for processes, browsers and clocks: some more than there are cores keep all of them busy.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // To load LangChain takes longer than most of the files: a worker loads it once.
    isolate: false,
    // Only for hangs: a loaded machine is slow, not wrong.
    testTimeout: HANG_MS,
    hookTimeout: HANG_MS,
    expect: { poll: { timeout: HANG_MS / 2 } },
    // Output of a test that passes is nobody's news, nor are warnings that tests provoke.
    silent: "passed-only",
    execArgv: ["--no-warnings"],
    reporters: [new ShortReporter()],
    sequence: { sequencer: LongFilesFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: ["{src,web/src}/**/*.test.ts", "test/e2e/*.test.ts"],
          exclude: RELEASE_ONLY,
        },
      },
      {
        extends: true,
        test: { name: "release", include: ["test/release/*.test.ts", ...RELEASE_ONLY, ...DEEPER] },
      },
    ],
  },
});
