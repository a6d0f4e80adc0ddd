// Finds out whether the tests of isolated commands can run, and installs what they need in CI where it is missing.
import { execSync, spawnSync } from "node:child_process";

/** Whether commands can be isolated here. In CI a missing bubblewrap is an error; one that may not work is said. */
export function canIsolate() {
  if (process.platform !== "linux") return false;
  if (isMissing()) {
    if (process.env.CI) throw new Error("The tests of isolated commands need bubblewrap: install it.");
    return false;
  }
  const { status, stderr } = spawnSync("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], {
    encoding: "utf8",
  });
  if (status !== 0) {
    console.warn(`Commands cannot be isolated on this machine, so that is not tested: ${stderr.trim()}`);
  }
  return status === 0;
}

/** Sees to it that there is a bubblewrap, where that is possible. */
export function installBubblewrap() {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !isMissing()) return;
  console.log("Installing bubblewrap (apt-get)");
  execSync("apt-get update -qq && apt-get install -y -qq --no-install-recommends bubblewrap", {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

function isMissing() {
  return spawnSync("bwrap", ["--version"], { stdio: "ignore" }).error !== undefined;
}
