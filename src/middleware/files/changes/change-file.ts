import { fail } from "../../../files/backend/index.ts";
import { exclusive } from "../../../files/backends/index.ts";
import type { Failure, FileBackend, FileResult, TextEdit } from "../../../files/index.ts";
import { parsePath } from "../../../files/paths/index.ts";
import { changedLines, changedRegions, decodeText, numberLines } from "../../../files/text/index.ts";
import { filled } from "../../text/index.ts";
import { withTagsOf } from "../../tools/index.ts";
import { HELD_TEXTS } from "../files.prompt.ts";
import { hashOf, type Sightings } from "./sightings.ts";
import { applyEdits } from "./text-edits.ts";

/**
 * Writes a file, unless that would lose text that the agent has not seen and that is stored nowhere else. Then the
 * failure has the reason "held" and shows the file's content, which counts as seen from then on.
 */
export async function writeFile(
  backend: FileBackend,
  { path: raw, content: sent }: { path: string; content: string },
  sightings: Sightings | undefined,
): Promise<FileResult<{ created: boolean }>> {
  if (!sightings) return backend.write(raw, sent);
  return inTurn(raw, sightings, async (path) => {
    const before = sent.includes("&lt;") ? await backend.read(raw) : undefined;
    const content = before?.ok ? withTagsOf(before.content, sent) : sent;
    const refusal = await heldBack(backend, { path, content }, sightings);
    if (refusal) return refusal;
    const result = await backend.write(raw, content);
    if (result.ok) sightings.note(path, Buffer.from(content));
    return result;
  });
}

/** The result of an edit: the lines around its changes, and the file's differences since the agent last saw it. */
interface Edited {
  shown: string | undefined;
  news: string | undefined;
}

/** Makes all replacements in a file, or none. */
export async function editFile(
  backend: FileBackend,
  { path: raw, edits: sent }: { path: string; edits: readonly TextEdit[] },
  sightings: Sightings | undefined,
): Promise<FileResult<Edited>> {
  return inTurn(raw, sightings, async (path) => {
    const before = await backend.read(raw);
    if (!before.ok) return before;
    const edits = sent.map((edit) => ({
      ...edit,
      oldString: withTagsOf(before.content, edit.oldString),
      newString: withTagsOf(before.content, edit.newString),
    }));
    const bytes = Buffer.from(before.content);
    const lines = sightings?.linesSeen(path, bytes) ?? Infinity;
    const news = sightings?.newsOf(path, before.content);
    const result = await editAll(backend, raw, edits);
    if (!result.ok) {
      const whole = wholeText(before.content);
      const details = news ?? whole;
      if (details === undefined) return result;
      sightings?.note(path, bytes, details === whole ? {} : { lines: 0 });
      return { ...result, error: `${result.error}\n${details}` };
    }
    const after = await backend.read(raw);
    if (!after.ok) return { ok: true, shown: undefined, news };
    // An edit does not show the rest of the file.
    sightings?.note(path, Buffer.from(after.content), lines === Infinity ? {} : { lines: 0 });
    return { ok: true, shown: changedRegions(before.content, after.content), news };
  });
}

const MAX_ATTEMPTS = 20;

async function editAll(backend: FileBackend, path: string, edits: readonly TextEdit[]): Promise<FileResult> {
  if (edits.length === 1) return backend.edit(path, edits[0]!);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const now = await backend.read(path);
    if (!now.ok) return now;
    const applied = applyEdits(now.content, edits);
    if (!applied.ok) return fail(`"${path}" was not changed. ${applied.error}`);
    // The whole text is replaced, so that a concurrent change makes the edit fail.
    const result = await backend.edit(path, { oldString: now.content, newString: applied.content });
    const later = result.ok ? undefined : await backend.read(path);
    if (!later?.ok || later.content === now.content) return result;
  }
  return fail(`"${path}" was not changed: others keep changing it. Try again.`);
}

/** The failure of a write that would lose text; undefined if nothing would be lost. */
async function heldBack(
  backend: FileBackend,
  { path, content }: { path: string; content: string },
  sightings: Sightings,
): Promise<Failure | undefined> {
  const now = await backend.readBytes(path);
  if (!now.ok) return now.reason === "too-large" ? tooLarge(now) : undefined;
  const { bytes } = now;
  // Writing the same content changes nothing, as when a call is repeated after a crash.
  if (bytes.length === 0 || hashOf(bytes) === hashOf(Buffer.from(content))) return undefined;
  if (sightings.isSeenWhole(path, bytes, content)) return undefined;
  const text = decodeText(bytes, path);
  if (text.ok && sightings.wasPrinted(text.content)) return undefined;
  const news = text.ok ? sightings.newsOf(path, text.content) : undefined;
  const leaf = leafOf(backend, path);
  // With news, the file has changed since the agent saw it, so the write must be held even if the backend keeps the text.
  const version = { bytes, since: sightings.since };
  if (news === undefined && (await leaf.backend.isUnchanged?.(leaf.path, version))) return undefined;
  const whole = text.ok ? wholeText(text.content) : undefined;
  const shown = text.ok
    ? (news ?? whole ?? differences(text.content, content))
    : filled(HELD_TEXTS.notText, { size: bytes.length });
  sightings.note(path, bytes, shown === whole ? {} : { lines: 0, held: hashOf(Buffer.from(content)) });
  return fail(filled(HELD_TEXTS.held, { path, shown }), "held");
}

function differences(before: string, after: string): string {
  const changes = changedLines(before, after);
  if (changes !== undefined) return `${HELD_TEXTS.differences}\n${changes}`;
  const start = numberLines(before, { limit: SHORT_LINES });
  return `${HELD_TEXTS.begins}\n${start.ok ? start.text : ""}`;
}

/** The most lines and characters of a file that a refusal shows in full. */
const SHORT_LINES = 40;
const SHORT_TEXT = 2000;

function wholeText(content: string): string | undefined {
  if (content.length > SHORT_TEXT || content.split("\n").length > SHORT_LINES) return undefined;
  const lines = numberLines(content);
  return lines.ok ? `${HELD_TEXTS.whole}\n${lines.text}` : undefined;
}

function tooLarge({ error }: Failure): Failure {
  return fail(`${error} What cannot be read is not replaced: delete it first.`, "too-large");
}

/** Serializes changes of one path in a thread, so that a call knows what the one before it wrote. */
function inTurn<T>(
  raw: string,
  sightings: Sightings | undefined,
  task: (path: string) => Promise<T>,
): Promise<T> {
  const path = plainPath(raw);
  return sightings ? exclusive(CHANGES, `${sightings.thread}\0${path}`, () => task(path)) : task(path);
}

const CHANGES = {};

/** The normalized path, or the text itself if it is not a valid path. */
export function plainPath(raw: string): string {
  const parsed = parsePath(raw);
  return parsed.ok ? parsed.path : raw;
}

/** The innermost backend for a path, and the path there. */
export function leafOf(backend: FileBackend, path: string): { backend: FileBackend; path: string } {
  const next = backend.route?.(path);
  return next ? leafOf(next.backend, next.path) : { backend, path };
}
