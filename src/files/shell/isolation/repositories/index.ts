import { lstat, rename } from "node:fs/promises";
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isMissing } from "../../../git/index.ts";
import { isWithin } from "../../../paths/index.ts";
import { bytes, fromText } from "./byte-paths.ts";
import { findRepositories, type Found, openFolder } from "./find.ts";
import { contentAt, programFiles, runsPrograms } from "./programs.ts";

export { programFilesOfRoot } from "./programs.ts";

/** The repositories when no command was running, shared by the root's running commands. */
interface Look {
  commands: number;
  state: Promise<State>;
}

interface State {
  found: Found;
  /** What git finds at the paths that can make it run programs, and at each index that only git can read. */
  contents: ReadonlyMap<string, string | undefined>;
}

/** The number of repositories to read between yields to the event loop. */
const AT_ONCE = 20;

const looks = new Map<string, Look>();

/**
 * Watches for new settings and hooks in nested repositories that make git run programs outside of the sandbox: git in
 * the root enters submodules, and shell prompts enter the others. The returned function moves aside what a command has
 * created or changed, except in `frozen` paths, and returns the paths. It does not throw: what cannot be judged is moved
 * aside.
 */
export async function watchRepositories(
  dir: string,
  frozen: readonly string[],
): Promise<() => Promise<string[]>> {
  const root = fromText(dir);
  const fixed = frozen.map(fromText);
  const look = looks.get(root) ?? { commands: 0, state: stateOf(root) };
  looks.set(root, look);
  look.commands += 1;
  // Everything is new if the earlier state is not known.
  const earlier = await look.state.catch(() => undefined);
  return async () => {
    const suspects = await suspectsSince(root, earlier).catch(() => [`${root}/.git/index`]);
    look.commands -= 1;
    if (look.commands === 0) looks.delete(root);
    const takenBack: string[] = [];
    for (const path of suspects) {
      if (fixed.some((one) => isWithin(path, one))) continue;
      const moved = await moveAside(path, root);
      if (moved !== undefined) takenBack.push(bytes(moved.slice(root.length + 1)).toString());
    }
    return [...new Set(takenBack)];
  };
}

async function stateOf(root: string, earlier?: Found): Promise<State> {
  const found = await findRepositories(root, earlier);
  const contents = new Map<string, string | undefined>();
  for (const [at, repository] of [...found.repositories.values()].entries()) {
    if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const { folder, isOpaque } = repository;
    for (const path of [...programFiles(root, repository), ...(isOpaque ? [`${folder}/index`] : [])])
      contents.set(path, contentAt(path, root));
  }
  return { found, contents };
}

/** The paths by which git may run programs since an earlier state, or that cannot be judged. */
async function suspectsSince(root: string, earlier: State | undefined): Promise<string[]> {
  const { found, contents } = await stateOf(root, earlier?.found);
  const changed = [...contents].filter(
    ([path, content]) => !earlier?.contents.has(path) || content !== earlier.contents.get(path),
  );
  return [
    ...changed
      .map(([path]) => path)
      // An index that only git can read may hide submodules.
      .filter((path) => path.endsWith("/index") || runsPrograms(path, root)),
    ...[...found.unknown].filter((path) => !earlier?.found.unknown.has(path)),
  ];
}

/**
 * Renames a file or folder and returns its path; undefined if there is none. If it cannot be renamed, renames the index
 * of the root instead, without which git enters no submodule.
 */
async function moveAside(path: string, root: string): Promise<string | undefined> {
  try {
    await lstat(bytes(path));
  } catch (error) {
    // Another command may have moved it aside.
    if (isMissing(error)) return undefined;
  }
  const suffix = `taken-back-${Date.now()}-${crypto.randomUUID().slice(0, 8)}`;
  const index = `${root}/.git/index`;
  const moves = [
    [path, `${path}.${suffix}`],
    // A path in the root is shorter.
    [path, `${root}/${posix.basename(path)}.${suffix}`],
    [index, `${index}.${suffix}`],
  ] as const;
  for (const [old, to] of moves) {
    const move = (): Promise<string | undefined> =>
      rename(bytes(old), bytes(to)).then(
        () => old,
        () => undefined,
      );
    const moved = await move();
    if (moved !== undefined) return moved;
    openFolder(posix.dirname(old));
    const movedNow = await move();
    if (movedNow !== undefined) return movedNow;
  }
  return undefined;
}
