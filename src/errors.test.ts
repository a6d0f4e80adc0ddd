import { expect, it } from "vitest";
import { unlessAborted } from "./errors.ts";

it("work that fails after it was called off is nobody's unhandled rejection", async () => {
  const stopped = AbortSignal.abort(new Error("stopped"));
  await expect(unlessAborted(Promise.reject(new Error("late")), stopped)).rejects.toThrow("stopped");
});
