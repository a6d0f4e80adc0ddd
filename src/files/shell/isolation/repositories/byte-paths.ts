import { lstatSync, readlinkSync } from "node:fs";
import { isMissing } from "../../../git/index.ts";

/** Paths are byte strings here: names need not be UTF-8, and git enters those that are not. */
export const BYTES = "latin1";

export function bytes(path: string): Buffer {
  return Buffer.from(path, BYTES);
}

/** The byte string of a text. */
export function fromText(path: string): string {
  return Buffer.from(path).toString(BYTES);
}

/** A path as the system resolves it from a folder, which may lead through links. */
export function from(folder: string, path: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

const MAX_LINKS = 40;

/**
 * The real path of a file or folder; undefined if there is none. `root` is a real path. Throws where another process may
 * find something else: behind a folder that this one cannot enter, and in `/proc`.
 */
export function realPathOf(path: string, root: string): string | undefined {
  const isInRoot = path.startsWith(`${root}/`);
  let done = isInRoot ? root : "";
  const names = (isInRoot ? path.slice(root.length) : path).split("/");
  let links = 0;
  while (names.length > 0) {
    const name = names.shift()!;
    if (name === "" || name === ".") continue;
    if (name === "..") {
      done = done.slice(0, Math.max(0, done.lastIndexOf("/")));
      continue;
    }
    const next = `${done}/${name}`;
    if (next === "/proc") throw new Error("The path depends on the process.");
    const target = linkOrFile(next);
    if (target === undefined) return undefined;
    if (target === true) done = next;
    else {
      links += 1;
      if (links > MAX_LINKS) return undefined;
      if (target.startsWith("/")) done = "";
      names.unshift(...target.split("/"));
    }
  }
  return done === "" ? "/" : done;
}

/** The target of a link, true for any other file or folder, undefined if there is none. */
function linkOrFile(path: string): string | true | undefined {
  try {
    return lstatSync(bytes(path)).isSymbolicLink() ? readlinkSync(bytes(path), BYTES) : true;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
