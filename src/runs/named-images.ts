import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { MessageContent } from "@langchain/core/messages";
import { mediaTypeOf } from "../files/media-type.ts";
import { imageBlock, look, Sight, type Shown } from "../middleware/files/media.ts";

/** A message with the images that it names, and what a person should know of them. */
export interface WithImages {
  content: MessageContent;
  notes: string[];
}

/** So many go along with a message. */
const MOST = 8;
/** A larger file is not even read. */
const MOST_BYTES = 20_000_000;

/**
 * Adds the images that a text names by path: `@shot.png`, or from the root, as terminals write what is dropped into
 * them, `'/tmp/my shot.png'` or `/tmp/my\ shot.png`. What is no image, or is not there, is left as words.
 */
export async function withImages(
  text: string,
  { dir, model }: { dir: string; model: object },
): Promise<WithImages> {
  const paths = [...new Set(pathsIn(text).map((path) => onDisk(path, dir)))].slice(0, MOST);
  if (paths.length === 0) return { content: text, notes: [] };
  const media = await new Sight({ model }).media();
  const found = (await Promise.all(paths.map(readImage))).filter((image) => image !== undefined);
  const looked = found.map(({ path, type, bytes }) => look(basename(path), { type, bytes, media }));
  const shown = looked.flatMap((one): Shown[] => (one.shown ? [one.shown] : []));
  const notes = looked.map((one) =>
    one.shown ? `${one.shown.path} goes along` : one.text.replace(" You cannot", " The model cannot"),
  );
  if (shown.length === 0) return { content: text, notes };
  return { content: [{ type: "text", text }, ...shown.map(imageBlock)], notes };
}

const NAMED = /(?<=^|\s)(?:"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s\\"'])+))/g;
const IS_MEANT = /^(?:@|\/|~\/|file:\/\/).*\.(?:png|jpe?g|gif|webp)$/i;

function pathsIn(text: string): string[] {
  return [...text.matchAll(NAMED)]
    .map(([, double, single, bare]) => double ?? single ?? bare!.replaceAll(/\\(.)|[.,;:!?)]+$/g, "$1"))
    .filter((path) => IS_MEANT.test(path))
    .map((path) => path.replace(/^@/, ""))
    .filter((path) => !path.startsWith("file:") || isOnDisk(path));
}

/** An address may be of another machine. */
function isOnDisk(address: string): boolean {
  try {
    return fileURLToPath(address) !== "";
  } catch {
    return false;
  }
}

function onDisk(path: string, dir: string): string {
  if (path.startsWith("file://")) return fileURLToPath(path);
  return path.startsWith("~/") ? resolve(homedir(), path.slice(2)) : resolve(dir, path);
}

async function readImage(path: string) {
  try {
    const { size } = await stat(path);
    const bytes = size > MOST_BYTES ? new Uint8Array() : await readFile(path);
    const type = mediaTypeOf(bytes);
    return type === undefined || type === "application/pdf" ? undefined : { path, type, bytes };
  } catch {
    // Words that look like a path.
    return undefined;
  }
}
