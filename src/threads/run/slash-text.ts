/** Does not match paths. */
const COMMAND = /^\/([\w-]*)(?=\s|$)/;

/** The name of the command that a text begins with. */
export function commandIn(text: string): string | undefined {
  return COMMAND.exec(text)?.[1];
}

export function argumentsOf(text: string): string {
  return text.replace(COMMAND, "").trim();
}
