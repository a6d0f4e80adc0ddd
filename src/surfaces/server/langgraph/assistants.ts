import { v5 as uuid } from "@langchain/core/utils/uuid";
import { Hono } from "hono";
import type { Host } from "../../../threads/host/index.ts";
import {
  checkId,
  body,
  json,
  metadataOf,
  refuse,
  type ServerContext,
  type ServerEnv,
  pagination,
  type ServerParts,
} from "../http/index.ts";
import { byFields, contains, listed } from "./listing.ts";
import { schemasOf, subgraphsOf } from "./schemas.ts";

type Assistant = ReturnType<Assistants["out"]>;

/** The assistants of LangGraph's protocol: one for each graph. */
export class Assistants {
  readonly #names: readonly string[];
  readonly #startedAt = new Date().toISOString();

  constructor({ graphs }: Host) {
    this.#names = [...graphs.keys()];
  }

  /** The name of the graph with a name or an assistant id. Answers 404 for an unknown one. */
  graph(id: unknown): string {
    const match = this.#names.find((name) => name === id || assistantId(name) === id);
    if (match !== undefined) return match;
    checkId(String(id));
    refuse(404, `Assistant ${String(id)} not found`);
  }

  /** Whether two names or ids are of the same graph. */
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
      // Public pages use an assistant of the system without asking.
      metadata: { created_by: "system" },
      created_at: this.#startedAt,
      updated_at: this.#startedAt,
    };
  }
}

/** The id of a graph's assistant: the same on every server, and on LangGraph's own. */
export function assistantId(name: string): string {
  return uuid(name, NAMESPACE);
}

const SORTING = byFields("created_at", "updated_at", "assistant_id", "graph_id", "name");

const NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

export function assistantRoutes({ host }: ServerParts, assistants: Assistants): Hono<ServerEnv> {
  const named = (c: ServerContext): string => assistants.graph(c.req.param("assistant"));
  const matching = (fields: Record<string, unknown>): Assistant[] => {
    const { graph_id: graph, name: part } = fields;
    const filter = metadataOf(fields);
    return assistants
      .all()
      .filter(
        ({ graph_id: id, name, metadata }) =>
          contains(metadata, filter) &&
          (graph === undefined || graph === null || graph === id) &&
          (typeof part !== "string" || name.toLowerCase().includes(part.toLowerCase())),
      );
  };
  return (
    new Hono<ServerEnv>()
      .post("/search", async (c) => {
        const fields = await body(c);
        const all = matching(fields);
        const { limit, offset } = pagination(fields);
        if (offset + limit < all.length) c.header("X-Pagination-Next", String(offset + limit));
        return json(c, listed(all, fields, SORTING));
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
      // Only graphs that are nodes: sub-agents appear in the stream, and are not part of the graph.
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
