import { HarnessError } from "../../../errors.ts";

/** Where a database is. */
export interface Address {
  /** With everything in it, secrets too. Not for messages. */
  url: string;
  /** Server and database, for messages. */
  shown: string;
  /** Takes whatever is secret in the address out of a text. */
  redact: (text: string) => string;
}

/** Reads a Postgres URL. Throws `invalid-options`, without the URL: it may have a password in it. */
export function readAddress(url: string): Address {
  const address = parsed(url);
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

function parsed(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

function secretsIn({ password, searchParams }: URL): string[] {
  const given = [password, searchParams.get("password") ?? "", searchParams.get("sslpassword") ?? ""];
  return given.flatMap((text) => [text, decoded(text)]).filter((text) => text !== "");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** `pg` takes these for `verify-full`, and warns that it will not always do so. */
const VERIFIED = ["prefer", "require", "verify-ca"];

function withTls(address: URL): string {
  const { searchParams } = address;
  const mode = searchParams.get("sslmode") ?? "";
  if (VERIFIED.includes(mode) && searchParams.get("uselibpqcompat") !== "true") {
    searchParams.set("sslmode", "verify-full");
  }
  return address.href;
}
