import { MemorySaver } from "@langchain/langgraph";

type Put = Parameters<MemorySaver["put"]>;
type PutWrites = Parameters<MemorySaver["putWrites"]>;
type Entry = [Uint8Array, Uint8Array, string | undefined];

/**
 * LangGraph's memory saver, which counts what it is given to keep: one checkpoint per superstep, in the serialization
 * that the official savers write to their rows. Forgets all but the newest checkpoint, for long runs fit no memory.
 */
export class CountingSaver extends MemorySaver {
  bytes = 0;
  checkpoints = 0;

  override async put(...args: Put): ReturnType<MemorySaver["put"]> {
    const config = await super.put(...args);
    const { thread_id, checkpoint_ns = "", checkpoint_id } = config.configurable as Record<string, string>;
    const kept = this.storage[thread_id!]![checkpoint_ns]!;
    const [checkpoint, metadata] = kept[checkpoint_id!] as Entry;
    this.checkpoints += 1;
    this.bytes += checkpoint.length + metadata.length;
    for (const id of Object.keys(kept)) if (id !== checkpoint_id) delete kept[id];
    return config;
  }

  override async putWrites(...args: PutWrites): Promise<void> {
    for (const [, value] of args[1]) {
      const [, body] = await this.serde.dumpsTyped(value);
      this.bytes += body.length;
    }
    await super.putWrites(...args);
  }
}
