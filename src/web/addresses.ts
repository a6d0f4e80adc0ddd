import { BlockList, isIP } from "node:net";

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
/** The public range of IPv6, without documentation and transition ranges. */
const GLOBAL = ["2000::/3"];
const SPECIAL = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];
const MAPPED = ["::ffff:0:0/96"];

const private4 = blocks(PRIVATE);
const global6 = blocks(GLOBAL);
const special6 = blocks(SPECIAL);
const mapped6 = blocks(MAPPED);

/** Whether an address is one of the public internet; of IPv4 in IPv6, whether that is. */
export function isPublic(address: string): boolean {
  const [bare = ""] = address.split("%");
  if (isIP(bare) === 4) return !private4.check(bare, "ipv4");
  if (isIP(bare) !== 6) return false;
  // Node holds IPv4 in IPv6 to the rules of IPv4.
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
