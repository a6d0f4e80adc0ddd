/** A file that a person sent along. */
export function sentFile(uri: string, text: string): string {
  return `<file uri=${JSON.stringify(uri)}>\n${text}\n</file>`;
}

/** A file that a person pointed at. */
export function namedFile(name: string, place: string): string {
  return `[${name}](${place})`;
}

/** Stands for an attachment that the model cannot be shown. */
export function notShown(what: string, type: string): string {
  return `(${what} of the type ${type}, which is not shown.)`;
}
