import { attempt } from "../../errors.ts";

const HIDDEN = "[hidden]";

/** Patterns of keys that are not in our variables: by prefix, and in a URL. */
const KEY_SHAPES = [/\b(?:sk|pk|gsk|xai)[-_][\w*.-]{8,}/g, /\bAIza[\w-]{10,}/g, /(?<=:\/\/)[^/\s@]+(?=@)/g];

/**
 * Words that precede a key, in a header or a query. Separate from the key, as one expression with a lookbehind would
 * take quadratic time on a row of spaces.
 */
const KEY_PLACES: readonly { words: RegExp; key: RegExp }[] = [
  { words: /\b(?:bearer|basic|api[-_]?key)["']?[\s:=]+["']?/gi, key: /[\w*.~+/-]{6,}=*/y },
  { words: /[?&][\w.-]*=/g, key: /[^&\s"'#]+/y },
];
const QUERY_NAME = /(?:key|token|secret|password|signature|sig|auth)=$/i;

/** The minimum length of a secret: a shorter one may be an ordinary word. */
const SHORTEST = 6;

/**
 * Replaces secrets in a text: the values of variables for keys, credentials in variables for addresses, the `known`
 * secrets, and everything that looks like a key.
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
    // A secret may be a prefix of another one.
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, form) => shown.replaceAll(form, HIDDEN), text);
  const shaped = KEY_SHAPES.reduce((shown, shape) => shown.replaceAll(shape, HIDDEN), hidden);
  return KEY_PLACES.reduce(withoutKeys, shaped);
}

/** Replaces the keys after words, in a single pass. */
function withoutKeys(text: string, { words, key }: (typeof KEY_PLACES)[number]): string {
  let output = "";
  let end = 0;
  for (const { 0: word, index } of text.matchAll(words)) {
    const start = index + word.length;
    if (start < end || (/^[?&]/.test(word) && !QUERY_NAME.test(word))) continue;
    key.lastIndex = start;
    const secret = key.exec(text)?.[0];
    if (secret === undefined) continue;
    output += text.slice(end, start) + HIDDEN;
    end = start + secret.length;
  }
  return output + text.slice(end);
}

/** The password of a URL, and the values of its query. */
export function secretsIn(address: string): string[] {
  const full = address.includes("://") ? address : `http://${address}`;
  if (!URL.canParse(full)) return [];
  const { username, password, searchParams } = new URL(full);
  // The password is sent in a header, encoded together with the user name.
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

/** Redacts the texts of an error in place. Its class, status and code stay. */
export function withoutSecrets(value: unknown, hide: Hide, visited = new Set<unknown>()): unknown {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null || visited.has(value) || !isErrorPart(value)) {
    return value;
  }
  visited.add(value);
  // Own property names, as an error's message and stack are not enumerable.
  for (const key of Object.getOwnPropertyNames(value)) {
    const before: unknown = Reflect.get(value, key);
    const after = withoutSecrets(before, hide, visited);
    // Does not throw for a read-only field.
    if (after !== before) Reflect.set(value, key, after);
  }
  return value;
}

/** Whether a value is part of an error. Other objects may lead to a client, which needs its key. */
function isErrorPart(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null;
  // The tag finds errors of other realms.
  const isError = value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
  return isError || Array.isArray(value) || isPlain;
}

/** Variables by name. Empty ones count as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

export function read(env: Environment, variable: string | undefined): string | undefined {
  return (variable && env[variable]?.trim()) || undefined;
}
