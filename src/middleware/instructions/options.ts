/** Where instructions come from: a text, a file on disk such as `AGENTS.md`, or a function. */
export type InstructionSource = string | { file: string } | (() => string | Promise<string>);

/** The most bytes of all instructions of an agent together: they are part of every request. */
export const MAX_INSTRUCTIONS = 32_768;
