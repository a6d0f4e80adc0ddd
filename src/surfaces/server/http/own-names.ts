import { createHash } from "node:crypto";

/** The end of an id that stands for a name of a user's own. Nobody can choose it. */
export const OWN_NAME = /\.u-[0-9a-f]{16}$/;
const IN_TEXT = /([a-z0-9_][a-z0-9._-]{0,99}?)\.u-([0-9a-f]{16})(?![a-z0-9._-])/gi;

/** The id of a user's thread whose name somebody else has: nobody finds out by a name whether it is taken. */
export function ownName(user: string, name: string): string {
  return `${name}.u-${mark(user, name)}`;
}

/** An answer to a user with the names that they have chosen in the place of such ids. */
export function withNames(user: string | undefined, text: string): string {
  if (user === undefined || !text.includes(".u-")) return text;
  return text.replaceAll(IN_TEXT, (id, name: string, end: string) => (end === mark(user, name) ? name : id));
}

function mark(user: string, name: string): string {
  return createHash("sha256")
    .update(JSON.stringify([user, name]))
    .digest("hex")
    .slice(0, 16);
}
