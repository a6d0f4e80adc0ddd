import { UNSEEN } from "../json-text/index.ts";

/** A word quoted for a shell. Invisible characters are escaped as bash and zsh read them. */
export function quoted(text: string): string {
  if (/^[\w./@:-]+$/.test(text)) return text;
  const marked = text.replaceAll(/['\\]/g, String.raw`\$&`);
  const escapedText = marked.replaceAll(UNSEEN, escaped).replaceAll(/[\n\t]/g, escaped);
  return escapedText === marked ? `'${text.replaceAll("'", `'\\''`)}'` : `$'${escapedText}'`;
}

function escaped(character: string): string {
  return `\\U${character.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}
