import { AsyncLocalStorage } from "node:async_hooks";

/** The output of the command that a call runs, for whoever wants to know how far it has come. */
export interface CommandOutput {
  printed?: () => string;
}

export const commandOutput = new AsyncLocalStorage<CommandOutput>();
