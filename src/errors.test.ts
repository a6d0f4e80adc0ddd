import { expect, it } from "vitest";
import { unlessAborted } from "./errors.ts";

it("a failure of aborted work causes no unhandled rejection", async () => {
  const stopped = AbortSignal.abort(new Error("stopped"));
  await expect(unlessAborted(Promise.reject(new Error("late")), stopped)).rejects.toThrow("stopped");
});
