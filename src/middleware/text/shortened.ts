const DEFAULT_LENGTH = 60;

const characters = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The text as one line of at most `max` code units, cut between words if possible and never within a character. */
export function shortened(text: string, max = DEFAULT_LENGTH): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= max) return line;
  const cut = line.slice(0, characters.segment(line).containing(max - 1)?.index);
  const space = cut.lastIndexOf(" ");
  return `${space > max / 2 ? cut.slice(0, space) : cut}…`;
}
