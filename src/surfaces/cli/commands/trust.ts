import { resolve } from "node:path";
import { forgetTrust, openProject, sayTrust, trustedFolders } from "../../../project/index.ts";
import { EXIT } from "../exit-codes.ts";
import { oneLine, shown } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { existingFolder } from "../threads/index.ts";
import { refuse } from "../wording.ts";

export interface TrustFlags {
  folder?: string;
  revoke?: boolean;
}

/** `holdfast trust`: trusts the project in a folder, revokes that, or lists the trusted folders. */
export async function trust({ folder, revoke }: TrustFlags, terminal: Terminal): Promise<number> {
  const { stdout, env, cwd } = terminal;
  if (folder === undefined && !revoke) {
    for (const one of await trustedFolders(env)) stdout.write(shown`${oneLine(one)}\n`);
    return EXIT.done;
  }
  if (revoke) {
    const root = await forgetTrust(resolve(cwd, folder ?? "."), env);
    if (root === undefined) {
      refuse(`${resolve(cwd, folder ?? ".")} is not trusted.`);
    }
    stdout.write(shown`${oneLine(root)} is no longer trusted.\n`);
    return EXIT.done;
  }
  const dir = await existingFolder(folder!, cwd);
  const before = await trustedFolders(env);
  const root = await sayTrust(dir, true, env);
  const { files } = await openProject({ dir, env }).catch(async (error: unknown) => {
    // Invalid settings would stop every run from now on.
    if (!before.includes(root)) await forgetTrust(dir, env);
    throw error;
  });
  for (const { path, says } of files) stdout.write(shown`${oneLine(path)}: ${oneLine(says)}\n`);
  stdout.write(shown`${oneLine(root)} is trusted.\n`);
  return EXIT.done;
}
