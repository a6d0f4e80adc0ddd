/**
 * Text that does everything a terminal can be made to do by text: it fills the clipboard, sets the title, clears the
 * screen, moves the cursor, writes unseen, in both spellings of a control sequence, and turns directions around.
 */
export const HOSTILE = [
  "evil",
  "\u001B]52;c;ZXZpbA==\u0007",
  "\u001B]0;evil title\u001B\\",
  "\u001B[2J\u001B[H\u001B[8mhidden\u001B[0m",
  "\u009B2J\u009D0;evil title\u009C\u0090evil\u009C",
  "\b\b\b\r\u0007\u0085",
  "\u202Etxt.\u202C\u2066x\u2069\u200E\u200F\u061C",
  "in\u200Bvi\u200Ds\u2060i\uFEFFb\u00ADle\u{E0041}\u2028\u2029",
  "live",
].join("");

/** What is left of hostile text in something that was written; our own colours and frames are not among it. */
export function left(written: string): string[] {
  return Object.entries(FORBIDDEN).flatMap(([what, pattern]) => (pattern.test(written) ? [what] : []));
}

/* oxlint-disable no-control-regex -- they are what is looked for */
const FORBIDDEN = {
  "a command of the terminal": /\u001B[\]P^_X]/,
  "a cleared screen": /\u001B\[[23]J/,
  "a cursor sent home": /\u001B\[(?:1;1)?H/,
  "hidden text": /\u001B\[(?:\d+;)*8m/,
  "a C1 control": /[\u0080-\u009F]/,
  "a bell or a backspace": /[\u0007\b]/,
  "a mark of direction": /[\u202A-\u202E\u2066-\u2069\u200E\u200F\u061C]/,
  "a character without width": /[\u200B-\u200D\u2060\uFEFF\u00AD\u{E0041}]/u,
  "another line break": /[\u2028\u2029]/,
};
/* oxlint-enable no-control-regex */
