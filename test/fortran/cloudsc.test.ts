/*
 * CLOUDSC, the cloud scheme of ECMWF's forecasts: the loop of a driver for GPUs, which calls a routine of 2,600 lines with statement functions and
 * private arrays of run-time size, has gfortran's values on devices. ISOFORM_FORTRAN_CORPORA names a folder with a checkout as dwarf-p-cloudsc.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { evaluate } from "../../src/fortran/host/evaluate.js";
import type { FortranKernel } from "../../src/fortran/host/kernels.js";
import { fortran } from "../../src/fortran/index.js";
import { open, type View } from "../../src/index.js";
import { oneDevice } from "../devices.js";
import { sequence } from "../random/data.js";
import { needsGfortran } from "./gfortran.js";

const folder = join(process.env["ISOFORM_FORTRAN_CORPORA"] ?? "", "dwarf-p-cloudsc/src");
const DRIVER = "cloudsc_gpu/cloudsc_driver_gpu_scc_mod.F90";
/** What the loop uses, in the order of compilation. */
const MODULES = [
  ...["parkind1", "yomphyder", "yomcst", "yoethf", "yoecldp"].map((name) => `common/module/${name}.F90`),
  "cloudsc_gpu/cloudsc_gpu_scc_mod.F90",
];
const skip =
  needsGfortran.skip ||
  (existsSync(join(folder, DRIVER))
    ? false
    : "ISOFORM_FORTRAN_CORPORA names no folder with a checkout of ecmwf-ifs/dwarf-p-cloudsc as dwarf-p-cloudsc");
const DEVICES = oneDevice("all") === "all" ? ["js", "wasm", "native"] : [oneDevice("all")];
/** Where the device has functions of its own, such as exp; `native` has those of gfortran's library. */
const NEAR = 1e-13;

