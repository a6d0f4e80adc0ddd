import { HarnessError } from "../../errors.ts";

export type Sdk = typeof import("@modelcontextprotocol/server");

/** Loads MCP's server SDK, an optional peer dependency. Throws `missing-package`. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@modelcontextprotocol/server");
  } catch (cause) {
    const message =
      "holdfast mcp needs a package that is not installed: npm install @modelcontextprotocol/server@2";
    throw new HarnessError("missing-package", message, { cause });
  }
}
