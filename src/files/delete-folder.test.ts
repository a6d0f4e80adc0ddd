import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { compositeBackend } from "./backends/composite.ts";
import { createBackend } from "./backends/create.ts";
import { stateFiles } from "./backends/state.ts";
import { FROZEN_FILES, withPermissions } from "./backends/with-permissions.ts";
import { Disk } from "./disk/disk.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-delete-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("deleting a folder", () => {
  it.each([true, false])("on disk leaves what its links lead to (descriptors: %s)", async (descriptors) => {
    const place = mkdtempSync(join(folder, "place-"));
    const root = join(place, "root");
    mkdirSync(join(root, "gone/deep/empty"), { recursive: true });
    mkdirSync(join(place, "outside"));
    writeFileSync(join(place, "outside/kept.txt"), "kept");
    symlinkSync("../../outside", join(root, "gone/link"));
    symlinkSync("../../../outside/kept.txt", join(root, "gone/deep/link.txt"));
    writeFileSync(join(root, "gone/odd\nname"), "x");
    const backend = createBackend(new Disk(root, {}, descriptors));
    expect(await backend.delete("/gone")).toEqual({ ok: true });
    expect(readdirSync(root)).toEqual([]);
    expect(existsSync(join(place, "outside/kept.txt"))).toBe(true);
  });

  it("is refused whole when a file must not be deleted, and names only visible files", async () => {
    const files = { "/a/b.md": "", "/a/repo/.git/config": "", "/s/secret/key": "", "/s/b.md": "" };
    const state = stateFiles(files);
    const backend = withPermissions(state, [FROZEN_FILES, { effect: "deny", paths: "/s/secret" }]);
    expect(await backend.delete("/a")).toMatchObject({
      reason: "denied",
      error: expect.stringContaining(`"/a/repo/.git/config"`) as string,
    });
    const secret = await backend.delete("/s");
    expect(secret).toMatchObject({ ok: false, reason: "denied" });
    expect(JSON.stringify(secret)).not.toContain("secret");
    expect(state.files()).toEqual(files);
    expect(await backend.delete("/a/b.md")).toEqual({ ok: true });
  });

  it("is refused where another backend is mounted in it", async () => {
    const memories = stateFiles({ "/m.md": "" });
    const backend = compositeBackend(stateFiles({ "/a/b.md": "" }), { "/a/memories/": memories });
    expect((await backend.delete("/a")).ok).toBe(false);
    expect((await backend.delete("/a/memories")).ok).toBe(false);
    expect(memories.files()).toEqual({ "/m.md": "" });
  });
});
