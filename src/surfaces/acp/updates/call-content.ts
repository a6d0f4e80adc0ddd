import { join } from "node:path";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { pathMeant } from "../../../files/disk/index.ts";
import { textEdits } from "../../../middleware/files/index.ts";
import { shortened } from "../../../middleware/text/index.ts";
import { textArguments } from "../../../threads/record/index.ts";
import { MAIN, ownerName } from "../../../threads/view/index.ts";

const KINDS: Readonly<Record<string, ToolKind>> = {
  ls: "read",
  read_file: "read",
  glob: "search",
  grep: "search",
  write_file: "edit",
  edit_file: "edit",
  delete_file: "delete",
  execute: "execute",
  task: "think",
  web_fetch: "fetch",
  web_search: "fetch",
  "plan-approval": "switch_mode",
};

export function kindOf(tool: string): ToolKind {
  return KINDS[tool] ?? "other";
}

const LONGEST_TITLE = 120;

export function titleOf({ name, args, owner }: { name: string; args?: unknown; owner: string }): string {
  const [about = ""] = textArguments(fields(args));
  const title = name === "execute" ? `\`${about}\`` : `${name} ${about}`.trim();
  return shortened(owner === MAIN ? title : `${ownerName(owner)}: ${title}`, LONGEST_TITLE);
}

/** The files that a call names, by their paths on this machine. */
export function locationsOf(args: unknown, dir: string): ToolCallLocation[] {
  const { file_path: file, path, offset } = fields(args);
  const target = file ?? path;
  if (typeof target !== "string" || target.startsWith("/.holdfast/")) return [];
  return [{ path: realPath(target, dir), line: typeof offset === "number" ? offset : undefined }];
}

/** The absolute form of a model's path, for display. */
function realPath(path: string, dir: string): string {
  return join(dir, pathMeant(path, dir) ?? path);
}

/** The change that a call's arguments describe. */
export function diffIn({ name, args }: { name: string; args?: unknown }, dir: string): ToolCallContent[] {
  const { file_path: file, content } = fields(args);
  if (typeof file !== "string") return [];
  const changes =
    name === "edit_file"
      ? textEdits(args).map(({ oldString, newString }) => ({ oldText: oldString, newText: newString }))
      : name === "write_file" && typeof content === "string"
        ? [{ oldText: null, newText: content }]
        : [];
  return changes.map((change) => ({ type: "diff", path: realPath(file, dir), ...change }));
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** The result of a call. Editors render Markdown, so output of commands and files is in a code block. */
export function outputOf(tool: string, output: string): ToolCallContent {
  if (tool === "task") return textContent(output);
  const longest = Math.max(2, ...[...output.matchAll(/`{3,}/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return textContent(`${fence}\n${output}\n${fence}`);
}

/** A call's arguments by name; empty for anything but an object. */
function fields(args: unknown): Record<string, unknown> {
  return typeof args === "object" && args !== null ? (args as Record<string, unknown>) : {};
}
