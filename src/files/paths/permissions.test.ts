import { describe, expect, it } from "vitest";
import { stateFiles } from "../backends/state.ts";
import { withPermissions } from "../backends/with-permissions.ts";
import { shellBackend } from "../shell/index.ts";
import { compileRules, type PermissionRule } from "./permissions.ts";

const FILES = {
  "/wiki/a.md": "needle",
  "/secrets/key.txt": "needle",
  "/secrets/deep/k.txt": "needle",
  "/.env": "needle",
};
const NO_SECRETS: PermissionRule[] = [{ effect: "deny", paths: ["/secrets/**", "**/.env"] }];
const ONLY_WIKI: PermissionRule[] = [
  { effect: "allow", paths: "/wiki/**" },
  { effect: "deny", paths: "**" },
];

describe("compileRules", () => {
  it("allows what no rule is about", () => {
    expect(compileRules([]).check("write", "/a")).toEqual({ allowed: true });
    expect(compileRules(NO_SECRETS).check("read", "/wiki/a.md")).toEqual({ allowed: true });
  });

  it("lets the first rule that matches decide, and names it", () => {
    expect(compileRules(ONLY_WIKI).check("write", "/wiki/a.md").allowed).toBe(true);
    expect(compileRules(ONLY_WIKI).check("write", "/a.md")).toEqual({
      allowed: false,
      rule: `rule 2 (deny everything on "**")`,
    });
    expect(compileRules(ONLY_WIKI.toReversed()).check("write", "/wiki/a.md").allowed).toBe(false);
  });

  it("covers nothing below what an exact rule matches", () => {
    const rules: PermissionRule[] = [
      { effect: "allow", paths: ["/a/*", "/b/**"], exact: true },
      { effect: "deny", paths: "/**" },
    ];
    const allowed = ["/a/x", "/a/x/y", "/b/x/y", "/a"].map(
      (path) => compileRules(rules).check("read", path).allowed,
    );
    expect(allowed).toEqual([true, false, true, false]);
  });

  it("looks only at rules for the action", () => {
    const readOnly: PermissionRule[] = [{ effect: "deny", operations: ["write", "delete"], paths: "/**" }];
    expect(compileRules(readOnly).check("read", "/a").allowed).toBe(true);
    expect(compileRules(readOnly).check("delete", "/a").allowed).toBe(false);
  });

  it.each(["/secrets", "/secrets/", "/secrets/**", "secrets", "/sec*"])(
    "covers a folder and all in it with %s",
    (paths) => {
      const rules: PermissionRule[] = [{ effect: "deny", paths }];
      for (const path of ["/secrets", "/secrets/key.txt", "/secrets/deep/k.txt"]) {
        expect(compileRules(rules).check("read", path).allowed).toBe(false);
      }
      expect(compileRules(rules).check("read", "/other/secrets").allowed).toBe(true);
    },
  );

  it("throws for rules that cannot be read", () => {
    const rules = (rule: object): PermissionRule[] => [rule as PermissionRule];
    expect(() => compileRules(rules({ effect: "deny", paths: "" }))).not.toThrow();
    expect(() => compileRules(rules({ effect: "deny", paths: "/../a" }))).toThrow("rule 1");
    expect(() => compileRules(rules({ effect: "refuse", paths: "/a" }))).toThrow("effect");
    expect(() => compileRules(rules({ effect: "deny", operations: ["wirte"], paths: "/a" }))).toThrow(
      `"wirte" is not one of read, write, delete, execute`,
    );
  });
});

describe("withPermissions", () => {
  it("refuses every operation on a denied path, and names the rule", async () => {
    const backend = withPermissions(stateFiles(FILES), NO_SECRETS);
    const path = "secrets/./key.txt";
    const refusals = [
      await backend.read(path),
      await backend.write(path, "x"),
      await backend.delete(path),
      await backend.edit(path, { oldString: "needle", newString: "x" }),
      await backend.list("/secrets"),
      await backend.glob("**", { path: "/secrets" }),
      await backend.grep({ pattern: "needle", path: "/secrets" }),
      await backend.grep({ pattern: "needle", path }),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        ok: false,
        reason: "denied",
        error: expect.stringContaining(`rule 1 (deny everything on "/secrets/**", "**/.env")`) as string,
      });
    }
  });

  it("does not list or find denied files", async () => {
    const backend = withPermissions(stateFiles(FILES), NO_SECRETS);
    expect(await backend.list("/")).toMatchObject({ entries: [{ path: "/wiki" }] });
    expect(await backend.glob("**")).toEqual({ ok: true, paths: ["/wiki/a.md"] });
    expect(await backend.grep({ pattern: "needle", maxMatches: 1 })).toMatchObject({
      files: [{ path: "/wiki/a.md" }],
      notes: [],
    });
  });

  it("does not suggest denied files", async () => {
    const backend = withPermissions(stateFiles(FILES), NO_SECRETS);
    expect(await backend.read("/key.txt")).toMatchObject({ error: `There is no file "/key.txt".` });
    expect(await backend.read("/a.md")).toMatchObject({
      error: expect.stringContaining(`"/wiki/a.md"`) as string,
    });
  });

  it("shows the folders that lead to allowed files", async () => {
    const rules: PermissionRule[] = [
      { effect: "allow", operations: ["read"], paths: ["/secrets/deep/**", "/wiki/*.md"] },
      { effect: "deny", paths: "**" },
    ];
    const backend = withPermissions(stateFiles(FILES), rules);
    expect(await backend.list("/")).toMatchObject({ entries: [{ path: "/secrets" }, { path: "/wiki" }] });
    expect(await backend.list("/secrets")).toMatchObject({ entries: [{ path: "/secrets/deep" }] });
    expect(await backend.glob("**")).toEqual({ ok: true, paths: ["/secrets/deep/k.txt", "/wiki/a.md"] });
    expect(await backend.list("/elsewhere")).toMatchObject({ reason: "denied" });
  });

  it("requires read and write permission for an edit, which would reveal file content", async () => {
    const rules: PermissionRule[] = [{ effect: "deny", operations: ["read"], paths: "/wiki" }];
    const backend = withPermissions(stateFiles(FILES), rules);
    expect(await backend.edit("/wiki/a.md", { oldString: "needle", newString: "x" })).toMatchObject({
      reason: "denied",
    });
    expect(await backend.write("/wiki/a.md", "x")).toEqual({ ok: true, created: false });
  });

  it("takes commands away as soon as files are denied, unless they are allowed by name", () => {
    const allow: PermissionRule = { effect: "allow", operations: ["execute"], paths: "**" };
    const deny: PermissionRule = { effect: "deny", operations: ["execute"], paths: "**" };
    const runs = (...rules: PermissionRule[]): boolean =>
      "execute" in withPermissions(shellBackend("unused"), rules);
    expect(runs()).toBe(true);
    expect(runs(...NO_SECRETS)).toBe(false);
    expect(runs(allow, ...NO_SECRETS)).toBe(true);
    expect(runs(deny)).toBe(false);
    expect(runs(deny, allow)).toBe(false);
    expect("execute" in withPermissions(stateFiles({}), [])).toBe(false);
  });
});
