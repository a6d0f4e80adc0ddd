import { HarnessError } from "../../errors.ts";

export type Sdk = typeof import("@agentclientprotocol/sdk");

/** JSON-RPC's code for invalid params. */
export const INVALID_PARAMS = -32_602;

/** Loads ACP's SDK, an optional peer dependency. Throws `missing-package`. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@agentclientprotocol/sdk");
  } catch (cause) {
    const message =
      "holdfast acp needs a package that is not installed: npm install @agentclientprotocol/sdk@2";
    throw new HarnessError("missing-package", message, { cause });
  }
}
