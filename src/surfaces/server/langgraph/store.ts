import { Hono } from "hono";
import { z } from "zod";
import {
  body,
  checked,
  json,
  type ServerContext,
  type ServerEnv,
  listPart,
  type ServerParts,
} from "../http/index.ts";

const namespace = z.array(z.string().min(1)).min(1);

/** LangGraph's store over HTTP. Each user has a part of it that nobody else sees. */
export function storeRoutes({ store }: ServerParts): Hono<ServerEnv> {
  const own = (c: ServerContext): string[] => {
    const user = c.get("user");
    return user === undefined ? [] : [USERS, labelOf(user), ITEMS];
  };
  const out = (c: ServerContext, item: { namespace: string[] }): object => {
    const { createdAt, updatedAt, ...rest } = item as unknown as Record<string, unknown>;
    return {
      ...rest,
      namespace: item.namespace.slice(own(c).length),
      created_at: createdAt,
      updated_at: updatedAt,
    };
  };
  return new Hono<ServerEnv>()
    .put("/items", async (c) => {
      const { namespace: at, key, value } = checked(PUT, await body(c));
      await store.put([...own(c), ...at], key, value);
      return c.body(null, 204);
    })
    .get("/items", async (c) => {
      const at = (c.req.query("namespace") ?? "").split(".").filter(Boolean);
      const item = await store.get([...own(c), ...at], c.req.query("key") ?? "");
      // Not 404: LangGraph's clients take that for a failure.
      return json(c, item ? out(c, item) : null);
    })
    .delete("/items", async (c) => {
      const { namespace: at, key } = checked(KEY, await body(c));
      await store.delete([...own(c), ...at], key);
      return c.body(null, 204);
    })
    .post("/items/search", async (c) => {
      const given = await body(c);
      const { namespace_prefix: at, filter, query } = checked(SEARCH, given);
      const items = await store.search([...own(c), ...at], {
        ...(filter && { filter }),
        ...(query && { query }),
        ...listPart(given),
      });
      return json(c, { items: items.map((item) => out(c, item)) });
    })
    .post("/namespaces", async (c) => {
      const given = await body(c);
      const { prefix, suffix, max_depth: depth } = checked(LIST, given);
      const mine = own(c);
      const found = await store.listNamespaces({
        prefix: [...mine, ...(prefix ?? [])],
        ...(suffix && { suffix }),
        ...(depth && { maxDepth: depth + mine.length }),
        ...listPart(given, 100),
      });
      return json(c, { namespaces: found.map((one) => one.slice(mine.length)) });
    });
}

const USERS = "users";
/** Stores may take a namespace for another that begins the same, `ann` for `anna`: so none ends with a user's name. */
const ITEMS = "items";
const KEY = z.object({ namespace, key: z.string() });
const PUT = KEY.extend({
  value: z.record(z.string(), z.unknown()),
  ttl: z.null("items do not expire here: delete them").optional(),
});
const SEARCH = z.object({
  namespace_prefix: z.array(z.string()).default([]),
  filter: z.record(z.string(), z.unknown()).nullish(),
  query: z.string().nullish(),
});
const LIST = z.object({
  prefix: z.array(z.string()).nullish(),
  suffix: z.array(z.string()).nullish(),
  max_depth: z.number().int().min(0).nullish(),
});

/** A user's name as one part of a namespace: without dots, which are refused, colons, which some stores divide by, and `*`. */
function labelOf(user: string): string {
  return encodeURIComponent(user).replaceAll(".", "%2E").replaceAll("*", "%2A");
}
