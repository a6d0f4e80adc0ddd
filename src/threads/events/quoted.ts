import { UNSEEN } from "../json-text/index.ts";

/** A word as a shell reads it; with what nobody sees in it, as bash and zsh do. */
export function quoted(text: string): string {
  if (/^[\w./@:-]+$/.test(text)) return text;
  const marked = text.replaceAll(/['\\]/g, String.raw`\$&`);
  const seen = marked.replaceAll(UNSEEN, escaped).replaceAll(/[\n\t]/g, escaped);
  return seen === marked ? `'${text.replaceAll("'", `'\\''`)}'` : `$'${seen}'`;
}

function escaped(character: string): string {
  return `\\U${character.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}
