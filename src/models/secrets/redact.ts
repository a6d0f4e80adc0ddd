import { attempt } from "../../errors.ts";

const HIDDEN = "[hidden]";

/** Shapes of keys that are not in our variables: by prefix, and in an address. */
const KEY_SHAPES = [/\b(?:sk|pk|gsk|xai)[-_][\w*.-]{8,}/g, /\bAIza[\w-]{10,}/g, /(?<=:\/\/)[^/\s@]+(?=@)/g];

/**
 * Words with a key behind them: in a header, in a query. Apart from the key: a lookbehind for both would read a row of
 * spaces again at each of them.
 */
const KEY_PLACES: readonly { words: RegExp; key: RegExp }[] = [
  { words: /\b(?:bearer|basic|api[-_]?key)["']?[\s:=]+["']?/gi, key: /[\w*.~+/-]{6,}=*/y },
  { words: /[?&][\w.-]*=/g, key: /[^&\s"'#]+/y },
];
const QUERY_NAME = /(?:key|token|secret|password|signature|sig|auth)=$/i;

/** The shortest secret that is searched for: a shorter one may be an ordinary word. */
const SHORTEST = 6;

/**
 * Replaces secrets in a text: the values of variables for keys, what those for addresses hold of that kind, whatever
 * else is `known`, and what looks like a key.
 */
export function redact(text: string, env: Environment, known: readonly string[] = []): string {
  const values = (names: RegExp): string[] =>
    Object.entries(env).flatMap(([name, value]) => (names.test(name) ? (value?.trim() ?? []) : []));
  const secrets = [
    ...known,
    ...values(/_API_KEY$/),
    ...values(/_(BASE_URL|HOST|ENDPOINT)$/).flatMap(secretsIn),
  ];
  const forms = new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]));
  const hidden = [...forms]
    .filter((form) => form.length >= SHORTEST)
    // A secret may be the beginning of another one.
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
  const shaped = KEY_SHAPES.reduce((shown, shape) => shown.replaceAll(shape, HIDDEN), hidden);
  return KEY_PLACES.reduce(withoutKeys, shaped);
}

/** Reads a text once: what is behind words is looked at from where they end, and not again once it is hidden. */
function withoutKeys(text: string, { words, key }: (typeof KEY_PLACES)[number]): string {
  let shown = "";
  let end = 0;
  for (const { 0: said, index } of text.matchAll(words)) {
    const start = index + said.length;
    if (start < end || (/^[?&]/.test(said) && !QUERY_NAME.test(said))) continue;
    key.lastIndex = start;
    const secret = key.exec(text)?.[0];
    if (secret === undefined) continue;
    shown += text.slice(end, start) + HIDDEN;
    end = start + secret.length;
  }
  return shown + text.slice(end);
}

/** The password of an address, and what its query says. */
export function secretsIn(address: string): string[] {
  const full = address.includes("://") ? address : `http://${address}`;
  if (!URL.canParse(full)) return [];
  const { username, password, searchParams } = new URL(full);
  // As it is sent: in a header, encoded together with the name.
  const header = base64(`${decoded(username)}:${decoded(password)}`);
  return [password, decoded(password), ...(password ? [header] : []), ...searchParams.values()];
}

function decoded(part: string): string {
  return attempt(() => decodeURIComponent(part)) ?? part;
}

function base64(text: string): string {
  return btoa(String.fromCodePoint(...new TextEncoder().encode(text)));
}

/** Replaces the secrets of a text. */
export type Hide = (text: string) => string;

/** The same error, which stays what it is to whoever looks at its class, status or code. */
export function withoutSecrets(value: unknown, hide: Hide, seen = new Set<unknown>()): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null || seen.has(value) || !isOwnTo(value)) return value;
  seen.add(value);
  // By name: an error's message and stack are not enumerable.
  for (const key of Object.getOwnPropertyNames(value)) {
    const before: unknown = Reflect.get(value, key);
    const after = withoutSecrets(before, hide, seen);
    // A field that cannot be set cannot be changed either; not worth an error in the place of the error.
    if (after !== before) Reflect.set(value, key, after);
  }
  return value;
}

/** Whether this belongs to an error. Through anything else it may lead to a client, which needs its key. */
function isOwnTo(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  return value instanceof Error || isNativeError(value) || Array.isArray(value) || isPlain;
}

function isNativeError(value: object): boolean {
  return Object.prototype.toString.call(value) === "[object Error]";
}

/** Variables by name. Empty ones count as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a variable. */
export function read(env: Environment, variable: string | undefined): string | undefined {
  return (variable && env[variable]?.trim()) || undefined;
}
