import { createHash } from "node:crypto";
import { ToolMessage, type BaseMessage } from "@langchain/core/messages";

/** A file as a call has shown it to the model, or left it: kept in the artifact of the call's result. */
export interface SeenFile {
  path: string;
  hash: string;
  /** The number of lines shown from the start; absent if all were. */
  lines?: number;
  /** The hash of a text that was held back, where the differences to that text were shown. */
  held?: string;
}

/** The file that a result has shown to the model, or left. */
export function seenIn(message: BaseMessage): SeenFile | undefined {
  if (!ToolMessage.isInstance(message)) return undefined;
  const { seen } = (message.artifact ?? {}) as { seen?: Partial<SeenFile> };
  const { path, hash } = seen ?? {};
  return typeof path === "string" && typeof hash === "string" ? { ...seen, path, hash } : undefined;
}

/** Short, as every result has one; to find another text for it gains nothing. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
}
