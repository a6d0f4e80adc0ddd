import { execFile } from "node:child_process";

/** Variables that programs need to start on Windows. Their names may be in any case. */
export const WINDOWS_VARIABLES: readonly string[] = [
  "APPDATA",
  "COMSPEC",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
];

/** The words that run a command in Windows PowerShell, which is always installed. Keeps the last exit code. */
export function powerShellWords(command: string): string[] {
  const script = [
    "$ProgressPreference = 'SilentlyContinue'",
    "[Console]::OutputEncoding = [Text.Encoding]::UTF8",
    command,
    "if ($?) { exit 0 }; if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1",
  ].join("\n");
  // Encoded, so that quotes and line breaks need no escaping.
  const encoded = Buffer.from(script, "utf16le").toString("base64");
  const flags = ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text"];
  return ["powershell.exe", ...flags, "-EncodedCommand", encoded];
}

/** Kills a running process and its descendants. Windows has no process groups. */
export function endTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    execFile("taskkill", ["/PID", String(pid), "/T", "/F"], { windowsHide: true }, () => resolve());
  });
}
