import { z } from "zod";
import type { LoopGuardOptions } from "./index.ts";

const times = z.number().min(1, "must be at least 1");

/** When the loop guard acts, or `false` for none. */
export const LOOP_GUARD = z.union([
  z.literal(false),
  z
    .strictObject({
      warnAfter: times,
      stopAfter: times,
      waitMs: z.number().min(0),
      tools: z.record(z.string(), z.literal(false)),
    } satisfies Record<keyof LoopGuardOptions, z.ZodType>)
    .partial(),
]);
