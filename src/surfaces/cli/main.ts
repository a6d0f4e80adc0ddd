import { mkdirSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";

await cacheCompiledCode();
const { runProcess } = await import("./process.ts");
await runProcess(process);

/**
 * Lets later starts use the compiled code of this one, from Node 22 on. It stays in the state folder, which commands of
 * an agent cannot write: anyone who can write compiled code can run programs as the user.
 */
async function cacheCompiledCode(): Promise<void> {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => void };
  if (!enableCompileCache) return;
  const { defaultStatePath } = await import("../../storage/state-path.ts");
  const folder = join(dirname(defaultStatePath()), "compiled");
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    enableCompileCache(folder);
  } catch {
    // It cannot be made: every start compiles.
  }
}
