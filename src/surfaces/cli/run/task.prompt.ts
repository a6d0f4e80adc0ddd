/** A task together with what was piped to the command. */
export const withPipedText = (task: string, text: string): string => `${task}\n\n<stdin>\n${text}\n</stdin>`;
