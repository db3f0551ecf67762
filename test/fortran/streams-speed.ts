import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { f64, i32, open, type View } from "../../src/index.js";
import { fortran } from "../../src/fortran/index.js";
import { median } from "../../src/portability/index.js";
import { dummiesOf, entryPoints, streamsCases, type Case } from "./streams-cases.js";
import { callBytes, PARAMETERS } from "./streams-reference.js";
import { streamsFile, streamsText } from "./streams.js";

/*
 * The costliest routines of STREAmS-2: its CUDA Fortran as kernels of a device, by turns with its own CPU Fortran by gfortran -O3 -march=native, in
 * processor time of a call.
 *   ISOFORM_STREAMS=STREAmS-2/code/src ISOFORM_THREADS=1 node dist/test/fortran/streams-speed.js [--device native] [--cells 64x48x64] [--routines 20] [--rounds 7]
 *     [--only NAME,NAME] [--json F]
 */

const { values: options } = parseArgs({
  options: {
    device: { type: "string", default: "native" },
    cells: { type: "string", default: "64x48x64" },
    routines: { type: "string", default: "20" },
    rounds: { type: "string", default: "7" },
    only: { type: "string" },
    json: { type: "string" },
  },
});
const [nx, ny, nz] = options.cells.split("x").map(Number);
/** Seconds that a sample takes at least. */
const SAMPLE = 0.1;

const folder = mkdtempSync(join(tmpdir(), "isoform-fortran-"));
const reference = join(folder, "reference");

/** A program that reads the arguments of a call, and for each number on its input calls as often and tells the seconds that took. */
function program(): string {
  const entries = entryPoints();
  const wrappers = entries.map((scope) => {
    const { name } = scope.unit;
    const dummies = dummiesOf(scope);
    const declared = dummies.map(({ name: a, type, dims }) => {
      const shape = dims ? `, allocatable, dimension(${dims.map(() => ":").join(",")})` : "";
      return `    ${type === "i32" ? "integer(4)" : "real(8)"}${shape} :: a_${a}`;
    });
    const read = dummies.flatMap(({ name: a, dims }) => {
      const bounds = dims?.map((_, d) => `b(1,${d + 1}):b(2,${d + 1})`).join(",");
      return [...(dims ? [`    read(10) b(:,1:${dims.length})`, `    allocate(a_${a}(${bounds}))`] : []), `    read(10) a_${a}`];
    });
    const call = `      call ${name}(${dummies.map(({ name: a }) => `&\n        a_${a}`).join(", ")})`;
    const timed = [
      "    do",
      "      read(*,*,iostat=status) reps",
      "      if (status /= 0) exit",
      "      call cpu_time(t0)",
      "      do rep = 1, reps",
    ];
    const told = [
      "      end do",
      "      call cpu_time(t1)",
      "      write(*,'(a,es16.8)') 'seconds', (t1-t0)/reps",
      "      flush(6)",
      "    end do",
    ];
    return [`  subroutine call_${name}()`, ...declared, ...read, ...timed, call, ...told, "  end subroutine"].join("\n");
  });
  return `program timed
  use streams_kernels_cpu
  implicit none
  character(len=64) :: entry
  character(len=1024) :: file
  integer(4) :: status, b(2,7), reps, rep
  real(8) :: t0, t1
  call get_command_argument(1, file)
  open(10, file=trim(file), access='stream', form='unformatted', status='old')
  read(10) entry
  select case (trim(entry))
${entries.map(({ unit: { name } }) => `    case ('${name}'); call call_${name}()`).join("\n")}
  end select
contains
${wrappers.join("\n")}
end program
`;
}

/** A call of the original, which waits for its next measurement. */
class Original {
  private readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;
  constructor(one: Case) {
    const input = join(folder, "in");
    writeFileSync(input, callBytes(one));
    this.child = spawn(reference, [input], { stdio: ["pipe", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout! })[Symbol.asyncIterator]();
  }
  /** Seconds of a call. */
  async time(calls: number): Promise<number> {
    this.child.stdin!.write(`${calls}\n`);
    // Other lines are prints of the routine.
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done) throw new Error("the original ended");
      if (value.startsWith("seconds")) return Number(value.slice("seconds".length));
    }
  }
  /** What the last call still prints nobody reads: the program would wait for that. */
  close(): void {
    this.child.kill();
  }
}