const read = (file: string): string => readFileSync(join(folder, file), "utf8");
const include = (name: string): string => {
  const file = join(folder, "common/include", name);
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

/** Sizes, the level where clouds begin, and constants of the module's names. */
const INTEGERS: Readonly<Record<string, number>> = { nproma: 4, nlev: 15, ngptot: 10, ngpblks: 3, nclv: 5, yrecldp_ncldtop: 2 };
const [RD, RV, RCPD, RLVTT, RLSTT] = [287.06, 461.5, 1004.7, 2.5008e6, 2.8345e6];
const REALS: Readonly<Record<string, number>> = {
  rg: 9.80665,
  rd: RD,
  rv: RV,
  rcpd: RCPD,
  retv: RV / RD - 1,
  rlvtt: RLVTT,
  rlstt: RLSTT,
  rlmlt: RLSTT - RLVTT,
  rtt: 273.16,
  r2es: (611.21 * RD) / RV,
  r3les: 17.502,
  r3ies: 22.587,
  r4les: 32.19,
  r4ies: -0.7,
  r5les: 4217.5,
  r5ies: 6185.7,
  r5alvcp: 1.05e7,
  r5alscp: 1.75e7,
  ralvdcp: RLVTT / RCPD,
  ralsdcp: RLSTT / RCPD,
  ralfdcp: (RLSTT - RLVTT) / RCPD,
  rtwat: 273.16,
  rtice: 250.16,
  rticecu: 250.16,
  rtwat_rtice_r: 1 / 23,
  rtwat_rticecu_r: 1 / 23,
  rkoop1: 2.583,
  rkoop2: 0.0048116,
  ptsphy: 3600,
};
/** Reals lie between two numbers, by beginnings of their names; levels of pressure increase downwards. */
const RANGES: readonly (readonly [RegExp, low: number, high: number])[] = [
  [/^pt$/, 230, 295],
  [/^pq$/, 1e-5, 0.01],
  [/^(plsm|pa|pcovptot)$/, 0, 1],
  [/^p(ccn|nice|re_ice)$/, 10, 100],
  [/^(pvervel|phrsw|phrlw|pdyn.|pvf.|buffer_.*)$/, -1e-6, 1e-6],
  [/yrecldp_(rcl_|ramid|rclcrit|rkconv)/, 0.01, 0.11],
  [/yrecldp_/, 0.1, 1],
  [/./, 0, 1e-4],
];

interface Held {
  readonly param: string;
  readonly name: string;
  readonly type: "f64" | "i32" | "bool";
  readonly module: string | undefined;
  readonly extents?: readonly number[];
  readonly data: Float64Array | Int32Array;
}

/** Values of all that the loop uses: scalars first. */
function valuesFor({ lowered: { sources } }: FortranKernel): Held[] {
  const random = sequence(1);
  const scalars = new Map<string, number>();
  const known = { param: (param: string) => scalars.get(param)!, extent: () => NaN, element: () => NaN };
  const value = (name: string, type: Held["type"]): number => {
    const [, low, high] = RANGES.find(([names]) => names.test(name))!;
    const own = name.replace(/^local_/, "");
    if (type === "bool") return Math.floor(2 * random());
    if (type === "i32") return INTEGERS[own] ?? 1;
    return REALS[own] ?? low + (high - low) * random();
  };
  return [...sources]
    .sort(([, a], [, b]) => Number(a.variable.dims !== undefined) - Number(b.variable.dims !== undefined))
    .map(([param, { name, variable, extents: declared }]): Held => {
      const type = variable.type as Held["type"];
      const module = variable.scope.unit.kind === "module" ? variable.scope.unit.name : undefined;
      const extents = declared?.map((extent) => Number(evaluate(extent!, known)));
      const size = extents?.reduce((a, b) => a * b, 1) ?? 1;
      const [row, levels] = extents ?? [1, 1];
      const at = (n: number): number =>
        /^paph?$/.test(name) ? 1e4 + 6e3 * (Math.floor(n / row) % levels) + (name === "pap" ? 3e3 : 0) : value(name, type);
      const values = Array.from({ length: size }, (_, n) => at(n));
      const data = type === "f64" ? Float64Array.from(values) : Int32Array.from(values);
      if (!extents) scalars.set(param, data[0]);
      return { param, name, type, module, ...(extents && { extents }), data };
    });
}

const TYPES = { f64: "real(8)", i32: "integer", bool: "logical" };
const isParameter = ({ name }: Held): boolean => name.startsWith("local_yrecldp_");
const isResult = (held: Held): boolean => held.extents !== undefined && held.type === "f64" && !isParameter(held);

/** A program with the driver's loop, which reads all values and writes the arrays. */
function programOf(held: readonly Held[]): string {
  const lines = read(DRIVER).split("\n");
  const first = lines.findIndex((line) => line.trim().startsWith("DO JKGLO=1"));
  const last = lines.findIndex((line, n) => n > first && line.trim() === "ENDDO");
  const inModules = held.filter((each) => each.module !== undefined && !isParameter(each));
  const own = held.filter((each) => each.module === undefined && !isParameter(each));
  const target = ({ name }: Held): string => name.replace("local_yrecldp_", "local_yrecldp%");
  const shape = ({ extents }: Held): string => (extents ? `(${extents.join(",")})` : "");
  return `program run
use yoecldp, only: tecldp
use cloudsc_gpu_scc_mod, only: cloudsc_scc
${inModules.map(({ module, name }) => `use ${module}, only: ${name}`).join("\n")}
implicit none
integer :: jkglo, ibl, icend
type(tecldp) :: local_yrecldp
${own.map((each) => `${TYPES[each.type]} :: ${each.name}${shape(each)}`).join("\n")}
${held
  .filter(({ type }) => type === "bool")
  .map((each) => `integer :: as_${each.name}${shape(each)}`)
  .join("\n")}
open(10, file='in', access='stream', form='unformatted')
${held.map((each) => (each.type === "bool" ? `read(10) as_${each.name}\n${target(each)} = as_${each.name} /= 0` : `read(10) ${target(each)}`)).join("\n")}
${lines.slice(first, last + 1).join("\n")}
open(11, file='out', access='stream', form='unformatted')
${held
  .filter(isResult)
  .map(({ name }) => `write(11) ${name}`)
  .join("\n")}
end program
`;
}

/** Modules can read their values from files, which is not asked for. */
const FILES = `module file_io_mod
interface load_scalar
  module procedure integers, reals, logicals
end interface
interface load_array
  module procedure arrays
end interface
contains
subroutine integers(name, x)
  character(*) :: name
  integer :: x
end subroutine
subroutine reals(name, x)
  character(*) :: name
  real(8) :: x
end subroutine
subroutine logicals(name, x)
  character(*) :: name
  logical :: x
end subroutine
subroutine arrays(name, a, b, c, d, x)
  character(*) :: name
  integer :: a, b, c, d
  real(8) :: x(:)
end subroutine
end module
`;

function byGfortran(held: readonly Held[]): Float64Array {
  const place = mkdtempSync(join(tmpdir(), "isoform-cloudsc-"));
  try {
    writeFileSync(join(place, "files.F90"), FILES);
    writeFileSync(join(place, "run.F90"), programOf(held));
    writeFileSync(join(place, "in"), Buffer.concat(held.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))));
    const [kinds, ...others] = MODULES.map((file) => join(folder, file));
    const flags = ["-O2", "-ffp-contract=off", "-w", "-ffree-line-length-none", `-I${join(folder, "common/include")}`];
    const stdio = ["ignore", "ignore", "pipe"] as const;
    execFileSync("gfortran", [...flags, kinds, "files.F90", ...others, "run.F90", "-o", "run"], { cwd: place, stdio: [...stdio] });
    execFileSync(join(place, "run"), { cwd: place, stdio: [...stdio] });
    return new Float64Array(Uint8Array.from(readFileSync(join(place, "out"))).buffer);
  } finally {
    rmSync(place, { recursive: true });
  }
}

