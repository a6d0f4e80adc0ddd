import { HeldFiles, type PlainFiles } from "../plain-files.ts";
import type { Reply, Request } from "./keeper.ts";
import { holdAsWorkingFolder } from "./working-folder.ts";

/** Answers requests one after the other, and ends when nobody can ask any more. */
function main(): void {
  let last = leave();
  process.on("message", (request: Request) => {
    last = last.then(() => answer(request));
  });
}

async function answer({ id, root, method, args }: Request): Promise<void> {
  const files: PlainFiles = new HeldFiles(root, holdAsWorkingFolder);
  const act = files[method].bind(files) as (
    ...values: readonly unknown[]
  ) => ReturnType<PlainFiles["delete"]>;
  const reply: Reply = await act(...args).then(
    (result) => ({ id, result }),
    (error: unknown) => ({ id, bug: String(error) }),
  );
  await leave();
  process.send?.(reply);
}

/** Lets go of the working folder, which could not be removed on some systems. */
async function leave(): Promise<void> {
  process.chdir("/");
}

main();
