/** `spawn` of Node that finds scripts such as `npx.cmd` on Windows and quotes their arguments. */
declare module "cross-spawn" {
  import type { spawn } from "node:child_process";
  const crossSpawn: typeof spawn;
  export = crossSpawn;
}
