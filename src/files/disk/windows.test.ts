import { describe, expect, it } from "vitest";
import { onPlatform } from "../../../test/helpers/terminal/platform.ts";
import { isDeviceName } from "./keeper/working-folder.ts";
import { retryRename } from "./retries.ts";

/** Fails with a code of the system as often as told, then succeeds. */
const failing = (times: number, code: string) => {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= times) throw Object.assign(new Error(code), { code });
    return calls;
  };
};

describe("on Windows", () => {
  it.each(["EBUSY", "EPERM", "EACCES"])(
    "a rename waits until the file is no longer in use (%s)",
    async (code) => {
      expect(await onPlatform("win32", () => retryRename(failing(2, code)))).toBe(3);
    },
  );

  it("another failure is not tried again, and elsewhere none is", async () => {
    const full = onPlatform("win32", () => retryRename(failing(1, "ENOSPC")));
    await expect(full).rejects.toThrow("ENOSPC");
    await expect(onPlatform("linux", () => retryRename(failing(1, "EPERM")))).rejects.toThrow("EPERM");
  });

  it.each(["NUL", "con", "aux.txt", "COM1.log", "lpt9", "COM²", "conout$", "a.txt:hidden", "name.", "name "])(
    "%j is no plain file",
    (name) => expect(isDeviceName(name)).toBe(true),
  );

  it.each(["null", "console.ts", "auxiliary", "com10", ".env", "a b", "com.ts"])("%j is one", (name) =>
    expect(isDeviceName(name)).toBe(false),
  );
});