async function onDevice(kernel: FortranKernel, held: readonly Held[], name: string): Promise<number[]> {
  const device = await open(name);
  try {
    device.precision = "strict";
    const args: Record<string, number | boolean | View> = {};
    for (const { param, type, extents, data } of held) {
      if (extents) args[param] = device.from({ type: type === "f64" ? "f64" : "i32" }, data, [...extents].reverse());
      else args[param] = type === "bool" ? data[0] !== 0 : data[0];
    }
    await device.run(kernel, { ...args, ...kernel.rows(device, args) }, kernel.range(args));
    const found: number[] = [];
    for (const { param } of held.filter(isResult)) found.push(...(await device.queue.read(args[param] as View)));
    return found;
  } finally {
    await device.close();
  }
}

describe("CLOUDSC", { skip }, () => {
  it("has gfortran's values", async () => {
    const hosts = MODULES.map((file) => ({ file, text: read(file) }));
    const code = fortran(read(DRIVER), { file: DRIVER, partial: true, define: { _OPENACC: true }, hosts, include });
    const kernel = code.kernels.get("cloudsc_driver_gpu_scc")!;
    const held = valuesFor(kernel);
    const expected = byGfortran(held);
    const before = held.filter(isResult).flatMap(({ data }) => [...data]);
    const changed = before.filter((value, n) => !Object.is(value, expected[n])).length;
    assert.ok(changed > before.length / 4 && expected.every(Number.isFinite), `${changed} of ${before.length} values change`);
    for (const name of DEVICES) {
      const found = await onDevice(kernel, held, name);
      const worst = found.reduce(
        (most, value, n) => Math.max(most, Object.is(value, expected[n]) ? 0 : Math.abs(value / expected[n] - 1)),
        0,
      );
      assert.ok(worst <= (name === "native" ? 0 : NEAR), `${name} differs by ${worst}`);
      console.log(`${name}: ${changed} values change, and differ from gfortran's by ${worst} at most`);
    }
  });
});
