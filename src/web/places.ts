import { isIP } from "node:net";
import { isPublic } from "./addresses.ts";
import type { WebOptions } from "./options.ts";

/** The places of the web that may be reached. */
export class Places {
  readonly #allow: readonly string[];
  readonly #deny: NonNullable<WebOptions["deny"]>;

  constructor({ allow = ["*"], deny = [] }: Pick<WebOptions, "allow" | "deny">) {
    this.#allow = allow;
    this.#deny = deny;
  }

  /** Why an address may not be asked for; undefined when it may. Its own address is checked by `problemAt`. */
  problem(url: URL): string | undefined {
    if (!["http:", "https:"].includes(url.protocol)) return `${url.protocol} addresses are not fetched.`;
    if (url.username || url.password) return "Addresses with a user name are not fetched.";
    const isAllowed =
      this.#allow.some((entry) => fits(entry, url)) &&
      !this.#deny.some((entry) => (typeof entry === "function" ? entry(url) : fits(entry, url)));
    if (!isAllowed) return `${url.host} may not be reached from here.`;
    const host = bareHost(url);
    return isIP(host) ? this.problemAt(host, url) : undefined;
  }

  /** Why a machine may not be connected to for an address. */
  problemAt(address: string, url: URL): string | undefined {
    const isNamed = this.#allow.some((entry) => entry.includes("://") && fits(entry, url));
    if (isNamed || isPublic(address)) return undefined;
    return `${url.hostname} is at ${address}, which is not of the public internet.`;
  }
}

function fits(entry: string, url: URL): boolean {
  if (entry === "*") return true;
  if (entry.includes("://")) return URL.canParse(entry) && new URL(entry).origin === url.origin;
  const host = bareHost(url);
  const name = entry.toLowerCase();
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name;
}

/** A name may end in a dot, and is the same. */
function bareHost({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$|\.$/g, "");
}
