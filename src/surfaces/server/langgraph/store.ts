import { Hono } from "hono";
import { z } from "zod";
import {
  body,
  validate,
  json,
  type ServerContext,
  type ServerEnv,
  pagination,
  type ServerParts,
} from "../http/index.ts";

const namespace = z.array(z.string().min(1)).min(1);

/** LangGraph's store over HTTP. Each user has a private part of it. */
export function storeRoutes({ store }: ServerParts): Hono<ServerEnv> {
  const userPrefix = (c: ServerContext): string[] => {
    const user = c.get("user");
    return user === undefined ? [] : [USERS, labelOf(user), ITEMS];
  };
  const out = (c: ServerContext, item: { namespace: string[] }): object => {
    const { createdAt, updatedAt, ...rest } = item as unknown as Record<string, unknown>;
    return {
      ...rest,
      namespace: item.namespace.slice(userPrefix(c).length),
      created_at: createdAt,
      updated_at: updatedAt,
    };
  };
  return new Hono<ServerEnv>()
    .put("/items", async (c) => {
      const { namespace: at, key, value } = validate(PUT, await body(c));
      await store.put([...userPrefix(c), ...at], key, value);
      return c.body(null, 204);
    })
    .get("/items", async (c) => {
      const at = (c.req.query("namespace") ?? "").split(".").filter(Boolean);
      const item = await store.get([...userPrefix(c), ...at], c.req.query("key") ?? "");
      // Not 404: LangGraph's clients treat that as a failure.
      return json(c, item ? out(c, item) : null);
    })
    .delete("/items", async (c) => {
      const { namespace: at, key } = validate(KEY, await body(c));
      await store.delete([...userPrefix(c), ...at], key);
      return c.body(null, 204);
    })
    .post("/items/search", async (c) => {
      const fields = await body(c);
      const { namespace_prefix: at, filter, query } = validate(SEARCH, fields);
      const items = await store.search([...userPrefix(c), ...at], {
        ...(filter && { filter }),
        ...(query && { query }),
        ...pagination(fields),
      });
      return json(c, { items: items.map((item) => out(c, item)) });
    })
    .post("/namespaces", async (c) => {
      const fields = await body(c);
      const { prefix, suffix, max_depth: depth } = validate(LIST, fields);
      const ownPrefix = userPrefix(c);
      const namespaces = await store.listNamespaces({
        prefix: [...ownPrefix, ...(prefix ?? [])],
        ...(suffix && { suffix }),
        ...(depth && { maxDepth: depth + ownPrefix.length }),
        ...pagination(fields, 100),
      });
      return json(c, { namespaces: namespaces.map((one) => one.slice(ownPrefix.length)) });
    });
}

const USERS = "users";
/** Some stores compare namespaces by string prefix, so `ann` would match `anna`: this part ends the user's name. */
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

/** Encodes a user's name as one label of a namespace: dots are invalid in one, some stores separate labels by colons, and `*` is a wildcard. */
function labelOf(user: string): string {
  return encodeURIComponent(user).replaceAll(".", "%2E").replaceAll("*", "%2A");
}
