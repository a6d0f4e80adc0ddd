import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inPipes } from "../../../../test/helpers/terminal/piped-command.ts";

let server: Server;
let url: string;
let home: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const isGood = request.headers.authorization === "Bearer sk-good";
    response.writeHead(isGood ? 200 : 401, { "content-type": "application/json" });
    const error = { error: { message: `Incorrect API key: ${request.headers.authorization}` } };
    response.end(JSON.stringify(isGood ? { data: [{ id: "gpt-5.1" }, { id: "gpt-5.1-mini" }] } : error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => server.close());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-login-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const holdfast = (args: string[], { input = "", env = {} }: { input?: string; env?: object } = {}) =>
  inPipes(args, {
    cwd: home,
    env: {
      HOME: home,
      HOLDFAST_KEYS: "file",
      HOLDFAST_STATE: join(home, "t.db"),
      OPENAI_BASE_URL: url,
      ...env,
    },
    input,
  });
const kept = (name: string): unknown =>
  JSON.parse(readFileSync(join(home, ".config/holdfast", name), "utf8"));

describe("login with a key from a pipe", () => {
  it("tests the key, stores it and a default model for the user, and logout removes it", async () => {
    const { code, out, err } = await holdfast(["login", "openai", "--model", "gpt-5.1-mini"], {
      input: "sk-good\n",
    });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("OPENAI_API_KEY is kept in");
    expect(out).not.toContain("sk-good");
    expect(kept("config.json")).toEqual({ model: "openai:gpt-5.1-mini" });
    expect(JSON.stringify(kept("keys.json"))).toContain("sk-good");

    const doctor = await holdfast(["doctor"]);
    expect(doctor.out).toMatch(/✓ model: openai:gpt-5\.1-mini \(settings; .*answers and has it/);
    const set = await holdfast(["doctor"], { env: { OPENAI_API_KEY: "sk-other" } });
    expect(set.out).toContain("✗ model: openai:gpt-5.1-mini");

    expect((await holdfast(["logout", "openai"])).out).toBe("Forgotten: OPENAI_API_KEY.\n");
    expect((await holdfast(["logout"])).out).toBe("Nothing was kept.\n");
    expect(JSON.stringify(kept("keys.json"))).not.toContain("sk-good");
  });

  it("explains an error in one line without the key, and stores nothing", async () => {
    const refused = await holdfast(["login", "openai"], { input: "sk-wrong-0123456789\n" });
    expect(refused.code).toBe(2);
    expect(refused.err).toMatch(/^holdfast: .*key.*\n$/i);
    expect(refused.err).not.toContain("sk-wrong-0123456789");
    expect((await holdfast(["login", "openai"])).err).toContain("There is no key.");
    expect((await holdfast(["login", "opnai"])).err).toContain('There is no provider "opnai"');
    expect((await holdfast(["login"])).err).toContain("Say which provider");
    expect(() => kept("keys.json")).toThrow("ENOENT");
  });
});
