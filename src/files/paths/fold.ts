import { segmentsOf } from "./paths.ts";

/**
 * Normalizes a name so that all spellings that some file system treats as the same become equal: lower case (ext4 with
 * casefold, APFS, vfat, Windows), composed characters without ignorable ones (HFS+), compatibility forms such as "ｇ" as
 * the plain letter (ZFS with formKC or formKD), no trailing dots and spaces (Windows), and `.git` for its short name on
 * vfat and Windows. No single system does all of this, so use it only to deny and to ask.
 */
export function foldName(name: string): string {
  return bare(foldText(name));
}

export function foldPath(path: string): string {
  return `/${segmentsOf(foldText(path)).map(bare).join("/")}`;
}

/** Folds a glob to match folded paths. Segments with glob characters keep trailing dots and spaces. */
export function foldGlob(pattern: string): string {
  return pattern
    .split("/")
    .map((segment) => (GLOB.test(segment) ? foldText(segment) : plainName(segment)) || segment)
    .join("/");
}

const GLOB = /[*?[\]{}\\]/;

/** Folds a name without glob characters. One that folding would introduce, as from "［", matches any character. */
function plainName(name: string): string {
  return foldName(name).replaceAll(/[*?[\]{}\\]/g, "?");
}

/** Cuts trailing dots and spaces. A regular expression would take quadratic time on a long row of dots. */
function bare(name: string): string {
  let end = name.length;
  while (end > 0 && ". ".includes(name[end - 1]!)) end -= 1;
  const trimmed = name.slice(0, end) || name;
  return /^git~\d+$/.test(trimmed) ? ".git" : trimmed;
}

/** Lower case by way of upper case, so that "ſ" becomes "s" and "ß" becomes "ss". */
function foldText(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFKC");
}
