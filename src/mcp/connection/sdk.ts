import { HarnessError } from "../../errors.ts";

export type Sdk = typeof import("@modelcontextprotocol/client");

let loaded: Promise<Sdk> | undefined;

/** Loads MCP's client, an optional package. Throws `missing-package`. */
export function loadSdk(): Promise<Sdk> {
  loaded ??= import("@modelcontextprotocol/client").catch((cause: unknown) => {
    loaded = undefined;
    const message =
      "MCP servers need a package that is not installed: npm install @modelcontextprotocol/client@2";
    throw new HarnessError("missing-package", message, { cause });
  });
  return loaded;
}
