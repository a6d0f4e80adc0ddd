import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";
import { startPostgres, type PostgresServer } from "./server.ts";

/** Starts one PostgreSQL for all test files when the first of them asks for it, and stops it after the last. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<PostgresServer> | undefined;
  const door = createServer((_request, response) => {
    starting ??= startPostgres();
    starting.then(
      ({ url }) => response.end(url),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });
  door.listen(0, "127.0.0.1").unref();
  await new Promise((resolve) => door.once("listening", resolve));
  project.provide("postgresDoor", `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    await (await starting?.catch(() => undefined))?.stop();
  };
}

declare module "vitest" {
  export interface ProvidedContext {
    postgresDoor: string;
  }
}
