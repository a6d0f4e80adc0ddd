// Runs what only a release needs: packing, consumers' types, the benchmark's own tests, long chaos, all widths and sizes.
import { spawnSync } from "node:child_process";

const { status } = spawnSync("npx", ["vitest", "run", "--project", "release", ...process.argv.slice(2)], {
  stdio: "inherit",
  shell: process.platform === "win32",
  env: { ...process.env, HOLDFAST_RELEASE: "1" },
});
process.exit(status ?? 1);
