import { expect, it } from "vitest";
import { inPipes } from "../../../../test/helpers/terminal/piped-command.ts";
import { onPlatform } from "../../../../test/helpers/terminal/platform.ts";

const printed = async (platform: NodeJS.Platform, env: Record<string, string>, ...args: string[]) =>
  onPlatform(platform, () => inPipes(["completion", ...args], { cwd: "/", env: { HOME: "/", ...env } }));

it.each([
  ["bash", "linux", {}],
  ["zsh", "darwin", { SHELL: "/bin/zsh" }],
  ["fish", "linux", { SHELL: "/usr/bin/fish" }],
  ["PowerShell", "win32", {}],
  ["bash", "win32", { SHELL: "/usr/bin/bash" }],
] as const)("completion without a name is for %s on %s with %j", async (shell, platform, env) => {
  const { code, out } = await printed(platform, env);
  expect(code).toBe(0);
  expect(out).toContain(`# Completion of holdfast for ${shell}: `);
});

it.each(["bash", "zsh", "fish", "powershell"])(
  "the script for %s asks holdfast for the words",
  async (shell) => {
    const { out } = await printed("linux", {}, shell);
    expect(out).toContain("holdfast --complete ");
    expect(out).toContain(":files");
    // No variable of the shell was taken for one of ours.
    expect(out).not.toContain("undefined");
  },
);

it.each([
  [["run", "--agent", ""], ":files\n"],
  [["serve", "--port", ""], ""],
  [["serve", "--token", "a", "--dir", ""], ":folders\n"],
])("completion after %j offers the flag's values and nothing else", async (words, offered) => {
  const { code, out } = await inPipes(["--complete", ...words], { cwd: "/", env: { HOME: "/" } });
  expect({ code, out }).toEqual({ code: 0, out: offered });
});
