import { segmentsOf } from "./paths.ts";

/**
 * The one name for all spellings that some file system takes for the same: lower case (ext4 with casefold, APFS, vfat,
 * Windows), composed characters and without ignorable ones (HFS+), without dots and spaces at its end (Windows), and
 * `.git` for the short name that vfat and Windows give it. No system takes all of these, so it may only deny.
 */
export function foldName(name: string): string {
  return bare(foldText(name));
}

/** A path whose names are folded. */
export function foldPath(path: string): string {
  return `/${segmentsOf(foldText(path)).map(bare).join("/")}`;
}

/** A glob for folded paths. What is more than a plain name keeps its dots, which may stand for something. */
export function foldGlob(pattern: string): string {
  return pattern
    .split("/")
    .map((segment) => (/[*?[\]{}\\]/.test(segment) ? foldText(segment) : foldName(segment)) || segment)
    .join("/");
}

/** A folded name without what is cut off at its end. By hand: an expression would try every dot of a long row. */
function bare(name: string): string {
  let end = name.length;
  while (end > 0 && ". ".includes(name[end - 1]!)) end -= 1;
  const kept = name.slice(0, end) || name;
  return /^git~\d+$/.test(kept) ? ".git" : kept;
}

/** Upper case on the way finds what has no lower case of its own: "ſ" is an "s", "ß" is "ss". */
function foldText(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text
    .normalize("NFD")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll("ς", "σ")
    .normalize("NFC");
}
