import { isGraphBubbleUp } from "@langchain/langgraph";
import { fieldsOf, settled } from "./client-fields.ts";
import { read, type Environment, redact, withoutSecrets } from "./redact.ts";

/** The variables of the process; a browser has none. */
const ENVIRONMENT: Environment = globalThis.process?.env ?? {};

/** Removes the keys of a model and of the environment from an error of its call. */
export async function withoutKeysOf(model: object, error: unknown): Promise<unknown> {
  if (isGraphBubbleUp(error)) return error;
  // A deferred model that could not be chosen has no key.
  const keys = keysOf(await settled(model).catch(() => model));
  return withoutSecrets(error, (text) => redact(text, ENVIRONMENT, keys));
}

/** The secrets that a model declares, and its `apiKey`. */
function keysOf(model: object): string[] {
  const { bound, lc_secrets } = model as { bound?: object; lc_secrets?: Record<string, string> };
  if (bound) return keysOf(bound);
  const fields = { ...fieldsOf(model), ...model } as Record<string, unknown>;
  const named = ["apiKey", ...Object.keys(lc_secrets ?? {})].map((name) => fields[name]);
  const set = Object.values(lc_secrets ?? {}).map((variable) => read(ENVIRONMENT, variable));
  return [...named, ...set].filter((value) => typeof value === "string");
}
