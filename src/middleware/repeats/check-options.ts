import { z } from "zod";

const POLICIES = z.record(z.string(), z.enum(["repeat", "ask", "unknown", "harmless"]));

export const REPEATS = z.union([z.literal(false), POLICIES]);
