import { fail } from "../../../files/backend/failures.ts";
import type { FileBackend } from "../../../files/index.ts";
import { replaceText } from "../../../files/text/replace-text.ts";

/** The backend, where changes and commands only tell whether they could be made, as far as that can be read. */
export function unchanging(backend: FileBackend): FileBackend {
  const written = async (path: string) => {
    const file = await backend.readBytes(path);
    return !file.ok && file.reason === "folder" ? file : { ok: true as const, created: !file.ok };
  };
  const changes: Partial<FileBackend> = {
    write: written,
    writeBytes: written,
    edit: async (path, edit) => {
      const file = await backend.read(path);
      if (!file.ok) return file;
      const replaced = replaceText(file.content, edit);
      return replaced.ok ? { ok: true, lines: [] } : fail(`"${path}" was not changed. ${replaced.error}`);
    },
    delete: async (path) => {
      const file = await backend.readBytes(path);
      return !file.ok && file.reason === "missing" ? file : { ok: true };
    },
    ...(backend.execute && {
      execute: async () => ({ ok: true, output: "", exitCode: 0, timedOut: false, truncated: false }),
    }),
  };
  return new Proxy(backend, {
    get: (target, key) => {
      const value: unknown = Reflect.get(Object.hasOwn(changes, key) ? changes : target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
