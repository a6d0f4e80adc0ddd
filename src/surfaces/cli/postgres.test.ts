import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ask, newDatabase } from "../../../test/helpers/postgres/database.ts";
import { PASSWORD } from "../../../test/helpers/postgres/server.ts";
import { inPipes } from "../../../test/helpers/terminal/piped-command.ts";

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

it("backup and repair name the Postgres tools for the task in one line", async () => {
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

it("a file is used on request, and an invalid database address is refused", async () => {
  const flags = ["--state", "threads.db"];
  expect((await holdfast(["threads", ...flags])).code).toBe(0);
  expect(existsSync(join(home, "threads.db"))).toBe(true);
  expect((await holdfast(["threads", ...flags, "--database", url])).err).toContain("use only one");
  expect((await holdfast(["threads"], { HOLDFAST_DATABASE_URL: "mysql://x" })).err).toContain("postgres://");
});

it("a worker, and a server that does runs, without a model take none, and say so", async () => {
  for (const command of [["worker"], ["serve", "--port", "0"]]) {
    const { code, err } = await holdfast([...command, "--database", url], { HOLDFAST_MODEL: "" });
    expect(code).toBe(1);
    expect(err).toMatch(/^holdfast: No model is configured, and a worker would .* Set HOLDFAST_MODEL .*\n$/);
  }
  const keyless = await holdfast(["worker", "--database", url], { HOLDFAST_MODEL: "anthropic:claude-x" });
  expect(keyless).toMatchObject({ code: 1, err: expect.stringContaining("ANTHROPIC_API_KEY") as string });
});

it("a user with all rights makes the tables, and a user with fewer rights uses them", async () => {
  const database = await newDatabase();
  const role = new URL(database).pathname.slice(1);
  await ask(database, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  const theirs = new URL(database);
  [theirs.username, theirs.password] = [role, "x"];
  const env = { HOLDFAST_DATABASE_URL: theirs.href };
  expect((await holdfast(["doctor"], env)).out).toContain("may not make them: let holdfast migrate");
  const made = await holdfast(["migrate", "--role", role], { HOLDFAST_DATABASE_URL: database });
  expect(made.out).toMatch(/^The tables in postgres:.* are up to date, and \w+ may use them\.\n$/);
  expect((await holdfast(["status"], env)).out).toContain("Workers: none");
  expect((await holdfast(["run", "--max-turns", "1", "Survey this"], env)).err).toBe("");
  const { code, out } = await holdfast(["doctor"], env);
  expect(out).toContain("; takes heartbeats");
  expect(code).toBe(0);
});
