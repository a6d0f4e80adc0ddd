import { DiskFiles, type PlainFiles } from "../plain-files.ts";
import type { Reply, Request } from "./keeper.ts";
import { openAsWorkingFolder } from "./working-folder.ts";

/** The child process for systems without descriptor paths. Handles requests one by one until its parent disconnects. */
function main(): void {
  let last = Promise.resolve();
  process.chdir("/");
  process.on("message", (request: Request) => {
    last = last.then(() => answer(request));
  });
}

async function answer({ id, root, method, args }: Request): Promise<void> {
  const files: PlainFiles = new DiskFiles(root, openAsWorkingFolder);
  const act = files[method].bind(files) as (
    ...values: readonly unknown[]
  ) => ReturnType<PlainFiles["delete"]>;
  const reply: Reply = await act(...args).then(
    (result) => ({ id, result }),
    (error: unknown) => ({ id, bug: String(error) }),
  );
  // Some systems do not remove a folder while it is a working folder.
  process.chdir("/");
  process.send?.(reply);
}

main();
