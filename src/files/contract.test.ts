import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { bashSandbox } from "../../test/helpers/models/bash-sandbox.ts";
import { backendContract } from "../testing/index.ts";
import type { FileBackend } from "./backend/index.ts";
import { compositeBackend } from "./backends/composite.ts";
import { createBackend } from "./backends/create.ts";
import { sandboxBackend } from "./backends/sandbox.ts";
import { stateFiles } from "./backends/state.ts";
import { storeBackend } from "./backends/store.ts";
import { withPermissions } from "./backends/with-permissions.ts";
import { Disk } from "./disk/disk.ts";
import { diskBackend } from "./disk/index.ts";
import { shellBackend } from "./shell/index.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-files-"));
afterAll(() => rmSync(folder, { recursive: true }));
const root = (): string => mkdtempSync(join(folder, "root-"));

const BACKENDS: Record<string, () => FileBackend> = {
  "in state": () => stateFiles({}),
  "on disk": () => diskBackend(root()),
  "on disk, without ripgrep": () => diskBackend(root(), { ripgrep: false }),
  "on disk, without descriptors": () => createBackend(new Disk(root(), {}, false)),
  "in a store": () => storeBackend(new InMemoryStore(), ["files"]),
  "of a shell": () => shellBackend(root()),
  "of a remote sandbox": () => sandboxBackend(bashSandbox(), { root: root() }),
  "of several": () => compositeBackend(stateFiles({}), {}),
  "with permissions": () => withPermissions(stateFiles({}), [{ effect: "deny", paths: "/never/**" }]),
};

for (const [name, create] of Object.entries(BACKENDS)) {
  backendContract(name, { createBackend: create, describe, it, expect });
}
