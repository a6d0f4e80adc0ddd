import type { Prices } from "../../../threads/prepare/prices.ts";
import { canAsk, isLive, paintOf, type OutputFlags, type Terminal } from "../terminal.ts";
import { LiveOutput } from "./live.ts";
import type { Output } from "./output.ts";
import { plainPaint } from "./paint.ts";
import { jsonOutput, plainOutput, quietOutput } from "./plain.ts";

/** The output that the flags and the terminal ask for. */
export function outputFor(
  terminal: Terminal,
  { json, quiet }: OutputFlags,
  prices: Prices | undefined,
): Output {
  const { stdout, stderr } = terminal;
  if (json) return jsonOutput(stdout);
  if (quiet) return quietOutput(stdout, stderr);
  if (isLive(terminal))
    return new LiveOutput(stdout, { paint: paintOf(terminal), prices, asks: canAsk(terminal, {}) });
  return plainOutput(stdout, plainPaint);
}
