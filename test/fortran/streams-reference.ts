/* Runs STREAmS-2's own CPU kernels, compiled by gfortran, on cases: a program that reads arguments from a file and writes them back. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dummiesOf, entryPoints, type Case } from "./streams-cases.js";
import { streamsFile } from "./streams.js";

/** Stands in for the module of kinds, which needs MPI. */
export const PARAMETERS = `
module streams_parameters
  use, intrinsic :: iso_fortran_env, only : int32, int64, real32, real64
  implicit none
  integer, parameter :: rkind = real64, ikind = int32
end module
`;

/** A call is the entry point (64 characters), then each argument: of an array the bounds, then its elements. */
function driver(streams: boolean): string {
  const entries = entryPoints();
  const calls = entries.map(({ unit: { name } }) => `    case ('${name}'); call call_${name}()`);
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
    const isStream = (name: string): boolean => streams && name === "stream_id";
    const given = dummies.map(({ name: a }) => (isStream(a) ? "c_null_ptr" : `a_${a}`)).join(", &\n      ");
    const written = dummies.map(({ name: a }) => `    write(11) a_${a}`);
    return [`  subroutine call_${name}()`, ...declared, ...read, `    call ${name}(${given})`, ...written, "  end subroutine"].join("\n");
  });
  return `program driver
  use streams_kernels_cpu
  use, intrinsic :: iso_c_binding, only : c_null_ptr
  implicit none
  character(len=64) :: entry
  integer(4) :: status, b(2,7)
  open(10, file='in', access='stream', form='unformatted', status='old')
  open(11, file='out', access='stream', form='unformatted', status='replace')
  do
    read(10, iostat=status) entry
    if (status /= 0) exit
    select case (trim(entry))
${calls.join("\n")}
    end select
  end do
contains
${wrappers.join("\n")}
end program
`;
}

type Values = Float64Array | Int32Array;

/** A call as the program reads it. */
export function callBytes({ entry, args }: Case): Buffer {
  const bytes = (list: Values): Buffer => Buffer.from(list.buffer, list.byteOffset, list.byteLength);
  return Buffer.concat([
    Buffer.from(entry.padEnd(64)),
    ...args.flatMap(({ bounds, data }) => [...(bounds ? [bytes(Int32Array.from(bounds.flat()))] : []), bytes(data)]),
  ]);
}

export class Reference {
  private readonly folder = mkdtempSync(join(tmpdir(), "isoform-streams-"));

  /** @param kernels the files with the kernels, `streams` whether streams are pointers, as in ports to HIP */
  constructor(kernels: readonly string[] = [streamsFile("singleideal/kernels_cpu.F90")], more: readonly string[] = [], streams = false) {
    writeFileSync(join(this.folder, "parameters.F90"), PARAMETERS);
    writeFileSync(join(this.folder, "driver.F90"), driver(streams));
    const flags = ["-cpp", "-w", "-ffree-line-length-none", "-ffp-contract=off"];
    const files = ["parameters.F90", ...kernels, "driver.F90"];
    execFileSync("gfortran", [...flags, ...more, "-O1", ...files, "-lstdc++", "-o", "driver"], {
      cwd: this.folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
  }

  /** All arguments after each of the calls. */
  run(cases: readonly Case[], env: Readonly<Record<string, string>> = {}): Values[][] {
    writeFileSync(join(this.folder, "in"), Buffer.concat(cases.map(callBytes)));
    execFileSync(join(this.folder, "driver"), [], {
      cwd: this.folder,
      env: { ...process.env, OMP_NUM_THREADS: "4", ...env },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const out = readFileSync(join(this.folder, "out"));
    let at = out.byteOffset;
    return cases.map(({ args }) =>
      args.map(({ data }) => {
        const own = out.buffer.slice(at, (at += data.byteLength));
        return data instanceof Int32Array ? new Int32Array(own) : new Float64Array(own);
      }),
    );
  }

  close(): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** The greatest difference of two arrays over the magnitude of the first; 0 where all bits are the same. */
export function difference(expected: ArrayLike<number>, b: ArrayLike<number>): number {
  const a = Array.from(expected);
  if (a.every((value, n) => Object.is(value, b[n]))) return 0;
  const scale = a.reduce((most, value) => Math.max(most, Math.abs(value) || 0), Number.MIN_VALUE);
  let worst = Number.MIN_VALUE;
  a.forEach((value, n) => {
    const by = Math.abs(value - b[n]) / scale;
    if (!Object.is(value, b[n]) && !(by <= worst)) worst = by;
  });
  return worst;
}
