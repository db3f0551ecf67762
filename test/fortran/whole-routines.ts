/* Runs whole routines with their directives by gfortran and by Isoform: all that a caller sees afterwards is compared. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { fortran } from "../../src/fortran/index.js";
import { f64, i32, type Device } from "../../src/index.js";
import { picks } from "../soak/mutate.js";
import { randomLaunching } from "./random-launches.js";
import { randomRoutine, SIGNATURE, STATE } from "./random-routines.js";

/** A module with routines over the same arguments. */
export interface Routines {
  readonly text: string;
  readonly names: readonly string[];
  /** Text of each routine, with the procedures that are its own. */
  readonly parts: ReadonlyMap<string, string>;
  readonly n: number;
}

/** What each routine is given: `x` has whole numbers, `k` each of 1 to n once. */
interface Inputs {
  readonly x: Float64Array;
  readonly k: Int32Array;
}

export const randomRoutines = (seed: number, count: number): Routines => {
  const pick = picks(seed);
  const n = 4 + pick(30);
  return routinesOf(new Map(namesOf(count).map((name) => [name, randomRoutine(name, n, pick)])), n);
};

/** Kernels of CUDA Fortran with launches, and the same as plain Fortran. */
export function randomLaunches(seed: number, count: number): { readonly cuda: Routines; readonly plain: Routines } {
  const pick = picks(seed);
  const n = 4 + pick(30);
  const made = namesOf(count).map((name) => ({ name, ...randomLaunching(name, pick) }));
  return {
    cuda: routinesOf(new Map(made.map(({ name, cuda }) => [name, cuda])), n),
    plain: routinesOf(new Map(made.map(({ name, plain }) => [name, plain])), n),
  };
}

const namesOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `r${at}`);

function routinesOf(parts: ReadonlyMap<string, string>, n: number): Routines {
  const text = `${STATE}module fixtures\n  implicit none\ncontains\n${[...parts.values()].join("\n")}\nend module\n`;
  return { text, names: [...parts.keys()], parts, n };
}

/** Some of the routines. */
export const onlyRoutines = ({ parts, n }: Routines, names: readonly string[]): Routines =>
  routinesOf(new Map(names.map((name) => [name, parts.get(name)!])), n);

const inputsOf = ({ n }: Routines): Inputs => {
  const pick = picks(n);
  const k = Int32Array.from({ length: n }, (_, at) => at + 1);
  for (let at = n - 1; at > 0; at--) {
    const other = pick(at + 1);
    [k[at], k[other]] = [k[other], k[at]];
  }
  return { x: Float64Array.from({ length: n }, () => pick(13) - 6), k };
};

/** What a routine leaves: y, seen, and the scalars of the caller and of the module. */
export type Outcome = readonly number[];
const SEEN = 8;
const SCALARS = ["di", "dr", "dq", "mi", "mr", "mq"] as const;
const BEFORE = { di: 7, dr: 8, dq: true, mi: 1, mr: 2, mq: true } as const;

const programOf = ({ names, n }: Routines): string => `program run
  use state
  use fixtures
  implicit none
  integer :: k(${n}), di
  real(8) :: x(${n}), y(${n}), seen(${SEEN}), dr
  logical :: dq
  open(10, file='in', access='stream', form='unformatted')
  read(10) x
  read(10) k
  open(11, file='out', access='stream', form='unformatted')
${names
  .map(
    (name) => `  y = 0
  seen = 0
  di = 7
  dr = 8
  dq = .true.
  mi = 1
  mr = 2
  mq = .true.
  call ${name}(${SIGNATURE.replace("n,", `${n},`)})
  write(11) y, seen, real(di, 8), dr, merge(1._8, 0._8, dq), real(mi, 8), mr, merge(1._8, 0._8, mq)`,
  )
  .join("\n")}
end program
`;

/** A port of routines: its text, words for the compiler besides, and what the program finds in its environment. */
interface Ported {
  readonly text: string;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What gfortran makes of the routines, or of a port of theirs. */
export function byGfortran(routines: Routines, { text, words = [], env: given }: Ported = routines): Outcome[] {
  const folder = mkdtempSync(join(tmpdir(), "isoform-routines-"));
  try {
    const { n, names } = routines;
    const { x, k } = inputsOf(routines);
    writeFileSync(join(folder, "run.f90"), text + programOf(routines));
    writeFileSync(join(folder, "in"), Buffer.concat([Buffer.from(x.buffer), Buffer.from(k.buffer)]));
    const flags = ["-O0", "-ffp-contract=off", "-ffree-line-length-none", "-w", "-fopenacc", "-fopenmp"];
    execFileSync("gfortran", [...flags, "run.f90", ...words, "-o", "run"], { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    const env = { ...process.env, OMP_NUM_THREADS: "2", ...given };
    execFileSync(join(folder, "run"), [], { cwd: folder, env, stdio: ["ignore", "ignore", "pipe"], timeout: 300_000 });
    const bytes = readFileSync(join(folder, "out"));
    const width = n + SEEN + SCALARS.length;
    const all = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    return names.map((_, at) => [...all.subarray(at * width, (at + 1) * width)]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What one of the routines leaves on a device. */
export async function byIsoform(code: ReturnType<typeof fortran>, routines: Routines, name: string, device: Device): Promise<Outcome> {
  const { x, k } = inputsOf(routines);
  const arrays = { x: device.from(f64, x), k: device.from(i32, k), y: device.array(f64, routines.n), seen: device.array(f64, SEEN) };
  try {
    const left = { ...BEFORE, ...(await code.routine(name).run(device, { n: routines.n, ...arrays, ...BEFORE })) };
    return [
      ...(await device.queue.read(arrays.y)),
      ...(await device.queue.read(arrays.seen)),
      ...SCALARS.map((each) => Number(left[each])),
    ];
  } finally {
    for (const view of Object.values(arrays)) view.free();
  }
}

/** The text of one routine, for messages. */
export const routineText = ({ text }: Pick<Routines, "text">, name: string): string =>
  new RegExp(`  subroutine ${name}\\(.*?end subroutine`, "s").exec(text)![0];

/** Where two outcomes differ, or undefined. */
export function differenceOf(expected: Outcome, found: Outcome, { n }: Routines): string | undefined {
  const at = expected.findIndex((value, index) => !Object.is(value, found[index]) && value !== found[index]);
  if (at < 0) return undefined;
  const what = at < n ? `y(${at + 1})` : at < n + SEEN ? `seen(${at - n + 1})` : SCALARS[at - n - SEEN];
  return `${what} is ${found[at]}, and gfortran gives ${expected[at]}`;
}
