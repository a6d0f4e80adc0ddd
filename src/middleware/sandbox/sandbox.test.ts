import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { afterAll, describe, expect, it } from "vitest";
import { canIsolate } from "../../../scripts/bubblewrap.mjs";
import { stateFiles } from "../../files/backends/state.ts";
import { bubblewrapWorks } from "../../files/shell/isolation/bubblewrap.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { threadFolders } from "../thread-data/index.ts";
import { localSandboxProvider, sandboxMiddleware, type SandboxProvider } from "./index.ts";

const baseDir = mkdtempSync(join(tmpdir(), "holdfast-sandbox-"));
afterAll(() => rmSync(baseDir, { recursive: true }));
const go = { messages: [new HumanMessage("go")] };

/** A provider that counts. */
function counting() {
  const counts = { acquired: 0, released: 0 };
  const provider: SandboxProvider = {
    name: "counting",
    acquire: ({ threadId }) => {
      counts.acquired += 1;
      return Promise.resolve({ id: threadId, isolation: "none", backend: stateFiles({ "/a.md": threadId }) });
    },
    release: () => {
      counts.released += 1;
      return Promise.resolve();
    },
  };
  return { provider, counts };
}

async function run(steps: Step[], provider: SandboxProvider, thread_id: string): Promise<string[]> {
  const agent = createAgent({
    model: new ScriptedModel(steps),
    middleware: [sandboxMiddleware({ provider, baseDir })],
  });
  const { messages } = await agent.invoke(go, { configurable: { thread_id } });
  return messages.filter((message) => ToolMessage.isInstance(message)).map((message) => message.text);
}

