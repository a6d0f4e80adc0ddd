import { createHash } from "node:crypto";
import { ToolMessage, type BaseMessage } from "@langchain/core/messages";

/** A version of a file that a call has shown to the model or written: kept in the artifact of the call's result. */
export interface SeenFile {
  path: string;
  hash: string;
  /** The number of lines shown from the start; absent for all. */
  lines?: number;
  /** The hash of a held-back text, if the file's differences from that text were shown. */
  held?: string;
}

/** The version of a file that a result has shown to the model or written. */
export function seenIn(message: BaseMessage): SeenFile | undefined {
  if (!ToolMessage.isInstance(message)) return undefined;
  const { seen } = (message.artifact ?? {}) as { seen?: Partial<SeenFile> };
  const { path, hash } = seen ?? {};
  return typeof path === "string" && typeof hash === "string" ? { ...seen, path, hash } : undefined;
}

/** A short hash, as it is stored in every result; collisions are of no use to anybody. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
}
