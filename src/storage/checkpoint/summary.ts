import type { CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import type { Fixed } from "../sqlite/checkpoints.ts";
import type { Stored } from "../sqlite/database/table.ts";
import type { CHECKPOINTS } from "../sqlite/database/tables.ts";

/** A checkpoint without the values of its channels. */
export interface CheckpointSummary {
  id: string;
  /** The checkpoint that it came from. */
  parentId?: string;
  ns: string;
  /** Its place in the order in which checkpoints were put; larger is newer, whatever the clock says. */
  seq: number;
  createdAt: Date;
  metadata: CheckpointMetadata;
}

export interface ListCheckpointsOptions {
  ns?: string;
  limit?: number;
  /** The `seq` that those found come before. */
  before?: number;
}

/** `metadata` is still encoded. */
export function toSummary({
  id,
  parent,
  ns,
  seq,
  head,
  metadata,
}: Pick<Stored<typeof CHECKPOINTS>, "id" | "parent" | "ns" | "seq" | "head" | "metadata">): Omit<
  CheckpointSummary,
  "metadata"
> & { metadata: unknown } {
  return {
    id,
    ...(parent !== null && { parentId: parent }),
    ns,
    seq,
    createdAt: new Date((JSON.parse(head) as Fixed).ts),
    metadata: JSON.parse(metadata),
  };
}
