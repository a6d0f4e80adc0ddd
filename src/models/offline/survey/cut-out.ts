/**
 * What stands between marks in a text, and the text without it and them. In one pass: a lazy expression would look for
 * an end that is missing from every beginning.
 */
export function cutOut(text: string, open: RegExp, close: string): { inside: string[]; outside: string } {
  const inside: string[] = [];
  const outside: string[] = [];
  let at = 0;
  for (const { 0: mark, index } of text.matchAll(open)) {
    const start = index + mark.length;
    if (index < at) continue;
    const end = text.indexOf(close, start);
    if (end < 0) break;
    inside.push(text.slice(start, end));
    outside.push(text.slice(at, index));
    at = end + close.length;
  }
  outside.push(text.slice(at));
  return { inside, outside: outside.join("") };
}
