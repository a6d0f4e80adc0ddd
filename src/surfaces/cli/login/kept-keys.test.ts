import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { KeptKeys, withKeptKeys, type SystemStore } from "./kept-keys.ts";
import { keepModel } from "./login.ts";

let home: string;
let env: Record<string, string>;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-keys-"));
  env = { HOME: home, XDG_CONFIG_HOME: home };
});
afterEach(() => rmSync(home, { recursive: true }));

const none = (): Promise<SystemStore> => Promise.reject(new Error("there is no store"));

/** A system's store in memory. */
function inMemory(): { entries: Map<string, string>; open: () => Promise<SystemStore> } {
  const entries = new Map<string, string>();
  const store: SystemStore = {
    get: (variable) => entries.get(variable) ?? null,
    getLater: (variable) => entries.get(variable) ?? null,
    set: (variable, value) => void entries.set(variable, value),
    remove: (variable) => void entries.delete(variable),
    isInKernel: () => false,
  };
  return { entries, open: () => Promise.resolve(store) };
}

describe("stored keys", () => {
  it("are in a file of the user alone where the system has no store", async () => {
    const keys = new KeptKeys(env, none);
    expect(await keys.keep("OPENAI_API_KEY", "sk-1")).toBe("file");
    expect(await keys.all()).toEqual({ OPENAI_API_KEY: "sk-1" });
    expect(statSync(keys.file).mode & 0o777).toBe(0o600);
    expect(await keys.forget(["OPENAI_API_KEY", "GROQ_API_KEY"])).toEqual({
      forgotten: ["OPENAI_API_KEY"],
      left: [],
    });
    expect(readFileSync(keys.file, "utf8")).not.toContain("sk-1");
  });

  it("are in the system's store when one exists, and are missed when removed from it", async () => {
    const { entries, open } = inMemory();
    const keys = new KeptKeys(env, open);
    expect(await keys.keep("GROQ_API_KEY", "gsk-1")).toBe("system");
    expect(readFileSync(keys.file, "utf8")).not.toContain("gsk-1");
    expect(await keys.all()).toEqual({ GROQ_API_KEY: "gsk-1" });
    entries.clear();
    expect(await keys.all()).toEqual({});
    expect(await new KeptKeys(env, none).all()).toEqual({});
    expect((await keys.forget(["GROQ_API_KEY"])).forgotten).toEqual(["GROQ_API_KEY"]);
  });

  it("are in the file alone where only this process reads them from the system's store", async () => {
    const { entries, open } = inMemory();
    const kernel = async (): Promise<SystemStore> => ({ ...(await open()), getLater: () => null });
    const keys = new KeptKeys(env, kernel);
    expect(await keys.keep("A_KEY", "x")).toBe("file");
    expect([...entries]).toEqual([]);
    expect(await new KeptKeys(env, none).all()).toEqual({ A_KEY: "x" });
    expect(statSync(keys.file).mode & 0o777).toBe(0o600);
  });

  it("never enter a system's store that stores a value and denies access to it", async () => {
    const { entries, open } = inMemory();
    const deny = (): never => {
      throw new Error("AccessDenied");
    };
    const kernel = async (): Promise<SystemStore> => {
      const { set } = await open();
      const setAndDeny = (variable: string, value: string): never => {
        set(variable, value);
        return deny();
      };
      const isInKernel = (variable: string): boolean => entries.has(variable);
      return { get: deny, getLater: deny, set: setAndDeny, remove: deny, isInKernel };
    };
    const keys = new KeptKeys(env, kernel);
    expect(await keys.keep("A_KEY", "x")).toBe("file");
    expect([...entries.keys()]).toEqual(["HOLDFAST_PROBE"]);
    expect(await keys.forget(["A_KEY"])).toEqual({ forgotten: ["A_KEY"], left: [] });
    entries.set("A_KEY", "of an earlier version");
    expect(await keys.forget(["A_KEY", "B_KEY"])).toEqual({ forgotten: [], left: ["A_KEY"] });
  });

  it("are forgotten with the copies that an earlier login left in the system's store", async () => {
    const { entries, open } = inMemory();
    entries.set("A_KEY", "old").set("B_KEY", "of another home");
    const keys = new KeptKeys(env, open);
    await new KeptKeys(env, none).keep("A_KEY", "x");
    expect((await keys.forget(["A_KEY", "B_KEY", "C_KEY"])).forgotten).toEqual(["A_KEY", "B_KEY"]);
    expect([...entries]).toEqual([]);
    expect(await keys.all()).toEqual({});
  });

  it("yield to set variables, and replace empty variables", async () => {
    const keys = new KeptKeys(env, none);
    await keys.keep("OPENAI_API_KEY", "sk-kept");
    await keys.keep("GROQ_API_KEY", "gsk-kept");
    const set = { ...env, OPENAI_API_KEY: "sk-set", GROQ_API_KEY: "" };
    expect(await withKeptKeys(set)).toEqual({ ...env, OPENAI_API_KEY: "sk-set", GROQ_API_KEY: "gsk-kept" });
  });

  it("replace earlier stored keys", async () => {
    const keys = new KeptKeys(env, none);
    await keys.keep("OPENAI_API_KEY", "sk-1");
    const before = await withKeptKeys(env);
    await keys.keep("OPENAI_API_KEY", "sk-2");
    expect(await withKeptKeys(before)).toMatchObject({ OPENAI_API_KEY: "sk-2" });
  });

  it("in an unreadable file cause an error that names it, and are not overwritten", async () => {
    const keys = new KeptKeys(env, none);
    await keys.keep("A_KEY", "x");
    writeFileSync(keys.file, "{");
    await expect(keys.all()).rejects.toMatchObject({
      code: "invalid-options",
      message: expect.stringContaining(keys.file) as string,
    });
    await expect(keys.keep("A_KEY", "y")).rejects.toMatchObject({ code: "invalid-options" });
    expect(readFileSync(keys.file, "utf8")).toBe("{");
  });
});

it("the default model is stored without changes to the user's other settings", async () => {
  const file = await keepModel(env, "ollama:qwen3");
  writeFileSync(file, JSON.stringify({ mode: "ask", model: "ollama:qwen3" }));
  await keepModel(env, "openai:gpt-5.1");
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ mode: "ask", model: "openai:gpt-5.1" });
});
