import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../../errors.ts";
import { readSettings, repositoryOf } from "../../files/git/index.ts";
import { isInside } from "../../files/paths/index.ts";

/**
 * Whether the repository of a folder has a remote of this name, elsewhere. Git takes any other name for a folder, and
 * runs programs that its settings name: an agent may have written them. False without a folder, where that is not known.
 */
export function isRemote(name: string, dir: string | undefined): boolean {
  const repository = dir === undefined ? undefined : repositoryOf(dir);
  if (dir === undefined || !repository) return false;
  const settings = readSettings(["--includes"], repository) ?? [];
  const addresses = (key: string): string[] =>
    settings.flatMap(([found, value]) => (found === `remote.${name}.${key}` && value ? [value] : []));
  const isElsewhere = (address: string): boolean => {
    const path = pathOf(address);
    return path === undefined || !isInside(resolve(repository.top, path), dir);
  };
  const urls = addresses("url");
  return urls.length > 0 && [...urls, ...addresses("pushurl")].every(isElsewhere);
}

/** The path of a local address; undefined for any other. */
function pathOf(address: string): string | undefined {
  if (address.startsWith("file:")) return attempt(() => fileURLToPath(address));
  return /^[^/]*:/.test(address) ? undefined : address;
}
