import { spawnSync } from "node:child_process";
import { HarnessError } from "../../../errors.ts";
import { hostProgram } from "../../programs/index.ts";

/** System calls that isolated commands may not use, with their numbers on x64 and arm64. */
const DENIED: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
  // Memory of other processes. `ptrace` is allowed for debuggers: only the command's processes are visible.
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  // The kernel's keys have no namespace.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Parts of the kernel that most sandbox escapes have used, and that builds and tests do not need.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  open_by_handle_at: [304, 265],
  // Mounts, also in namespaces that a command creates.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  setns: [308, 268],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  syslog: [103, 116],
};
const IOCTL = [16, 29] as const;
/** Requests that type into the terminal of the caller. */
const IOCTLS = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c };

/** The architecture's audit number in the kernel, and its column in the tables. */
const MACHINES: Readonly<Record<string, readonly [audit: number, column: 0 | 1]>> = {
  x64: [0xc000003e, 0],
  arm64: [0xc00000b7, 1],
};

const [LOAD, EQUAL, AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const ALLOW = 0x7fff0000;
const [EPERM, ENOSYS] = [0x00050001, 0x00050026];
/** Offsets in the kernel's `seccomp_data`: the number, the architecture, and the low half of the second argument. */
const [NUMBER, ARCHITECTURE, SECOND] = [0, 4, 24];
/** The first number of the x32 system calls. */
const X32 = 0x40000000;

type Instruction = readonly [code: number, value: number, yes?: number, no?: number];

/** The filter as a BPF program; undefined for an unsupported architecture. */
export function systemCallFilter(architecture: string = process.arch): Buffer | undefined {
  const machine = MACHINES[architecture];
  if (!machine) return undefined;
  const [audit, column] = machine;
  const numbers = Object.values(DENIED).map((one) => one[column]);
  const ioctls = Object.values(IOCTLS);
  const tail: Instruction[] = [
    [EQUAL, IOCTL[column], 1, 0],
    [RETURN, ALLOW],
    [LOAD, SECOND],
    ...ioctls.map((one, at): Instruction => [EQUAL, one, ioctls.length - at, 0]),
    [RETURN, ALLOW],
    [RETURN, EPERM],
  ];
  const denials = numbers.map((one, at): Instruction => [
    EQUAL,
    one,
    numbers.length + tail.length - at - 2,
    0,
  ]);
  const program: Instruction[] = [
    // Programs of another architecture have other numbers and are refused.
    [LOAD, ARCHITECTURE],
    [EQUAL, audit, 1, 0],
    [RETURN, ENOSYS],
    [LOAD, NUMBER],
    [AT_LEAST, X32, 0, 1],
    [RETURN, ENOSYS],
    ...denials,
    ...tail,
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [at, [code, value, yes = 0, no = 0]] of program.entries()) {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(yes, at * 8 + 2);
    bytes.writeUInt8(no, at * 8 + 3);
    bytes.writeUInt32LE(value, at * 8 + 4);
  }
  return bytes;
}

/** The words that start bubblewrap, by the path of the program. */
const starts = new Map<string, readonly string[]>();

/**
 * The words that start bubblewrap, with the filter where the kernel supports one. The filter is piped in, so it needs
 * neither a file nor support from the program that runs the words. Throws if there is no bubblewrap.
 */
export function bubblewrap(trial: readonly string[]): readonly string[] {
  const program = hostProgram("bwrap");
  if (program === undefined) throw new HarnessError("missing-setting", "There is no bubblewrap on PATH.");
  const known = starts.get(program) ?? startOf(program, trial);
  starts.set(program, known);
  return known;
}

function startOf(program: string, trial: readonly string[]): readonly string[] {
  const filter = systemCallFilter();
  if (!filter) return [program];
  const octal = [...filter].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  const script = `printf '${octal}' | { exec 9<&0 </dev/null; exec "$0" --seccomp 9 "$@"; }`;
  const filtered = ["/bin/sh", "-c", script, program];
  return isFiltered(filtered, trial) ? filtered : [program];
}

/** The time limit of a check of the system. Generous, as a busy machine must not lose its isolation. */
export const TRIAL_MS = 60_000;

/** Tries whether the filter is active for a command that these words start. */
export function isFiltered([program = "", ...start]: readonly string[], trial: readonly string[]): boolean {
  // The shell itself reads the file: the trial depends on no other program.
  const script =
    'while read -r name value; do [ "$name $value" = "Seccomp: 2" ] && echo 1; done < /proc/self/status';
  const { stdout } = spawnSync(program, [...start, ...trial, "/bin/sh", "-c", script], {
    encoding: "utf8",
    timeout: TRIAL_MS,
  });
  return stdout === "1\n";
}
