import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attack } from "./attack.ts";

/** Attacks whose tries are tests, each with a home of its own: the files that have them, by the test run they are in. */
const FAMILIES: Readonly<Record<string, { src?: string[]; release?: string[] }>> = {
  sandbox: { src: ["src/files/shell/isolation.test.ts", "src/middleware/sandbox/sandbox.test.ts"] },
  consent: {
    src: [
      "src/project/bypasses.test.ts",
      "src/project/rules.test.ts",
      "src/files/paths/obeyed.test.ts",
      "src/threads/consent/offers.test.ts",
      "src/threads/run/modes.test.ts",
    ],
  },
  trust: { src: ["src/project/project.test.ts", "src/surfaces/cli/prompts.test.ts"] },
  mcp: { src: ["src/mcp/servers.test.ts", "src/threads/prepare/mcp-servers.test.ts"] },
  log: { src: ["src/storage/sqlite/file/wal.test.ts", "src/storage/sqlite/file/open.test.ts"] },
  text: { src: ["src/models/secrets/redact.test.ts", "src/plan/growth.test.ts"] },
  users: {
    src: [
      "src/surfaces/server/guard/guard.test.ts",
      "src/surfaces/server/http/streams.test.ts",
      "src/surfaces/server/auth.test.ts",
      "src/surfaces/server/page/users.test.ts",
    ],
  },
  operators: {
    src: [
      "src/threads/cluster/database/probes.test.ts",
      "src/threads/cluster/queue/jobs.test.ts",
      "src/surfaces/cli/postgres.test.ts",
    ],
    release: ["test/release/deploy.test.ts", "test/release/cluster-tls.test.ts"],
  },
};

interface Report {
  numTotalTests: number;
  numPassedTests: number;
  numPendingTests: number;
  testResults: { assertionResults: { status: string; fullName: string }[] }[];
}

export const tested: readonly Attack[] = Object.entries(FAMILIES).map(([name, files]) => ({
  name,
  run: async () => {
    const reports = Object.entries(files).map(([project, paths]) => reportOf(project, paths));
    const sum = (of: (report: Report) => number): number => reports.reduce((all, one) => all + of(one), 0);
    const failed = reports.flatMap(({ testResults }) =>
      testResults.flatMap(({ assertionResults }) =>
        assertionResults.filter(({ status }) => status === "failed").map(({ fullName }) => fullName),
      ),
    );
    const skipped = sum(({ numPendingTests }) => numPendingTests);
    const tries = sum(({ numTotalTests }) => numTotalTests) - skipped;
    const failures = tries - sum(({ numPassedTests }) => numPassedTests);
    // A test that did not run is no success.
    if (tries === 0) return { tries, failures: 1, notes: "its tests did not run" };
    const notes = [...(skipped > 0 ? [`${skipped} cannot be tried here`] : []), ...failed.slice(0, 20)];
    return { tries, failures, notes: notes.join("; ") || "held" };
  },
}));

function reportOf(project: string, paths: readonly string[]): Report {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-attack-"));
  try {
    const file = join(folder, "report.json");
    const words = [
      "vitest",
      "run",
      "--project",
      project,
      "--reporter=json",
      `--outputFile=${file}`,
      ...paths,
    ];
    spawnSync("npx", words, {
      stdio: "ignore",
      env: { ...process.env, HOLDFAST_RELEASE: project === "release" ? "1" : "" },
    });
    return JSON.parse(readFileSync(file, "utf8")) as Report;
  } catch {
    return { numTotalTests: 0, numPassedTests: 0, numPendingTests: 0, testResults: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
