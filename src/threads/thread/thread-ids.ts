import type { ThreadStore } from "../../storage/index.ts";

/** Valid ids of a new thread: one word in every shell, and a valid name in every file system. */
const THREAD_ID = /^[a-z0-9_][a-z0-9._-]{0,99}$/i;

export function isThreadId(text: string): boolean {
  return THREAD_ID.test(text);
}

/** An unused id made from the task: `survey-this-directory-x7k2`. */
export async function newThreadId(saver: Pick<ThreadStore, "getThread">, task: string): Promise<string> {
  for (;;) {
    const id = threadName(task, Math.random());
    if (!(await saver.getThread(id))) return id;
  }
}

/** The first words of a task, with a tail from a number from 0 to 1. */
function threadName(task: string, chance: number): string {
  const words = task
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const slug =
    words.length > MAX_SLUG
      ? words
          .slice(0, MAX_SLUG + 1)
          .replace(/-[^-]*$/, "")
          .slice(0, MAX_SLUG)
      : words;
  const tail = Math.floor(chance * 36 ** 4)
    .toString(36)
    .padStart(4, "0");
  return `${slug || "thread"}-${tail}`;
}

const MAX_SLUG = 24;
