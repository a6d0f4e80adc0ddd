import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stateFiles } from "../src/files/backends/state.ts";
import { diskBackend, type FileBackend } from "../src/files/index.ts";
import { operate } from "../src/middleware/files/operate.ts";

const FILES = 100_000;
/** The longest that other work may have to wait, in time of the processor: a busy machine is no failure. */
const MOST_MS = 1000;
/** What a search may take, and some time to end. */
const MOST_SEARCH_MS = 25_000;

type Call = Parameters<typeof operate>[1];

/** File tools on more than they can take: they must answer, in words, while other work goes on. `tries`: files. */
export const floods = {
  name: "floods",
  run: async ({ tries: files = FILES }: { tries?: number }) => {
    const root = mkdtempSync(join(tmpdir(), "holdfast-attack-"));
    try {
      fill(root, files);
      const inState = Object.fromEntries(
        Array.from({ length: files }, (_, n) => [`/many/${n}.txt`, "hay\n"]),
      );
      const outcomes = [
        ...(await attempt("disk", diskBackend(root, { ripgrep: false }))),
        ...(await attempt("state", stateFiles({ ...inState, "/.gitignore": RULES }))),
      ];
      const failed = outcomes.filter(({ problem }) => problem !== undefined);
      const slowest = Math.max(...outcomes.map(({ gap }) => gap));
      const first = failed[0] && `${failed[0].what}: ${failed[0].problem}`;
      const notes = first ?? `${files} files; other work waited ${Math.round(slowest)} ms at most`;
      return { tries: outcomes.length, failures: failed.length, notes };
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};

const DEPTH = 1000;
const RULES = `${"*a".repeat(50)}b\n${" ".repeat(100_000)}x\n*.log\n`;

function fill(root: string, files: number): void {
  mkdirSync(join(root, "many"));
  for (let n = 0; n < files; n += 1) writeFileSync(join(root, "many", `${n}.txt`), "hay\n");
  mkdirSync(join(root, "d/".repeat(DEPTH)), { recursive: true });
  writeFileSync(join(root, "d/".repeat(DEPTH), "deep.txt"), "hay\n");
  writeFileSync(join(root, ".gitignore"), RULES);
  writeFileSync(join(root, "sparse"), "");
  truncateSync(join(root, "sparse"), 2 ** 31);
}

/** What is asked of a backend, and what the answer must say. */
const CALLS: readonly [call: Call, answer: RegExp][] = [
  [{ name: "ls", args: { path: "/many" } }, /\/many\/0\.txt\n[^]*Cut after/],
  [{ name: "ls", args: { path: "/many", sizes: true } }, /\/many\/0\.txt\t4\n/],
  [{ name: "glob", args: { pattern: "**/*.txt" } }, /\.txt/],
  [{ name: "glob", args: { pattern: "**/a/".repeat(190) } }, /No file matches/],
  [{ name: "glob", args: { pattern: "*a".repeat(300) } }, /No file matches/],
  [{ name: "glob", args: { pattern: "{a,b}".repeat(10_000) } }, /the most is 1000/],
  [{ name: "glob", args: { pattern: "{a,b}".repeat(150) } }, /more than 200 patterns/],
  [{ name: "grep", args: { pattern: "needle" } }, /No matches|Stopped after/],
  [{ name: "grep", args: { pattern: "(h?a?y?)*z", regex: true } }, /No matches|Stopped after/],
  [{ name: "grep", args: { pattern: "hay", output: "count", limit: 1_000_000 } }, /\.txt:1|Stopped after/],
  [{ name: "grep", args: { pattern: "(".repeat(100_000), regex: true } }, /the most is 2000/],
  [{ name: "ls", args: { path: "/a".repeat(20_000) } }, /the most is 4096/],
  [{ name: "write_file", args: { file_path: "/big", content: "x".repeat(100_000_000) } }, /was not written/],
  [
    {
      name: "edit_file",
      args: {
        file_path: "/.gitignore",
        old_string: " ",
        new_string: "x".repeat(1_000_000),
        replace_all: true,
      },
    },
    /the most for one file/,
  ],
  [{ name: "read_file", args: { file_path: "/sparse" } }, /has 2147483648 bytes|There is no file/],
];

async function attempt(where: string, backend: FileBackend) {
  const outcomes: { what: string; problem: string | undefined; gap: number }[] = [];
  for (const [call, expected] of CALLS) {
    const what = `${call.name} ${JSON.stringify(call.args).slice(0, 60)} (${where})`;
    outcomes.push({ what, ...(await watched(() => operate(backend, call), expected)) });
  }
  return outcomes;
}

/** What is wrong with an answer, if anything is, and how long the event loop stood still at most. */
async function watched(run: () => Promise<{ text: string }>, expected: RegExp) {
  const started = performance.now();
  const spent = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let last = spent();
  let gap = 0;
  let isOver = false;
  const tick = (): void => {
    const now = spent();
    gap = Math.max(gap, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const outcome = await run().then(
    ({ text }) => (expected.test(text) ? undefined : `answered ${text.slice(0, 200)}`),
    (error: unknown) => `threw ${String(error).slice(0, 200)}`,
  );
  isOver = true;
  tick();
  const took = performance.now() - started;
  if (outcome !== undefined) return { problem: outcome, gap };
  if (took > MOST_SEARCH_MS) return { problem: `took ${Math.round(took)} ms`, gap };
  return { problem: gap > MOST_MS ? `other work waited ${Math.round(gap)} ms` : undefined, gap };
}
