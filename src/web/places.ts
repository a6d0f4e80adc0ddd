import { isIP, BlockList } from "node:net";
import type { WebOptions } from "./options.ts";

/** The places of the web that may be reached. */
export class Places {
  readonly #allow: readonly string[];
  readonly #deny: NonNullable<WebOptions["deny"]>;

  constructor({ allow = ["*"], deny = [] }: Pick<WebOptions, "allow" | "deny">) {
    this.#allow = allow;
    this.#deny = deny;
  }

  /** The reason why a URL may not be fetched; undefined if it may. `problemAt` checks the IP addresses of its host. */
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

  /** The reason why an IP address may not be connected to for a URL; undefined if it may. */
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

/** The host without brackets and without a final dot, which changes nothing. */
function bareHost({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$|\.$/g, "");
}

/** IPv4 ranges outside the public internet. */
const PRIVATE = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];

const private4 = blocks(PRIVATE);
/** The public range of IPv6. */
const global6 = blocks(["2000::/3"]);
/** The documentation and transition ranges in it. */
const special6 = blocks(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);
/** IPv4 addresses in IPv6. */
const mapped6 = blocks(["::ffff:0:0/96"]);

/** Whether an address belongs to the public internet, also as IPv4 in IPv6. */
export function isPublic(address: string): boolean {
  const [bare = ""] = address.split("%");
  if (isIP(bare) === 4) return !private4.check(bare, "ipv4");
  if (isIP(bare) !== 6) return false;
  // Node checks IPv4 in IPv6 against the rules of IPv4.
  if (mapped6.check(bare, "ipv6")) return !private4.check(bare, "ipv6");
  return global6.check(bare, "ipv6") && !special6.check(bare, "ipv6");
}

function blocks(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [net = "", bits] = subnet.split("/");
    list.addSubnet(net, Number(bits), isIP(net) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}
