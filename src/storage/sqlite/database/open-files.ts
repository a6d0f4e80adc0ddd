import { closeSync, openSync, readSync, statSync, writeFileSync } from "node:fs";

/**
 * The files that SQLite has open in this process. When a process closes any descriptor of a file, the operating system
 * drops all its locks on it, including those of SQLite; another process can then take itself for the last one and delete
 * a log that is still in use. So a descriptor that is opened here is closed only after SQLite has closed the file.
 */
const openFiles = new Map<string, { users: number; descriptor?: number }>();

/** Call when SQLite has opened a file; call the returned function, once, when it has closed it. */
export function trackOpenFile(path: string): () => void {
  const id = fileId(path);
  if (id === undefined) return () => {};
  const file = openFiles.get(id) ?? { users: 0 };
  openFiles.set(id, file);
  file.users += 1;
  return () => {
    file.users -= 1;
    if (file.users > 0) return;
    openFiles.delete(id);
    if (file.descriptor !== undefined) closeSync(file.descriptor);
  };
}

export function isOpenHere(path: string): boolean {
  return openFiles.has(fileId(path) ?? "");
}

/** Opens a file for reading until `read` returns, or until SQLite closes it. */
export function withDescriptor<T>(path: string, read: (descriptor: number) => T): T {
  const file = openFiles.get(fileId(path) ?? "");
  if (file) return read((file.descriptor ??= openSync(path, "r")));
  const descriptor = openSync(path, "r");
  try {
    return read(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Copies a file without dropping the locks on it. */
export function copyOpenFile(path: string, target: string): void {
  const buffer = Buffer.alloc(COPY_BYTES);
  writeFileSync(target, "");
  withDescriptor(path, (file) => {
    for (let at = 0, bytes = 0; (bytes = readSync(file, buffer, 0, COPY_BYTES, at)) > 0; at += bytes) {
      writeFileSync(target, buffer.subarray(0, bytes), { flag: "a" });
    }
  });
}

const COPY_BYTES = 1024 * 1024;

/** The identity of a file, which may have several paths; undefined if there is none. */
function fileId(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${file.dev} ${file.ino}`;
}
