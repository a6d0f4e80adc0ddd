import { createHash } from "node:crypto";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Host } from "../../../threads/host/client.ts";
import { body, json, metadataOf } from "../http/answers.ts";
import type { ServerContext, ServerEnv } from "../http/context.ts";
import { listPart } from "../http/list-part.ts";
import type { ServerParts } from "../http/parts.ts";
import { byFields, contains, selected, selectOf, sorted } from "./listing.ts";
import { schemasOf, subgraphsOf } from "./schemas.ts";

/** An assistant as LangGraph's server answers it. */
type Assistant = ReturnType<Assistants["out"]>;

/** Each graph is an assistant: LangGraph's clients know nothing else to run. */
export class Assistants {
  readonly #names: readonly string[];
  readonly #startedAt = new Date().toISOString();

  constructor({ graphs }: Host) {
    this.#names = [...graphs.keys()];
  }

  /** The graph that a name or an id is for. Answers 404 for another. */
  graph(id: unknown): string {
    const found = this.#names.find((name) => name === id || assistantId(name) === id);
    if (found !== undefined) return found;
    throw new HTTPException(404, { message: `Assistant ${String(id)} not found` });
  }

  isSame(a: unknown, b: unknown): boolean {
    return (
      a === b || this.#names.some((name) => [a, b].every((id) => id === name || id === assistantId(name)))
    );
  }

  all(): Assistant[] {
    return this.#names.map((name) => this.out(name));
  }

  out(name: string) {
    return {
      assistant_id: assistantId(name),
      graph_id: name,
      name,
      description: null,
      version: 1,
      config: {},
      context: {},
      // What a page takes for one that it need not be asked about.
      metadata: { created_by: "system" },
      created_at: this.#startedAt,
      updated_at: this.#startedAt,
    };
  }
}

/** The same id for the same graph on every server, as LangGraph's own gives it. */
export function assistantId(name: string): string {
  const bytes = createHash("sha1")
    .update(Buffer.from(NAMESPACE, "hex"))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const SORTING = byFields("created_at", "updated_at", "assistant_id", "graph_id", "name");

const NAMESPACE = "6ba7b8219dad11d180b400c04fd430c8";

export function assistantRoutes({ host }: ServerParts, assistants: Assistants): Hono<ServerEnv> {
  const named = (c: ServerContext): string => assistants.graph(c.req.param("assistant"));
  const matching = (given: Record<string, unknown>): Assistant[] => {
    const { graph_id: graph, name: part } = given;
    const wanted = metadataOf(given);
    return assistants
      .all()
      .filter(
        ({ graph_id: id, name, metadata }) =>
          contains(metadata, wanted) &&
          (graph === undefined || graph === null || graph === id) &&
          (typeof part !== "string" || name.toLowerCase().includes(part.toLowerCase())),
      );
  };
  return (
    new Hono<ServerEnv>()
      .post("/search", async (c) => {
        const given = await body(c);
        const { limit, offset } = listPart(given);
        const select = selectOf(given);
        const all = sorted(matching(given), given, SORTING);
        const end = offset + limit;
        if (end < all.length) c.header("X-Pagination-Next", String(end));
        const page = all.slice(offset, end);
        return json(
          c,
          page.map((assistant) => selected(assistant, select)),
        );
      })
      .post("/count", async (c) => json(c, matching(await body(c)).length))
      .get("/:assistant", (c) => json(c, assistants.out(named(c))))
      .post("/:assistant/versions", (c) => json(c, [assistants.out(named(c))]))
      .get("/:assistant/graph", async (c) => {
        const { graph } = await host.graph(named(c)).reader();
        const xray = c.req.query("xray");
        const depth =
          xray === undefined || xray === "false" ? false : xray === "true" ? true : Number(xray) || true;
        return json(c, (await graph.getGraphAsync({ xray: depth })).toJSON());
      })
      .get("/:assistant/schemas", async (c) => {
        const name = named(c);
        const hosted = host.graph(name);
        return json(c, schemasOf(name, hosted, await hosted.reader()));
      })
      // Those that are nodes: a sub-agent is found in the stream, and is no fixed part of its graph.
      .get("/:assistant/subgraphs/:namespace?", async (c) => {
        const name = named(c);
        const hosted = host.graph(name);
        const agent = await hosted.reader();
        const namespace = c.req.param("namespace");
        const isDeep = c.req.query("recurse") === "true";
        return json(c, await subgraphsOf(name, hosted, { agent, namespace, isDeep }));
      })
  );
}
