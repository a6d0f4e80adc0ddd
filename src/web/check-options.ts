import { z } from "zod";
import { HarnessError } from "../errors.ts";
import { isObject } from "../middleware/options/index.ts";
import type { WebOptions } from "./options.ts";

const place = z.string().refine((entry) => /^(?:https?:\/\/[^/]+|(?:\*\.)?[^/:*\s]+|\*)$/.test(entry), {
  message:
    'must be a host such as example.com or *.example.com, an origin such as http://127.0.0.1:8080, or "*"',
});

export const WEB_OPTIONS = z
  .strictObject({
    fetch: z.boolean(),
    search: z.union([
      z.literal(false),
      z.strictObject({
        provider: z.enum(["tavily", "exa", "brave"]),
        apiKey: z.string().min(1).optional(),
        baseUrl: z.string().optional(),
      }),
    ]),
    allow: z.array(place),
    deny: z.array(z.union([place, z.custom<unknown>((entry) => typeof entry === "function")])),
    // `process.env` is no plain object.
    env: z.custom<unknown>(isObject, "must be an object of variables"),
  } satisfies Record<keyof WebOptions, z.ZodType>)
  .partial();

/** The option `web` of a harness. */
export const WEB = z.union([z.boolean(), WEB_OPTIONS]);

/** Throws `missing-setting` for a service without a key. */
export function missingKey(provider: string, variable: string): never {
  throw new HarnessError(
    "missing-setting",
    `web_search with ${provider} needs a key: set ${variable}, or search.apiKey.`,
  );
}
