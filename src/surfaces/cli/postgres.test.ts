import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inPipes } from "../../../test/in-pipes.ts";
import { PASSWORD } from "../../../test/postgres-server.ts";
import { newDatabase } from "../../../test/postgres.ts";

let home: string;
let url: string;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-cli-postgres-"));
  url = await newDatabase();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Runs a command with the database in the environment, and sees to it that the password is never printed. */
async function holdfast(args: string[], env: Record<string, string> = { HOLDFAST_DATABASE_URL: url }) {
  const { code, out, err } = await inPipes(args, {
    env: { HOME: home, HOLDFAST_MODEL: "offline", ...env },
    cwd: home,
  });
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) expect(out + err).not.toContain(secret);
  return { code, out, err };
}

it("every command works on a database as on a file, and makes no file", async () => {
  expect((await holdfast(["threads"])).out).toMatch(/^No threads yet/);
  const ran = await holdfast(
    ["run", "--thread", "survey", "--max-turns", "3", "--database", url, "Survey this"],
    {},
  );
  expect(ran).toMatchObject({ code: 3, err: "" });
  expect(ran.out).toMatch(/resume --database '?postgres:\/\/postgres:\*\*\*@127/);
  expect((await holdfast(["resume", "survey", "--max-turns", "60"])).code).toBe(0);

  const [thread] = (await holdfast(["threads", "--json"])).out.trim().split("\n");
  expect(JSON.parse(thread!)).toMatchObject({ id: "survey", state: "done", dir: home });
  expect((await holdfast(["show", "survey"])).out).toMatch(/\[x\]/);
  expect((await holdfast(["check"])).out).toMatch(/^postgres:\/\/postgres:\*\*\*@127.* is whole\.\n$/);
  expect((await holdfast(["doctor"])).out).toMatch(/storage: postgres:.*\(1 thread; all of it was read\)/);

  const editor = join(home, "edit.sh");
  writeFileSync(editor, `#!/bin/sh\necho '- [ ] Look again' >> "$1"\n`);
  chmodSync(editor, 0o700);
  const edited = await holdfast(["plan", "edit", "survey"], { HOLDFAST_DATABASE_URL: url, EDITOR: editor });
  expect(edited).toMatchObject({ code: 0, err: "" });
  expect((await holdfast(["show", "survey"])).out).toContain("Look again");

  expect((await holdfast(["rm", "survey"])).out).toBe("Deleted survey.\n");
  expect((await holdfast(["threads"])).out).toMatch(/^No threads yet/);
  rmSync(editor);
  expect(readdirSync(home)).toEqual(["survey.md"]);
});

it("what the tools of Postgres are for is said in a line", async () => {
  const backup = await holdfast(["backup"]);
  expect(backup).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^holdfast: .*pg_dump.*\n$/) as string,
  });
  const repair = await holdfast(["repair"]);
  expect(repair).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^holdfast: .*pg_restore.*\n$/) as string,
  });
});

it("a file is used where it is asked for, and an address that is none is refused", async () => {
  const flags = ["--state", "threads.db"];
  expect((await holdfast(["threads", ...flags])).code).toBe(0);
  expect(existsSync(join(home, "threads.db"))).toBe(true);
  expect((await holdfast(["threads", ...flags, "--database", url])).err).toContain("leave out one");
  expect((await holdfast(["threads"], { HOLDFAST_DATABASE_URL: "mysql://x" })).err).toContain("postgres://");
});
