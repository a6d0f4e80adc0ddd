// Keeps a PostgreSQL for the process that has forked this one, and ends it with that process, however that ends: the
// channel between the two closes. Says "ready" after each start, or else what went wrong.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [binaries, port, password] = process.argv.slice(2);
const { initdb, postgres } = await import(binaries);
const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
const data = join(folder, "data");
const user = ordinaryUser();
const settings = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=200",
  "shared_buffers=32MB",
  "fsync=off",
];
const READY = "database system is ready to accept connections";

let restarting = false;
let server;
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.on("disconnect", () => (server ? server.kill("SIGQUIT") : process.exit()));
process.on("message", () => {
  restarting = true;
  server.kill("SIGINT");
});

try {
  initialise();
  start();
} catch (error) {
  fail(String(error));
}

function initialise() {
  const secret = join(folder, "password");
  writeFileSync(secret, `${password}\n`);
  if (user) for (const path of [folder, secret]) chownSync(path, user.uid, user.gid);
  const login = ["--username=postgres", `--pwfile=${secret}`, "--auth=scram-sha-256"];
  const form = ["--encoding=UTF8", "--locale=C", "--no-sync"];
  execFileSync(initdb, [`--pgdata=${data}`, ...login, ...form], { ...user, stdio: "pipe" });
}

function start() {
  let said = "";
  let isReady = false;
  const args = ["-D", data, "-p", port, ...settings.flatMap((setting) => ["-c", setting])];
  server = spawn(postgres, args, { ...user, stdio: ["ignore", "ignore", "pipe"] });
  server.stderr.setEncoding("utf8").on("data", (text) => {
    if (isReady) return;
    said += text;
    isReady = said.includes(READY);
    if (isReady) process.send("ready");
  });
  server.on("error", (error) => fail(String(error)));
  server.on("close", () => {
    if (!process.connected) process.exit();
    if (!restarting) return fail(said);
    restarting = false;
    start();
  });
}

function fail(why) {
  process.send(why, () => process.exit(1));
}

/** PostgreSQL does not run as root. */
function ordinaryUser() {
  if (process.getuid?.() !== 0) return undefined;
  const id = (which) => Number(execFileSync("id", [which, "nobody"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}
