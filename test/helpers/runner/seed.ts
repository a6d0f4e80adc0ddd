import { configureGlobal } from "fast-check";

const wanted = process.env["HOLDFAST_SEED"] ?? "1";

/**
 * What random tests start from: the same each time, so that a commit passes or fails for everybody. `HOLDFAST_SEED`
 * takes another number, or `random`.
 */
export const seed = wanted === "random" ? Date.now() % 1_000_000 : Number(wanted);

configureGlobal({ seed });
