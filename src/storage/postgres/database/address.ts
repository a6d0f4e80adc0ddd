import { attempt, HarnessError } from "../../../errors.ts";

export interface Address {
  /** The full URL, secrets included. Not for messages. */
  url: string;
  /** The server and the database, without secrets, for messages. */
  shown: string;
  /** The longest wait for a connection, from the address or `PGCONNECT_TIMEOUT` as in libpq. */
  connectMs?: number;
  /** Replaces the secrets of the address in a text. */
  redact: (text: string) => string;
}

/** Reads a Postgres URL. Throws `invalid-options`, without the URL: it may have a password in it. */
export function readAddress(url: string): Address {
  const address = attempt(() => new URL(url));
  if (!address || !/^postgres(ql)?:$/.test(address.protocol)) {
    throw new HarnessError(
      "invalid-options",
      "The address of the database cannot be read: use postgres://user:password@host:5432/database, with special characters in the password as %40 and the like.",
    );
  }
  const { protocol, host, pathname } = address;
  const secrets = secretsIn(address);
  const seconds = Number(address.searchParams.get("connect_timeout") ?? process.env["PGCONNECT_TIMEOUT"]);
  return {
    url: withTls(address),
    shown: `${protocol}//${host}${pathname}`,
    ...(seconds > 0 && { connectMs: seconds * 1000 }),
    redact: (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "***"), text),
  };
}

function secretsIn({ password, searchParams }: URL): string[] {
  const encoded = [password, searchParams.get("password") ?? "", searchParams.get("sslpassword") ?? ""];
  return encoded
    .flatMap((text) => [text, attempt(() => decodeURIComponent(text)) ?? ""])
    .filter((text) => text !== "");
}

/**
 * Sets TLS as in libpq, including `PGSSLMODE` and `PGSSLROOTCERT`: `require` encrypts and checks no certificate, unless
 * `sslrootcert` names an authority. `pg` would check a certificate in every mode. `verify-ca` without an authority would
 * trust every certificate of a public authority, so the server's name is also checked.
 */
function withTls(address: URL): string {
  const { searchParams } = address;
  const { PGSSLMODE = "", PGSSLROOTCERT = "" } = process.env;
  const mode = searchParams.get("sslmode") ?? PGSSLMODE;
  if (mode === "" || searchParams.has("uselibpqcompat")) return address.href;
  const authority = searchParams.get("sslrootcert") ?? PGSSLROOTCERT;
  if (authority !== "") searchParams.set("sslrootcert", authority);
  // There is no second attempt without TLS.
  const strictMode = mode === "prefer" || mode === "allow" ? "require" : mode;
  searchParams.set("sslmode", strictMode === "verify-ca" && authority === "" ? "verify-full" : strictMode);
  if (strictMode === "require" || (strictMode === "verify-ca" && authority !== ""))
    searchParams.set("uselibpqcompat", "true");
  return address.href;
}
