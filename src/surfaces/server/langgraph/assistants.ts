import { v5 as uuid } from "@langchain/core/utils/uuid";
import { Hono } from "hono";
import type { Host } from "../../../threads/host/index.ts";
import {
  body,
  json,
  metadataOf,
  refuse,
  type ServerContext,
  type ServerEnv,
  listPart,
  type ServerParts,
} from "../http/index.ts";
import { byFields, contains, listed } from "./listing.ts";
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
    refuse(404, `Assistant ${String(id)} not found`);
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
  return uuid(name, NAMESPACE);
}

const SORTING = byFields("created_at", "updated_at", "assistant_id", "graph_id", "name");

const NAMESPACE = "6ba7b821-9dad-11d1-80b4-00c04fd430c8";

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
        const all = matching(given);
        const { limit, offset } = listPart(given);
        if (offset + limit < all.length) c.header("X-Pagination-Next", String(offset + limit));
        return json(c, listed(all, given, SORTING));
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
