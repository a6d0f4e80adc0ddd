import { PROVIDERS } from "./providers.ts";
import { read, type Environment } from "./settings.ts";

const HIDDEN = "[hidden]";

/** How keys look when they are not among our variables: by prefix, in a header, in a query, in an address. */
const KEY_SHAPES = [
  /\b(?:sk|pk|gsk|xai)[-_][\w*.-]{8,}/g,
  /\bAIza[\w-]{10,}/g,
  /(?<=\b(?:bearer|api[-_]?key)["']?[\s:=]+["']?)[\w*.~+/-]{6,}=*/gi,
  /(?<=[?&]key=)[^&\s]+/gi,
  /(?<=:\/\/)[^/\s@]+(?=@)/g,
];

/** Replaces keys in a text: the values of the providers' key variables, and what looks like a key. */
export function redact(text: string, env: Environment): string {
  const variables = Object.values(PROVIDERS).flatMap(({ endpoints }) =>
    endpoints.flatMap(({ keys }) => keys),
  );
  const keys = variables.flatMap((variable) => read(env, variable) ?? []);
  const known = keys.reduce((shown, key) => (key.length >= 6 ? shown.replaceAll(key, HIDDEN) : shown), text);
  return KEY_SHAPES.reduce((shown, shape) => shown.replaceAll(shape, HIDDEN), known);
}