describe("a sandbox", () => {
  it("is acquired when a tool first needs it, once, and released when the run ends", async () => {
    const { provider, counts } = counting();
    await run(["hi"], provider, "idle");
    expect(counts).toEqual({ acquired: 0, released: 0 });
    const read = callTool("read_file", { file_path: "/a.md" });
    const replies = await run([[read, read], read, "ok"], provider, "busy");
    expect(replies).toEqual(Array.from({ length: 3 }, () => "     1\tbusy"));
    expect(counts).toEqual({ acquired: 1, released: 1 });
  });

  it("is reported to the model as an error when unavailable, and requested again", async () => {
    let tries = 0;
    const provider: SandboxProvider = {
      ...counting().provider,
      acquire: () => Promise.reject(new Error(`no room ${++tries}`)),
    };
    const agent = createAgent({
      model: new ScriptedModel([callTool("ls", {}), callTool("ls", {}), "ok"]),
      middleware: [sandboxMiddleware({ provider, baseDir, resultLimit: false })],
    });
    const { messages } = await agent.invoke(go, { configurable: { thread_id: "x" } });
    const errors = messages
      .filter((message) => ToolMessage.isInstance(message))
      .map((message) => message.text);
    expect(errors[0]).toContain("no room 1");
    expect(errors[1]).toContain("no room 2");
  });

  for (const bubblewrap of bubblewrapWorks() ? (["auto", "never"] as const) : (["never"] as const)) {
    it(`on this machine has virtual paths and isolation (bubblewrap ${bubblewrap})`, async () => {
      const provider = localSandboxProvider({ bubblewrap });
      const folders = threadFolders(baseDir, `local-${bubblewrap}`);
      const { backend, isolation } = await provider.acquire({ threadId: "local", folders });
      await backend.write("/mnt/user-data/uploads/in.txt", "it's here\n");
      const result = await backend.execute!(
        "cat /mnt/user-data/uploads/in.txt > ../outputs/out.txt; pwd; ls /root",
      );
      expect(result.ok && result.output).toMatch(/^\/mnt\/user-data\/workspace\n/);
      expect(await backend.read("/mnt/user-data/outputs/out.txt")).toEqual({
        ok: true,
        content: "it's here\n",
      });
      expect(isolation).toMatch(bubblewrap === "never" ? /^none: commands run as this user/ : /^bubblewrap/);
      // Where namespaces isolate it, the host's folders are not there at all.
      const hidden = result.ok && result.output.includes("cannot access '/root'");
      expect(hidden).toBe(bubblewrap === "auto");
      expect((await backend.write("/etc/x", "no")).ok).toBe(false);
    });
  }

  it.runIf(canIsolate())("on this machine cannot take its bounds away, not as root either", async () => {
    const folders = threadFolders(baseDir, "bounds");
    const { backend } = await localSandboxProvider().acquire({ threadId: "bounds", folders });
    const result = await backend.execute!(
      "grep CapEff /proc/self/status; mount -o remount,rw,bind /usr && echo writable",
    );
    expect(result.ok && result.output).toMatch(/CapEff:\s+0{16}\n/);
    expect(result.ok && result.output).not.toContain("writable");
  });

  it.runIf(canIsolate())("on this machine cannot write the machine's settings, even as root", async () => {
    const folders = threadFolders(baseDir, "settings");
    const { backend } = await localSandboxProvider().acquire({ threadId: "settings", folders });
    // It only looks: whatever could be written here acts outside.
    const result = await backend.execute!(
      "find /proc /sys -path '/proc/[0-9]*' -prune -o ! -type l -writable -print 2>/dev/null; test -r /proc/sys/kernel/ostype && echo looked",
    );
    expect(result).toMatchObject({ ok: true, output: "looked\n" });
  });

  it("runs no command where nothing isolates it, and keeps its files", () => {
    const program = `import { localSandboxProvider } from "./src/middleware/sandbox/local.ts";
      const folders = ${JSON.stringify(threadFolders(baseDir, "closed"))};
      const { backend, isolation } = await localSandboxProvider().acquire({ threadId: "closed", folders });
      const written = await backend.write("/mnt/user-data/workspace/a.txt", "a");
      console.log(JSON.stringify([isolation, written, await backend.execute("echo ran > b.txt")]));`;
    const args = ["--import", "tsx", "--input-type=module", "-e", program];
    const { stdout } = spawnSync(process.execPath, args, { encoding: "utf8", env: { PATH: "/nowhere" } });
    const [isolation, written, executed] = JSON.parse(stdout) as unknown[];
    expect(isolation).toBe("none: commands are refused");
    expect(written).toMatchObject({ ok: true });
    expect(executed).toMatchObject({
      ok: false,
      error: expect.stringContaining("apt-get install bubblewrap") as string,
    });
  });

  it.each([
    ["auto", "You work in a sandbox."],
    ["never", "Commands run on the user's machine with the user's rights"],
  ] as const)("tells the model the truth about it (bubblewrap %s)", async (bubblewrap, sentence) => {
    const model = new ScriptedModel(["ok"]);
    const provider = localSandboxProvider({ bubblewrap });
    await createAgent({ model, middleware: [sandboxMiddleware({ provider, baseDir })] }).invoke(go);
    expect(model.requests[0]!.messages[0]!.text).toContain(sentence);
  });

  it("keeps hostile thread ids inside the base folder and apart from each other", () => {
    const ids = [
      "../../etc",
      "..",
      "/",
      "a/b",
      "a_b",
      "a",
      "A",
      "h-" + "0".repeat(40),
      "x".repeat(500),
      "nul\0byte",
      "$(touch x)",
      "\u001B]0;title\u0007",
      "\u202Etxt",
      "ü",
      "",
    ];
    const roots = ids.map((id) => threadFolders(baseDir, id).workspace);
    expect(new Set(roots).size).toBe(ids.length);
    for (const root of roots) expect(root.startsWith(`${baseDir}/`) && !root.includes("..")).toBe(true);
    for (const entry of readdirSync(baseDir)) expect(entry).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
  });

  it("works in a folder with spaces and quotes in its name", async () => {
    const odd = join(baseDir, `it's "my" $HOME \`folder\` & more`);
    const provider = localSandboxProvider({ bubblewrap: "never" });
    const sandbox = await provider.acquire({ threadId: "odd", folders: threadFolders(odd, "odd") });
    const { backend } = sandbox;
    await backend.write("/mnt/user-data/uploads/in.txt", "here\n");
    const output = async (command: string): Promise<string | false> => {
      const result = await backend.execute!(command);
      return result.ok && result.output;
    };
    expect(await output("pwd; cat /mnt/user-data/uploads/in.txt")).toBe("/mnt/user-data/workspace\nhere\n");
    expect(await output(`cat "/mnt/user-data/uploads/in.txt" '/mnt/user-data/uploads/in.txt'`)).toBe(
      "here\nhere\n",
    );
    expect(await output("cat > /mnt/user-data/outputs/a.txt <<END\n/mnt/user-data/uploads\nEND")).toBe("");
    expect(await output("echo `ls /mnt/user-data` /mnt/user-data-2; ls /mnt/user-data>list; cat<list")).toBe(
      "outputs uploads workspace /mnt/user-data-2\noutputs\nuploads\nworkspace\n",
    );
    expect(await output("cat /mnt/user-data/outputs/a.txt; cd /mnt/user-data/outputs && pwd && ls")).toBe(
      "/mnt/user-data/uploads\n/mnt/user-data/outputs\na.txt\n",
    );
    const listed = await backend.list("/mnt/user-data/outputs");
    expect(listed.ok && listed.entries.map(({ name }) => name)).toEqual(["a.txt"]);
    await provider.release(sandbox);
    expect(await output("ls /mnt/user-data/uploads")).toMatch(/No such file/i);
  });
});
