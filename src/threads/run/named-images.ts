import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { MessageContent } from "@langchain/core/messages";
import { attempt } from "../../errors.ts";
import { mediaTypeOf } from "../../files/text/index.ts";
import { imageBlock, look, Sight, type Shown } from "../../middleware/files/index.ts";

/** A message with the images that it names. */
export interface WithImages {
  content: MessageContent;
  /** Remarks for the user about the images. */
  notes: string[];
}

/** The most images of a message. */
const MOST = 8;
/** Larger files are not read. */
const MOST_BYTES = 20_000_000;

/**
 * Adds the images that a text names by path: `@shot.png`, `@"my shot.png"`, or an absolute path as terminals write a
 * dropped file, `'/tmp/my shot.png'` or `/tmp/my\ shot.png`. Other paths, and files that do not exist, stay text.
 */
export async function withImages(
  text: string,
  { dir, model, platform = process.platform }: { dir: string; model: object; platform?: NodeJS.Platform },
): Promise<WithImages> {
  const mentions = pathsIn(text, platform === "win32");
  const paths = [...new Set(mentions.map((path) => onDisk(path, dir)))].slice(0, MOST);
  if (paths.length === 0) return { content: text, notes: [] };
  const media = await new Sight({ model }).media();
  const images = (await Promise.all(paths.map(readImage))).filter((image) => image !== undefined);
  const looks = images.map(({ path, type, bytes }) => look(basename(path), { type, bytes, media }));
  const shown = looks.flatMap((one): Shown[] => (one.shown ? [one.shown] : []));
  const notes = looks.map((one) =>
    one.shown ? `${one.shown.path} goes along` : one.text.replace(" You cannot", " The model cannot"),
  );
  if (shown.length === 0) return { content: text, notes };
  return { content: [{ type: "text", text }, ...shown.map(imageBlock)], notes };
}

/** A path as a mention that `withImages` recognizes. */
export function mention(path: string): string {
  if (/^[^\s\\"']*[^\s\\"'.,;:!?)]$/.test(path)) return `@${path}`;
  return path.includes('"') ? `@'${path}'` : `@"${path}"`;
}

const NAMED = /(?<=^|\s)(@?)(?:"([^"\n]+)"|'([^'\n]+)'|((?:\\.|[^\s\\"'])+))/g;
/** Image paths on Windows, where a backslash separates folders and escapes nothing. */
const NAMED_ON_WINDOWS = /(?<=^|\s)(@?)(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"']+))/g;
const IS_FROM_ROOT = /^(?:\/|~\/|file:\/\/)/;
const IS_FROM_DRIVE = /^[a-z]:[\\/]/i;
const IS_IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

function pathsIn(text: string, isWindows: boolean): string[] {
  const plain = (bare: string): string => {
    const path = bare.replace(/[.,;:!?)]+$/, "");
    return isWindows ? path : path.replaceAll(/\\(.)/g, "$1");
  };
  const isFromRoot = (path: string): boolean =>
    IS_FROM_ROOT.test(path) || (isWindows && IS_FROM_DRIVE.test(path));
  return (
    [...text.matchAll(isWindows ? NAMED_ON_WINDOWS : NAMED)]
      .map(([, mark, double, single, bare]) => ({ mark, path: double ?? single ?? plain(bare!) }))
      .filter(({ mark, path }) => (mark === "@" || isFromRoot(path)) && IS_IMAGE.test(path))
      .map(({ path }) => path)
      // A file URL may name another machine.
      .filter((path) => !path.startsWith("file:") || attempt(() => fileURLToPath(path)))
  );
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
    // Text that looks like a path.
    return undefined;
  }
}
