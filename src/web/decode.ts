/** The text of a page, in the charset that its type, its first bytes or the page itself names. */
export function decode(body: Buffer, type: string): string {
  const labels = [
    markedCharset(body),
    /charset\s*=\s*["']?([\w-]+)/.exec(type)?.[1],
    namedCharset(body),
    "utf-8",
  ];
  for (const label of labels) {
    if (label === undefined) continue;
    try {
      return new TextDecoder(label).decode(body);
    } catch {
      // A charset that nobody knows: the next guess is as good.
    }
  }
  return body.toString("utf8");
}

function markedCharset(body: Buffer): string | undefined {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return "utf-8";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : undefined;
}

/** `<meta charset>` stands at the beginning of a page. */
function namedCharset(body: Buffer): string | undefined {
  const start = body.subarray(0, 1024).toString("latin1");
  return /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(start)?.[1];
}
