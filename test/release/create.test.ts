import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import creator from "../../packages/create-holdfast/package.json" with { type: "json" };
import template from "../../packages/create-holdfast/template/package.json" with { type: "json" };
import { run } from "../helpers/terminal/run-program.ts";

let folder: string;
let create: string;

const pack = async (from: string): Promise<string> => {
  const args = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
  const { ok, stdout, stderr } = await run("npm", args, { cwd: from });
  if (!ok) throw new Error(stderr);
  return join(folder, stdout.trim());
};

const unpack = async (tarball: string, to: string): Promise<void> => {
  mkdirSync(to, { recursive: true });
  expect(await run("tar", ["-xf", tarball, "-C", to, "--strip-components", "1"])).toMatchObject({ ok: true });
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-create-"));
  await unpack(await pack("packages/create-holdfast"), join(folder, "create"));
  create = join(folder, "create/create.mjs");
});
afterAll(() => rmSync(folder, { recursive: true }));

const made = (...args: string[]) => run(process.execPath, [create, ...args], { cwd: folder });

describe("npm create holdfast", () => {
  it("makes a project whose tests and types pass on the packed package", async () => {
    const tarball = await pack(".");
    const { ok, stdout } = await made("Tide Watch", "--holdfast", tarball);
    expect(ok).toBe(true);
    expect(stdout).toContain('cd "Tide Watch"\n  npm install\n  npm test\n');
    const project = join(folder, "Tide Watch");
    expect(readdirSync(project).toSorted()).toEqual(
      [".gitignore", "README.md", "package.json", "src", "test", "tsconfig.json"].toSorted(),
    );
    expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toMatchObject({
      name: "tide-watch",
      dependencies: { holdfast: `file:${tarball}` },
    });
    // In the place of npm install: the registry is not part of this test.
    const modules = join(project, "node_modules");
    mkdirSync(modules);
    for (const name of readdirSync("node_modules").filter((one) => one !== "holdfast")) {
      symlinkSync(resolve("node_modules", name), join(modules, name));
    }
    await unpack(tarball, join(modules, "holdfast"));
    const tested = await run("npm", ["test"], { cwd: project });
    expect(tested.ok, tested.stdout + tested.stderr).toBe(true);
    // Without a key the program "demo" answers.
    const env = { PATH: process.env["PATH"], HOME: folder, PORT: "0" };
    const server = spawn(process.execPath, ["--import", "tsx", "src/main.ts"], { cwd: project, env });
    const [line] = (await once(server.stdout, "data")) as [Buffer];
    expect(line.toString()).toMatch(/^demo answers at http/);
    const [, port] = /:(\d+)\//.exec(line.toString())!;
    const second = await run(process.execPath, ["--import", "tsx", "src/main.ts"], {
      cwd: project,
      env: { ...env, PORT: port! },
    });
    server.kill();
    expect(second.ok).toBe(false);
    expect(second.stderr).toMatch(
      /\nPort \d+ is in use\. Name another one in the variable PORT, such as PORT=\d+\.\n$/,
    );
    const typed = await run("npm", ["run", "typecheck"], { cwd: project });
    expect(typed.ok, typed.stdout).toBe(true);
  });

  it("leaves a folder that is not empty unchanged, and says so in one line", async () => {
    mkdirSync(join(folder, "full"));
    writeFileSync(join(folder, "full/mine.txt"), "mine");
    const { ok, stderr } = await made("full");
    expect(ok).toBe(false);
    expect(stderr).toMatch(/^create-holdfast: \S+full is not empty\. Name a new folder: .+\n$/);
    expect(readdirSync(join(folder, "full"))).toEqual(["mine.txt"]);
  });

  it.each([
    [[]],
    [["a", "b"]],
    [["a", "--wibble"]],
    [["a", "--holdfast", "./none.tgz"]],
    ...["nope.tgz", "nope.tar", "nope.tar.gz"].map((file) => [["a", "--holdfast", file]]),
  ])("%j is one readable line", async (args) => {
    const { ok, stderr } = await made(...args);
    expect(ok).toBe(false);
    expect(stderr).toMatch(/^create-holdfast: .+\n$/);
    expect(existsSync(join(folder, "a"))).toBe(false);
  });

  it("asks for the versions that holdfast asks for", () => {
    const { holdfast, ...others } = template.dependencies;
    const ranges: Record<string, string> = { ...manifest.devDependencies, ...manifest.peerDependencies };
    expect([creator.version, holdfast]).toEqual([manifest.version, `^${manifest.version}`]);
    const wanted = Object.entries({ ...others, ...template.devDependencies });
    expect(wanted).toEqual(wanted.map(([name]) => [name, ranges[name]]));
  });
});
