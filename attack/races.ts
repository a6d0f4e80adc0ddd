import { spawn, type ChildProcess } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Disk } from "../src/files/disk/disk.ts";
import { SearchPass } from "../src/files/search/search-pass.ts";
import { chance, type Attack } from "./attack.ts";

/** In the contents and the names of everything outside. */
const SECRET = "canary";

/**
 * Another process swaps folders and files for links to the outside, as fast as it can, while a disk backend works
 * there, every second time as on a system that cannot hold folders by descriptor. A failure is something from outside
 * in an answer, a change outside, or an exception.
 */
export const races: Attack = {
  name: "races",
  async run({ seed, tries = 12_000 }) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-races-")));
    const [root, outside] = [join(base, "root"), join(base, "outside")];
    for (const folder of [join(root, "a"), outside]) mkdirSync(join(folder, "b"), { recursive: true });
    const before = build(outside);
    const disks = [false, undefined].map((descriptors) => new Disk(root, {}, descriptors));
    const random = chance(seed);
    const counts = { reads: 0, writes: 0, thrown: 0, refused: 0 };
    const swapper = startSwapping(join(root, "a"), outside);
    try {
      for (let n = 0; n < tries; n += 1) {
        const act = ACTS[Math.floor(random() * ACTS.length)]!;
        const answer = await act(disks[n % 2]!, n % 20).then(JSON.stringify, () => "thrown");
        if (answer === "thrown") counts.thrown += 1;
        if (answer.includes(SECRET)) counts.reads += 1;
        if (answer.includes('"ok":false')) counts.refused += 1;
        if (picture(outside) === before) continue;
        counts.writes += 1;
        build(outside);
      }
    } finally {
      await end(swapper);
      rmSync(base, { recursive: true });
    }
    const { reads, writes, thrown, refused } = counts;
    const notes = `${reads} reads and ${writes} writes outside; ${thrown} thrown, ${refused} refused`;
    return { tries, failures: reads + writes + thrown, notes };
  },
};

/** What is tried, with a number for names. No argument has the secret in it. */
const ACTS: readonly ((disk: Disk, n: number) => Promise<unknown>)[] = [
  (disk) => disk.read("/a/b/file.txt"),
  (disk) => disk.read("/a/file.txt"),
  (disk) => disk.write("/a/b/file.txt", "inside"),
  (disk, n) => disk.write(`/a/b/${n}.txt`, "inside"),
  (disk, n) => disk.write(`/a/b/${n}/file.txt`, "inside"),
  (disk) => disk.swap("/a/b/file.txt", "inside", "INSIDE"),
  (disk) => disk.delete("/a/b/file.txt"),
  (disk) => disk.list("/a/b"),
  (disk) => allOf(disk.walk("/", { names: [], pass: new SearchPass() })),
];

async function allOf(paths: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const path of paths) all.push(path);
  return all;
}

/** Makes everything outside as it was in the beginning. */
function build(outside: string): string {
  for (const folder of [outside, join(outside, "b")]) {
    for (const entry of readdirSync(folder)) {
      if (entry !== "b") rmSync(join(folder, entry), { recursive: true });
    }
    for (const name of ["file.txt", `${SECRET}.txt`]) writeFileSync(join(folder, name), SECRET);
  }
  return picture(outside);
}

/** All names and contents in a folder. */
function picture(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name) + (entry.isFile() ? textOf(entry) : "/"))
    .toSorted()
    .join("\n");
}

function textOf({ parentPath, name }: { parentPath: string; name: string }): string {
  return ` ${readFileSync(join(parentPath, name), "utf8")}`;
}

/** Swaps a folder, the folder `b` in it and the file in that for links, in turn, for as long as we are there. */
function startSwapping(folder: string, outside: string): ChildProcess {
  const script = `
    const fs = require("node:fs");
    const quietly = (act) => { try { act(); return true; } catch { return false; } };
    const [folder, outside] = process.argv.slice(1);
    const places = ["", "/b", "", "/b/file.txt"];
    const parent = process.ppid;
    for (let n = 0; process.ppid === parent; n += 1) {
      const [path, target] = [folder, outside].map((front) => front + places[n % places.length]);
      if (n % 1000 === 999) quietly(() => fs.writeFileSync(folder + "/b/file.txt", "inside", { flag: "wx" }));
      if (!quietly(() => fs.renameSync(path, folder + "-parked"))) continue;
      quietly(() => fs.symlinkSync(target, path));
      // The backend may have made something there meanwhile, and fill it.
      do quietly(() => fs.rmSync(path, { recursive: true }));
      while (!quietly(() => fs.renameSync(folder + "-parked", path)));
    }`;
  return spawn(process.execPath, ["-e", script, folder, outside], { stdio: "ignore" });
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
}
