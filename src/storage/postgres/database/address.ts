import { HarnessError } from "../../../errors.ts";

/** The address of a database. */
export interface Address {
  /** The full URL, secrets included. Not for messages. */
  url: string;
  /** Server and database, for messages. */
  shown: string;
  /** Replaces the secrets of the address in a text. */
  redact: (text: string) => string;
}

/** Reads a Postgres URL. Throws `invalid-options`, without the URL: it may have a password in it. */
export function readAddress(url: string): Address {
  const address = parseUrl(url);
  if (!address || !/^postgres(ql)?:$/.test(address.protocol)) {
    throw new HarnessError(
      "invalid-options",
      "The address of the database cannot be read: use postgres://user:password@host:5432/database, with special characters in the password as %40 and the like.",
    );
  }
  const { protocol, host, pathname } = address;
  const secrets = secretsIn(address);
  return {
    url: withTls(address),
    shown: `${protocol}//${host}${pathname}`,
    redact: (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text),
  };
}

function parseUrl(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function secretsIn({ password, searchParams }: URL): string[] {
  const encoded = [password, searchParams.get("password") ?? "", searchParams.get("sslpassword") ?? ""];
  return encoded.flatMap((text) => [text, decode(text)]).filter((text) => text !== "");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Modes that `pg` treats as `verify-full`, with a warning that this will change. */
const VERIFIED = ["prefer", "require", "verify-ca"];

function withTls(address: URL): string {
  const { searchParams } = address;
  const mode = searchParams.get("sslmode") ?? "";
  if (VERIFIED.includes(mode) && searchParams.get("uselibpqcompat") !== "true") {
    searchParams.set("sslmode", "verify-full");
  }
  return address.href;
}
