import { load } from "@langchain/core/load";
import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Blob, Blobs } from "./blobs.ts";
import { REFERENCE, SNAPSHOT } from "./encode.ts";
import { UNDEFINED } from "./json.ts";
import type { Memo } from "./memo.ts";

const MESSAGE = '{"lc":1,"type":"constructor"';

interface Node extends Blob {
  /** The parsed body of a tree, or the parts of a list or record. */
  content?: unknown;
  /** The finished value of a `json` blob. */
  value?: unknown;
}

type Json = Record<string, unknown>;

/**
 * Reads back what `Encoder` wrote: parsed texts in, values out in the same order. A message that stands in several
 * places is one object in all of them, as it was in the run that saved it.
 */
export async function decodeAll(trees: readonly unknown[], context: DecodeContext): Promise<unknown[]> {
  const decoder = new Decoder(context);
  await decoder.load(trees);
  return trees.map((tree) => decoder.build(tree));
}

export interface DecodeContext {
  blobs: Blobs;
  memo: Memo;
  thread: number;
  serde: SerializerProtocol;
}

class Decoder {
  readonly #context: DecodeContext;
  readonly #nodes = new Map<number, Node>();
  /** Objects inside trees that only the serializer can read. */
  readonly #revived = new Map<object, unknown>();
  #pending: Promise<void>[] = [];

  constructor(context: DecodeContext) {
    this.#context = context;
  }

  /** Fetches every blob the trees lead to, level by level, and lets the serializer read what is its own. */
  async load(trees: readonly unknown[]): Promise<void> {
    let wanted = new Set<number>();
    for (const tree of trees) this.#scan(tree, wanted);
    while (wanted.size > 0) {
      const next = new Set<number>();
      for (const [id, blob] of this.#context.blobs.read(this.#context.thread, [...wanted]))
        this.#add(id, blob, next);
      wanted = new Set([...next].filter((id) => !this.#nodes.has(id)));
    }
    await Promise.all(this.#pending);
    this.#pending = [];
  }

  build(tree: unknown): unknown {
    if (typeof tree !== "object" || tree === null) return tree;
    if (Array.isArray(tree)) return tree.map((item) => this.build(item));
    if (this.#revived.has(tree)) return this.#revived.get(tree);
    const record = tree as Json;
    if (typeof record[REFERENCE] === "number") return this.#node(record[REFERENCE]);
    if (SNAPSHOT in record) return new DeltaSnapshot(this.build(record[SNAPSHOT]));
    return Object.fromEntries(
      Object.entries(record).map(([key, value]) => [
        key.startsWith(REFERENCE) ? key.slice(1) : key,
        this.build(value),
      ]),
    );
  }

  #node(id: number): unknown {
    const node = this.#nodes.get(id)!;
    if (node.kind === "json") return node.value;
    if (node.kind === "bytes") return Uint8Array.from(node.body as Uint8Array);
    if (node.kind === "tree") return this.build(node.content);
    const parts = (node.content as number[]).map((part) => this.#node(part));
    return node.kind === "list"
      ? parts.flat(1)
      : Object.fromEntries(parts.flatMap((part) => Object.entries(part as Json)));
  }

  #add(id: number, blob: Blob, wanted: Set<number>): void {
    const node: Node = { ...blob };
    this.#nodes.set(id, node);
    if (blob.kind === "bytes") return;
    if (blob.kind === "json") {
      this.#pending.push(this.#parse(blob.body as string).then((value) => this.#keep(id, node, value)));
      return;
    }
    node.content = JSON.parse(blob.body as string);
    if (blob.kind === "tree") this.#scan(node.content, wanted);
    else for (const part of node.content as number[]) wanted.add(part);
  }

  /** A message that goes back as it came is not stored again: written out, some differ from what they were read from. */
  #keep(id: number, node: Node, value: unknown): void {
    const { memo, thread } = this.#context;
    node.value = value;
    if (BaseMessage.isInstance(value)) memo.remember(value, thread, id);
  }

  #scan(tree: unknown, wanted: Set<number>): void {
    if (typeof tree !== "object" || tree === null) return;
    const record = tree as Json;
    if (Object.hasOwn(record, "lc")) return this.#revive(record);
    const target = record[REFERENCE];
    if (typeof target === "number") wanted.add(target);
    else for (const item of Object.values(record)) this.#scan(item, wanted);
  }

  #revive(record: Json): void {
    const text = JSON.stringify(record);
    if (text === UNDEFINED) this.#revived.set(record, undefined);
    else this.#pending.push(this.#parse(text).then((value) => void this.#revived.set(record, value)));
  }

  #parse(text: string): Promise<unknown> {
    // The serializer ends in the same `load` for a message, after parsing it twice and awaiting each of its parts.
    const message = text.startsWith(MESSAGE) && !text.includes('"lc":2');
    // What was saved is read, however deep; the encoder keeps the depth within bounds.
    return message
      ? load(text, { maxDepth: Number.POSITIVE_INFINITY })
      : this.#context.serde.loadsTyped("json", text);
  }
}
