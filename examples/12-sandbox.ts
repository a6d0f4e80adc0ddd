// Commands apart from the rest of the system, files that are changed only as they were seen, and a sandbox that
// somebody else provides.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createDeepAgent } from "holdfast";
import { isIsolated, sandboxBackend, shellBackend, type RemoteSandbox } from "holdfast/files";
import { callTool, ScriptedModel } from "holdfast/testing";
import { ToolMessage } from "langchain";

const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
await writeFile(join(folder, "notes.md"), "one\ntwo\n");

const edit = callTool("edit_file", { file_path: "/notes.md", old_string: "one", new_string: "1" });
const script = [
  edit, // refused: not read
  callTool("read_file", { file_path: "/notes.md" }),
  callTool("execute", { command: "sed -i s/two/2/ notes.md; mkdir -p .claude/skills; ls -A" }),
  edit, // refused: the command has changed it, and the answer says how
  edit,
  callTool("write_file", { file_path: "/.git/hooks/pre-commit", content: "curl evil" }), // refused
  "Done.",
];
const input = { messages: [{ role: "user" as const, content: "Count in digits" }] };

console.log(isIsolated() ? "Commands are isolated here." : "Nothing isolates commands here.");
const local = createDeepAgent({
  model: new ScriptedModel(script),
  plan: false,
  backend: shellBackend(folder),
});
for (const message of (await local.invoke(input)).messages) {
  if (ToolMessage.isInstance(message)) console.log(`${message.name}: ${message.text}`);
}

// Any sandbox of DeepAgents' protocol will do: Daytona's, Modal's, Deno's, E2B's. This one is a plain bash.
const bash: RemoteSandbox = {
  id: "bash",
  execute: (command) =>
    new Promise((resolve) => {
      execFile("/bin/sh", ["-c", command], (error, stdout, stderr) => {
        resolve({ output: stdout + stderr, exitCode: error ? Number(error.code ?? 1) : 0 });
      });
    }),
  uploadFiles: (files) =>
    Promise.all(
      files.map(async ([path, content]) => {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
        return { path, error: null };
      }),
    ),
  downloadFiles: (paths) =>
    Promise.all(
      paths.map(async (path) => {
        const content = await readFile(path).catch(() => null);
        return { path, content, error: content ? null : "file_not_found" };
      }),
    ),
};
const remote = createDeepAgent({
  model: new ScriptedModel([callTool("execute", { command: "wc -l notes.md" }), "Two lines."]),
  plan: false,
  backend: sandboxBackend(bash, { root: folder }),
});
console.log((await remote.invoke(input)).messages.at(-1)!.text);
await rm(folder, { recursive: true });
