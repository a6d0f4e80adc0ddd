import { closeSync, openSync, readSync, statSync, writeFileSync } from "node:fs";

/**
 * The files that SQLite has open in this process. When a process closes any descriptor of a file, the operating system
 * drops all its locks on it, those of SQLite included; another process then takes itself for the last one and deletes
 * the log that is still written to. So what is opened here to be looked at is closed when SQLite is done with it.
 */
const held = new Map<string, { holders: number; descriptor?: number }>();

/** Call when SQLite has opened a file; and what is returned, once, when it has closed it. */
export function holdFile(path: string): () => void {
  const name = nameOf(path);
  if (name === undefined) return () => {};
  const file = held.get(name) ?? { holders: 0 };
  held.set(name, file);
  file.holders += 1;
  return () => {
    file.holders -= 1;
    if (file.holders > 0) return;
    held.delete(name);
    if (file.descriptor !== undefined) closeSync(file.descriptor);
  };
}

/** Opens a file to be read for as long as `read` takes, or as SQLite has it. */
export function reading<T>(path: string, read: (descriptor: number) => T): T {
  const file = held.get(nameOf(path) ?? "");
  if (file) return read((file.descriptor ??= openSync(path, "r")));
  const descriptor = openSync(path, "r");
  try {
    return read(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Copies a file, and leaves the locks on it. */
export function copyHeld(path: string, target: string): void {
  const part = Buffer.alloc(COPIED_BYTES);
  writeFileSync(target, "");
  reading(path, (file) => {
    for (let at = 0, bytes = 0; (bytes = readSync(file, part, 0, COPIED_BYTES, at)) > 0; at += bytes) {
      writeFileSync(target, part.subarray(0, bytes), { flag: "a" });
    }
  });
}

const COPIED_BYTES = 1024 * 1024;

/** A file may have many paths, and a path one file after the other. Undefined where there is none any more. */
function nameOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return file && `${file.dev} ${file.ino}`;
}
