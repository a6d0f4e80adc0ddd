import { createHash } from "node:crypto";

/** The suffix of a private id. Clients cannot choose a name that ends like this. */
export const PRIVATE_ID = /\.u-[0-9a-f]{16}$/;
const PRIVATE_IDS = /([a-z0-9_][a-z0-9._-]{0,99}?)\.u-([0-9a-f]{16})(?![a-z0-9._-])/gi;

/** The id of a user's thread whose name another user has, so that a name never reveals whether it is taken. */
export function privateId(user: string, name: string): string {
  return `${name}.u-${hash(user, name)}`;
}

/** Replaces a user's private ids in a text by the names that the user chose. */
export function withoutPrivateIds(user: string | undefined, text: string): string {
  if (user === undefined || !text.includes(".u-")) return text;
  return text.replaceAll(PRIVATE_IDS, (id, name: string, end: string) =>
    end === hash(user, name) ? name : id,
  );
}

function hash(user: string, name: string): string {
  return createHash("sha256")
    .update(JSON.stringify([user, name]))
    .digest("hex")
    .slice(0, 16);
}
