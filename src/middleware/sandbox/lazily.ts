import type { FileBackend } from "../../files/index.ts";

/** A backend that is made when it is first used. */
export function lazily(make: () => Promise<FileBackend>): FileBackend {
  return {
    list: async (path, options) => (await make()).list(path, options),
    read: async (path) => (await make()).read(path),
    readBytes: async (path) => (await make()).readBytes(path),
    writeBytes: async (path, bytes) => (await make()).writeBytes(path, bytes),
    write: async (path, content) => (await make()).write(path, content),
    delete: async (path) => (await make()).delete(path),
    edit: async (path, edit) => (await make()).edit(path, edit),
    glob: async (pattern, scope) => (await make()).glob(pattern, scope),
    grep: async (query) => (await make()).grep(query),
    execute: async (command, options) => {
      const backend = await make();
      if (!backend.execute) return { ok: false, error: "Commands cannot be run in this sandbox." };
      return backend.execute(command, options);
    },
  };
}
