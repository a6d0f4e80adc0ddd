import { existsSync } from "node:fs";

/** The built package. Peers are compiled JavaScript; ours is timed in the same form. */
export interface Product {
  main: typeof import("../../src/index.ts");
  storage: typeof import("../../src/storage/index.ts");
  testing: typeof import("../../src/testing/index.ts");
  /** How the command line and the server run an agent. */
  runs: Pick<typeof import("../../src/threads/run/run-thread.ts"), "runThread" | "RunEvents"> &
    Pick<typeof import("../../src/threads/traces/index.ts"), "tracesFrom">;
}

const DIST = new URL("../../dist/", import.meta.url);

/** Loads the package from `dist`. Throws where it was not built. */
export async function loadProduct(): Promise<Product> {
  if (!existsSync(new URL("index.js", DIST))) throw new Error("dist is missing: run npm run build first.");
  const load = (file: string): Promise<object> => import(new URL(file, DIST).href);
  const [main, storage, testing] = await Promise.all(
    ["index.js", "storage/index.js", "testing/index.js"].map(load),
  );
  const runs = await Promise.all(
    ["run/run-thread.js", "traces/index.js"].map((file) => load(`threads/${file}`)),
  );
  return { main, storage, testing, runs: Object.assign({}, ...runs) as unknown } as Product;
}
