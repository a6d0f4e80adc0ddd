import { existsSync } from "node:fs";
import { basename } from "node:path";
import { DEMO_TASK, makeScratchProject, SCRATCH_PREFIX } from "../../../models/index.ts";
import { forgetTrust, sayTrust, trustedFolders } from "../../../project/index.ts";
import { EXIT } from "../exit-codes.ts";
import { harmless, oneLine, shown } from "../output/index.ts";
import { canAsk, type Terminal } from "../terminal.ts";
import type { StateFlags } from "../threads/index.ts";
import { commandName } from "../wording.ts";

export interface DemoFlags extends StateFlags {
  yes?: boolean;
  serve?: boolean;
  make?: boolean;
}

/**
 * `holdfast demo`: creates a scratch project and opens a session in it, with a scripted model. Without a user, or with
 * `--yes`, it is one run; `--serve` opens the page, and `--make` only creates the project.
 */
export async function demo({ yes, serve, make, ...flags }: DemoFlags, terminal: Terminal): Promise<number> {
  const { stdout, env } = terminal;
  const dir = await trustedScratch(env);
  const runFlags = { ...flags, dir, model: "demo", shell: true };
  stdout.write(shown`A script stands in for the language model. Scratch project: ${oneLine(dir)}\n`);
  if (make) {
    const words =
      "Open the folder in your editor and start holdfast acp with HOLDFAST_MODEL=demo. Any message begins.";
    stdout.write(shown`${harmless(words)}\n`);
    return EXIT.done;
  }
  if (serve) {
    stdout.write(shown`On the page, any message begins. Ctrl-C ends it.\n`);
    const serverFlags = {
      port: 0,
      host: "127.0.0.1",
      open: true,
      work: true,
      slots: 1,
      mode: "ask" as const,
    };
    return (await import("./servers/serve.ts")).serve({ ...runFlags, ...serverFlags }, terminal);
  }
  if (!yes && canAsk(terminal, {})) {
    const { session } = await import("./session.ts");
    return session({ ...runFlags, mode: "ask", task: DEMO_TASK }, terminal);
  }
  const { run } = await import("./run.ts");
  const code = await run({ ...runFlags, yes: true, task: DEMO_TASK }, terminal);
  const command = harmless(commandName(env));
  stdout.write(
    shown`To try it yourself: ${command} demo (in this terminal) or ${command} demo --serve (in a browser).\n`,
  );
  return code;
}

/** Creates a scratch project and trusts it. Revokes the trust in deleted ones. */
async function trustedScratch(env: Terminal["env"]): Promise<string> {
  for (const folder of await trustedFolders(env)) {
    if (basename(folder).startsWith(SCRATCH_PREFIX) && !existsSync(folder)) await forgetTrust(folder, env);
  }
  const dir = await makeScratchProject();
  await sayTrust(dir, true, env);
  return dir;
}
