import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { Client } from "@langchain/langgraph-sdk";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { run } from "../helpers/terminal/run-program.ts";

type Lock = { packages: Record<string, { version: string }> };

describe("the packed package", { timeout: 180_000 }, () => {
  let folder: string;
  let tarball: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-pack-"));
    // The build is done, and other tests are reading it: no lifecycle scripts.
    const packed = await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder]);
    if (!packed.ok) throw new Error(packed.stderr);
    tarball = join(folder, packed.stdout.trim());
  });

  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it("has nothing for publint to report", async () => {
    const data = new Uint8Array(readFileSync(tarball)).buffer;
    const { messages, pkg } = await publint({ pack: { tarball: data }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  it("has the page in it, as it goes to the browser", async () => {
    const { stdout } = await run("tar", ["-tf", tarball]);
    expect(stdout).toContain("package/dist/page/index.html\n");
    expect(stdout).toMatch(/package\/dist\/page\/assets\/index-[\w-]+\.js\n/);
  });

  it("has the sources that its maps lead to", async () => {
    const { stdout } = await run("tar", ["-tf", tarball]);
    const files = new Set(stdout.trimEnd().split("\n"));
    const maps = [...files].filter((file) => file.endsWith(".map"));
    expect(maps).toContain("package/dist/plan/index.d.ts.map");
    expect(maps).toContainEqual(expect.stringMatching(/\.js\.map$/));
    const sources = maps.flatMap((map) => {
      const parsed = JSON.parse(readFileSync(map.replace("package/", ""), "utf8")) as { sources: string[] };
      return parsed.sources.map((source) => posix.join(posix.dirname(map), source));
    });
    const missing = sources.filter((source) => source.startsWith("package/src/") && !files.has(source));
    expect(missing.filter((source) => !source.endsWith(".json"))).toEqual([]);
  });

  it("has every file that its pages link to", async () => {
    const { stdout } = await run("tar", ["-tf", tarball]);
    const files = stdout.trimEnd().split("\n");
    const missing = files
      .filter((page) => page.endsWith(".md"))
      .flatMap((page) => {
        const text = readFileSync(page.replace("package/", ""), "utf8").replaceAll(/^```[^]*?^```/gm, "");
        const links = [...text.matchAll(/\]\(([^)#\s]+)|\b(?:src|srcset)="([^"]+)"/g)];
        return links
          .map(([, link, picture]) => (link ?? picture)!)
          .filter((link) => !/^(?:[a-z]+:|\/)/.test(link))
          .map((link) => posix.join(posix.dirname(page), link))
          .filter((target) => !files.some((file) => file === target || file.startsWith(`${target}/`)))
          .map((target) => `${page} -> ${target}`);
      });
    expect(missing).toEqual([]);
  });

  it("has types that resolve for its consumers", async () => {
    const options = ["--profile", "node16", "--no-color"];
    const { ok, stdout } = await run("node_modules/.bin/attw", [tarball, ...options]);
    expect(ok, stdout).toBe(true);
  });

  it("has types that hold where a project checks its libraries", async () => {
    // Inside the repository, so that the package's name resolves to its built self.
    const project = mkdtempSync(".tmp-types-");
    try {
      const names = Object.keys(manifest.exports).filter((key) => !key.endsWith(".json"));
      const imports = names.map((subpath) => `import "${subpath.replace(".", manifest.name)}";`);
      writeFileSync(join(project, "all.ts"), imports.join("\n"));
      const compilerOptions = {
        module: "nodenext",
        target: "es2023",
        strict: true,
        skipLibCheck: false,
        noEmit: true,
      };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["all.ts"] }));
      // Each thread of the compiler would check for itself much of what the others check.
      const options = ["--pretty", "false", "--singleThreaded"];
      const { stdout } = await run("node_modules/.bin/tsc", ["-p", project, ...options]);
      // What other packages get wrong is not for this test to say.
      expect(stdout.split("\n").filter((line) => line.startsWith("dist/"))).toEqual([]);
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  it.each(["node16", "nodenext"])("has types for CommonJS, module %s", async (module) => {
    const project = mkdtempSync(".tmp-types-");
    try {
      const lines = [
        `import { createAgent } from "langchain";`,
        `import { planMiddleware, type PlanOptions } from "holdfast/middleware";`,
        `import agents = require("holdfast/deepagents");`,
        `const lean: PlanOptions = { preset: "lean" };`,
        `export const agent = createAgent({ model: "openai:gpt-5", middleware: [planMiddleware(lean)] });`,
        `export const fat = planMiddleware({ preset: "fat" });`,
        `export const files = new agents.FilesystemBackend({ rootDir: 1 });`,
      ];
      writeFileSync(join(project, "use.cts"), lines.join("\n"));
      const compilerOptions = { module, target: "es2023", strict: true, skipLibCheck: true, noEmit: true };
      writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.cts"] }));
      const { stdout } = await run("node_modules/.bin/tsc", [
        "-p",
        project,
        "--pretty",
        "false",
        "--singleThreaded",
      ]);
      const errors = stdout.split("\n").filter((line) => /^\S/.test(line));
      expect(errors).toEqual([
        expect.stringMatching(/use\.cts.*(?:'"fat"' is not assignable|No overload matches)/),
        expect.stringMatching(/use\.cts.*'number' is not assignable to type 'string'/),
      ]);
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  describe("installed into an empty project", () => {
    let cwd: string;
    let command: string;

    beforeAll(async () => {
      cwd = join(folder, "project");
      mkdirSync(cwd);
      writeFileSync(join(cwd, "package.json"), `{ "private": true }`);
      const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as Lock;
      // Without the optional ones: the package has to import where no provider is installed.
      const peers = Object.keys(manifest.peerDependencies)
        .filter((name) => !(name in manifest.peerDependenciesMeta))
        // What LangGraph brings along: a newer one need not go with the others.
        .concat("@langchain/langgraph-sdk")
        .map((name) => `${name}@${packages[`node_modules/${name}`]?.version}`);
      const flags = ["--no-audit", "--no-fund", "--prefer-offline"];
      const installed = await run("npm", ["install", ...flags, tarball, ...peers], { cwd });
      if (!installed.ok) throw new Error(installed.stderr);
      command = join(cwd, "node_modules/.bin/holdfast");
    });

    it("imports and requires by every subpath", async () => {
      const names = Object.keys(manifest.exports)
        .filter((key) => !key.endsWith(".json"))
        .map((subpath) => subpath.replace(".", manifest.name));
      const script = names
        .map((name) => `console.log(Object.keys(await import("${name}")).join());`)
        .join("");
      const imported = await run(process.execPath, ["--input-type=module", "-e", script], { cwd });
      expect(imported.ok, imported.stderr).toBe(true);
      const exported = imported.stdout.trimEnd().split("\n");
      expect(names.filter((_, at) => !exported[at])).toEqual([]);

      const required = await run(
        process.execPath,
        ["-e", names.map((name) => `console.log(Object.keys(require("${name}")).join());`).join("")],
        { cwd },
      );
      expect(required).toEqual(imported);
    });

    it("has a command with everything it needs: model clients, MCP and ACP", async () => {
      const env = { ...process.env, HOLDFAST_STATE: join(cwd, "threads.db"), HOLDFAST_MODEL: "offline" };
      const surveyed = await run(command, ["run", "--dir", ".", "--quiet", "Survey this directory"], {
        cwd,
        env,
      });
      expect(surveyed.ok, surveyed.stderr).toBe(true);
      expect(surveyed.stdout).toContain("survey.md");

      for (const name of ["acp", "mcp"]) {
        const served = spawn(command, [name], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
        const [said, [code]] = await Promise.all([textOf(served.stderr), once(served, "exit")]);
        expect({ code, said }, name).toEqual({ code: 0, said: "" });
      }
      const nowhere = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: "http://127.0.0.1:49151/v1" };
      const asked = await run(command, ["run", "--model", "openai:gpt-5.1", "Hello"], {
        cwd,
        env: { ...env, ...nowhere },
      });
      expect(asked.stderr + asked.stdout).not.toContain("npm install");
      expect(asked.stderr + asked.stdout).toContain("127.0.0.1:49151");
    });

    it("serves its page and runs a client's task, in an empty folder and without a key", async () => {
      const empty = join(folder, "empty");
      mkdirSync(empty);
      const served = spawn(command, ["serve", "--port", "0", "--model", "offline"], {
        cwd: empty,
        env: { PATH: process.env["PATH"], HOME: empty },
        stdio: ["ignore", "pipe", "pipe"],
      });
      const ended = once(served, "exit");
      try {
        const { url, token } = await addressOf(served);
        const page = await fetch(url);
        expect(page.status).toBe(200);
        const [script] = /assets\/index-[\w-]+\.js/.exec(await page.text()) ?? [];
        const code = await fetch(`${url}/${script}`);
        expect(code.status).toBe(200);
        const packed = readFileSync(join(cwd, "node_modules/holdfast/dist/page", script!), "utf8");
        expect(await code.text()).toBe(packed);

        const client = new Client({ apiUrl: url, apiKey: token, callerOptions: { maxRetries: 0 } });
        const input = { messages: [{ type: "human", content: "Survey this directory" }] };
        const { thread_id: thread } = await client.threads.create();
        const done = (await client.runs.wait(thread, "holdfast", { input })) as { messages: unknown[] };
        expect(JSON.stringify(done.messages.at(-1))).toContain("survey.md");
        expect((await client.threads.get(thread)).status).toBe("idle");
      } finally {
        served.kill("SIGINT");
        await ended;
      }
      expect(served.exitCode).toBe(0);
    });
  });
});

/** The address and the token that a server prints when it has started. */
function addressOf(served: ChildProcess): Promise<{ url: string; token: string }> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (text: Buffer): void => {
      output += text.toString();
      const [, url, token] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(output) ?? [];
      if (url && token) resolve({ url, token });
    };
    served.stdout!.on("data", read);
    served.stderr!.on("data", read);
    served.on("exit", () => reject(new Error(`The server ended: ${output}`)));
  });
}
