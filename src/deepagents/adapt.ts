import type {
  BackendProtocol,
  FileData,
  FileInfo,
  GrepMatch,
  MaybePromise,
  SandboxProtocol,
} from "./protocol.ts";

/** The first version of the protocol, which some published backends still use. */
export interface FirstProtocol extends Pick<
  BackendProtocol,
  "write" | "delete" | "execute" | "uploadFiles" | "downloadFiles" | "id"
> {
  lsInfo(path: string): MaybePromise<FileInfo[]>;
  readRaw(path: string): MaybePromise<FileData>;
  read(path: string, offset?: number, limit?: number): unknown;
  edit?: BackendProtocol["edit"];
  grepRaw?(
    pattern: string,
    path?: string | null,
    glob?: string | null,
  ): MaybePromise<readonly GrepMatch[] | string>;
  globInfo?(pattern: string, path?: string): MaybePromise<FileInfo[]>;
}

/** A backend of either version of the protocol. */
export type AnyBackendProtocol = BackendProtocol | FirstProtocol;

const UNABLE = "this backend cannot do it";

/** A backend of the second version for one of either. One of the second version is returned as it is. */
export function adaptBackendProtocol(backend: AnyBackendProtocol): BackendProtocol {
  if (!("lsInfo" in backend) || "ls" in backend) return backend as BackendProtocol;
  const first = backend;
  const optional = (["delete", "execute", "uploadFiles", "downloadFiles"] as const).flatMap((name) =>
    first[name] ? [[name, first[name].bind(first)] as const] : [],
  );
  const adapted: BackendProtocol = {
    ls: async (path) => ({ files: await first.lsInfo(path) }),
    read: async (path, offset, limit) => {
      const content = await first.read(path, offset, limit);
      return typeof content === "string" ? { content } : (content as object);
    },
    readRaw: async (path) => {
      const data = await first.readRaw(path);
      const { content } = data;
      return { data: { ...data, content: Array.isArray(content) ? content.join("\n") : content } };
    },
    write: (path, content) => first.write(path, content),
    edit: async (...args) => first.edit?.(...args) ?? { error: UNABLE },
    grep: async (pattern, path, glob) => {
      const matches = (await first.grepRaw?.(pattern, path, glob)) ?? UNABLE;
      return typeof matches === "string" ? { error: matches } : { matches: [...matches] };
    },
    glob: async (pattern, path) =>
      first.globInfo ? { files: await first.globInfo(pattern, path) } : { error: UNABLE },
    ...Object.fromEntries(optional),
  };
  return first.id === undefined ? adapted : { ...adapted, id: first.id };
}

/** The same for a sandbox. */
export function adaptSandboxProtocol(sandbox: AnyBackendProtocol): SandboxProtocol {
  return adaptBackendProtocol(sandbox) as SandboxProtocol;
}

/** Whether a backend runs commands: it has `execute` and an id. */
export function isSandboxBackend(backend: unknown): backend is SandboxProtocol {
  if (typeof backend !== "object" || backend === null) return false;
  const { execute, id } = backend as { execute?: unknown; id?: unknown };
  return typeof execute === "function" && typeof id === "string" && id !== "";
}