const device = await open(options.device);
/** As in the CPU's file, the loop that a thread of a GPU walks along stands outside. */
const ORDER = { idx: ["k", "j", "i"] };
const EULER = [
  "x_fluxes_hybrid",
  "x_fluxes_hybrid_c2",
  "x_fluxes_hybrid_rusanov",
  "y_hybrid",
  "y_hybrid_c2",
  "y_hybrid_rusanov",
  "z_hybrid",
  "z_hybrid_rusanov",
].map((name) => `euler_${name}_kernel`);
const code = fortran(streamsText("singleideal/kernels_gpu.F90"), {
  file: "kernels_gpu.F90",
  kinds: { rkind: "f64", ikind: "i32" },
  loops: Object.fromEntries(EULER.map((name) => [name, ORDER])),
});

/** A call of the routine that stands for a CPU's. */
function ours({ entry, args }: Case) {
  const name = entry.replace(/_subroutine(?=_\d+$|$)/, "_cuf").replace(/_cpu$/, "_gpu");
  const routine = code.routine(code.routines.includes(name) ? name : entry);
  const given: Record<string, number | View> = {};
  args.forEach(({ bounds, data }, n) => {
    const shape = bounds?.map(([low, high]) => high - low + 1).reverse();
    given[routine.arguments[n]] = shape ? device.from(data instanceof Int32Array ? i32 : f64, data, shape) : data[0];
  });
  return {
    async time(calls: number): Promise<number> {
      const before = process.cpuUsage();
      for (let n = 0; n < calls; n++) await routine.run(device, given);
      await device.queue.finish();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1e6 / calls;
    },
    close() {
      for (const value of Object.values(given)) if (typeof value !== "number") value.free();
    },
  };
}

try {
  writeFileSync(join(folder, "parameters.F90"), PARAMETERS);
  writeFileSync(join(folder, "timed.F90"), program());
  const flags = ["-cpp", "-w", "-ffree-line-length-none", "-O3", "-march=native"];
  execFileSync("gfortran", [...flags, "parameters.F90", streamsFile("singleideal/kernels_cpu.F90"), "timed.F90", "-o", reference], {
    cwd: folder,
  });

  const only = options.only?.split(",");
  const cases = streamsCases({ nx, ny, nz, nzmax: nz, itr2: ny - 4, its2: ny - 4 }, (id) => {
    const [entry, variant] = id.split(" ");
    return (variant ?? "sensor_threshold=2") === "sensor_threshold=2" && (only ?? [entry]).some((name) => entry.includes(name));
  });
  const costs: { one: Case; seconds: number }[] = [];
  for (const one of cases) {
    const original = new Original(one);
    await original.time(1);
    costs.push({ one, seconds: await original.time(2) });
    original.close();
  }
  const chosen = costs.sort((a, b) => b.seconds - a.seconds).slice(0, Number(options.routines));
  const rows: { routine: string; original: number; own: number; ratio: number }[] = [];
  for (const { one, seconds } of chosen) {
    const [original, own] = [new Original(one), ours(one)];
    await own.time(3); // compiles
    const callsFor = (each: number): number => Math.max(1, Math.ceil(SAMPLE / each));
    const [calls, ownCalls] = [callsFor(seconds), callsFor(await own.time(callsFor(seconds)))];
    const samples: [number, number][] = [];
    for (let round = 0; round < Number(options.rounds); round++) samples.push([await original.time(calls), await own.time(ownCalls)]);
    original.close();
    own.close();
    const row = {
      routine: one.id,
      original: median(samples.map(([a]) => a)),
      own: median(samples.map(([, b]) => b)),
      ratio: median(samples.map(([a, b]) => a / b)),
    };
    rows.push(row);
    console.log(
      `${row.routine.padEnd(40)} ${(1e3 * row.original).toFixed(3)} ms ${(1e3 * row.own).toFixed(3)} ms  ${row.ratio.toFixed(2)}`,
    );
  }
  const mean = Math.exp(rows.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / rows.length);
  console.log(`geometric mean ${mean.toFixed(3)}, least ${Math.min(...rows.map(({ ratio }) => ratio)).toFixed(2)}`);
  if (options.json !== undefined) {
    mkdirSync(dirname(options.json), { recursive: true });
    const about = {
      cpu: cpus()[0].model,
      node: process.version,
      device: options.device,
      threads: process.env["ISOFORM_THREADS"],
      cells: [nx, ny, nz],
    };
    writeFileSync(
      options.json,
      `${JSON.stringify({ ...about, original: `gfortran ${flags.slice(3).join(" ")}`, geometricMean: mean, rows }, null, 1)}\n`,
    );
  }
} finally {
  await device.close();
  rmSync(folder, { recursive: true });
}
