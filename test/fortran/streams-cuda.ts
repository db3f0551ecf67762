import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { loadKoffi, type Koffi } from "../../src/device/ffi.js";
import { NO_SETTINGS } from "../../src/fortran/port/settings.js";
import { portCppSources } from "../../src/fortran/port/cpp/sources.js";
import { fortran, type FortranCode } from "../../src/fortran/index.js";
import { f64, i32, open, type Device, type Launch, type View } from "../../src/index.js";
import { median } from "../../src/portability/index.js";
import { streamsCases, type Case } from "./streams-cases.js";
import { streamsText } from "./streams.js";

/*
 * Kernels of STREAmS-2 on a GPU: compiled at run time by the device, by turns with CUDA C++ that nvcc compiled, in seconds of a launch.
 * The C++ is what `isoform port --to cuda` writes, with blocks of several shapes, of which the fastest counts.
 *   ISOFORM_STREAMS=STREAmS-2/code/src node dist/test/fortran/streams-cuda.js --libraries FOLDER [--cells 256x160x192] [--rounds 7] [--only TEXT] [--json F]
 * Libraries that the folder lacks are compiled into it; `--only-compile` ends then.
 */

const { values: options } = parseArgs({
  options: {
    libraries: { type: "string", default: "cuda-libraries" },
    cells: { type: "string", default: "256x160x192" },
    rounds: { type: "string", default: "7" },
    only: { type: "string", default: "" },
    "only-compile": { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const [nx, ny, nz] = options.cells.split("x").map(Number);
/** Seconds that a sample takes at least. */
const SAMPLE = 0.05;
const CASES = [
  "update_flux_subroutine",
  "euler_y_update_subroutine",
  "compute_residual_subroutine",
  "visflx_subroutine",
  "euler_y_hybrid_kernel sensor_threshold=2",
  "euler_y_hybrid_kernel",
  "euler_x_fluxes_hybrid_kernel sensor_threshold=2",
  "euler_x_fluxes_hybrid_kernel",
];
const KINDS = { rkind: "f64", ikind: "i32" } as const;
const SHAPES = ["64x4", "32x4", "128x1", "32x8"];
const kernelFile = { file: "kernels_gpu.F90", text: streamsText("singleideal/kernels_gpu.F90") };

const [header, text] = ported();

function ported(): [header: string, kernels: string] {
  const files = portCppSources([kernelFile], { targets: ["cuda"], settings: { ...NO_SETTINGS, kinds: KINDS } });
  const of = (end: string): string => files.find(({ name }) => name.endsWith(end))!.text;
  return [of(".h"), of(".cu")];
}

const libraryOf = (shape: string, fmad: boolean): string => join(options.libraries, `kernels-${shape}-${fmad ? "fast" : "strict"}.so`);

async function compileLibraries(): Promise<void> {
  mkdirSync(options.libraries, { recursive: true });
  writeFileSync(join(options.libraries, "isoform_fortran.h"), header);
  const jobs = SHAPES.flatMap((shape) => {
    const [x, y] = shape.split("x");
    const file = join(options.libraries, `kernels-${shape}.cu`);
    const blocks = text
      .replaceAll(/f::blocks\((\w+), 64\), f::blocks\((\w+), 4\)/g, `f::blocks($1, ${x}), f::blocks($2, ${y})`)
      .replaceAll("dim3(64, 4)", `dim3(${x}, ${y})`)
      .replaceAll("__launch_bounds__(256)", `__launch_bounds__(${Math.max(256, Number(x) * Number(y))})`);
    writeFileSync(file, blocks);
    return [true, false]
      .filter((fmad) => !existsSync(libraryOf(shape, fmad)))
      .map((fmad) => {
        const flags = [
          "-std=c++17",
          "-O3",
          `-fmad=${fmad}`,
          "-arch=sm_90",
          "-shared",
          "-Xcompiler",
          "-fPIC",
          file,
          "-o",
          libraryOf(shape, fmad),
        ];
        return promisify(execFile)("nvcc", flags);
      });
  });
  await Promise.all(jobs);
}

interface Timed {
  readonly name: string;
  run(times: number): Promise<void>;
}

/** The arguments of a case in the device's memory, by the names of the GPU's routine. */
function argumentsOf(device: Device, code: FortranCode, { entry, args }: Case) {
  const name = entry.replace(/_subroutine(?=_\d+$|$)/, "_cuf").replace(/_cpu$/, "_gpu");
  const routine = code.routine(code.routines.includes(name) ? name : entry);
  const given: Record<string, number | View> = {};
  args.forEach(({ bounds, data }, n) => {
    const shape = bounds?.map(([low, high]) => high - low + 1).reverse();
    given[routine.arguments[n]] = shape ? device.from(data instanceof Int32Array ? i32 : f64, data, shape) : data[0];
  });
  return { routine, given };
}

/** The launch that a routine of one loop makes, and its arguments, to which the host adds scalars. */
async function launchOf(device: Device, code: FortranCode, one: Case, given: Readonly<Record<string, number | View>>, options: object) {
  const { routine } = argumentsOf(device, code, { ...one, args: [] });
  let made: { launch: Launch; args: Readonly<Record<string, unknown>> } | undefined;
  const spy = Object.create(device, {
    run: {
      value: async (...[kernel, args, policy]: Parameters<Device["run"]>) => {
        const launch = device.prepare(kernel, args, policy, options);
        made = { launch, args };
        device.queue.submit(launch);
        return device.queue.results(launch);
      },
    },
  }) as Device;
  await routine.run(spy, given);
  return made!;
}

function own(name: string, device: Device, launch: Launch): Timed {
  const reduces = launch.kernel.ir!.params.some(({ kind }) => kind === "reduce");
  return {
    name,
    async run(times) {
      for (let n = 0; n < times; n++) {
        device.queue.submit(launch);
        if (reduces) await device.queue.results(launch);
      }
      await device.queue.finish();
    },
  };
}

/** The function in the library that launches the same loop. */
function launcher(koffi: Koffi, device: Device, file: string, name: string, given: Readonly<Record<string, unknown>>): Timed {
  const [, list] = new RegExp(`extern "C" void ${name}_launch_\\(([^)]*)\\)`).exec(text)!;
  const pointer = ({ buffer, offset }: View): bigint => BigInt((buffer as unknown as { address: number }).address + 8 * offset);
  const declared: string[] = [];
  const values: unknown[] = [];
  for (const part of list.split(", ")) {
    const param = part.split(/[ *]/).at(-1)!;
    const extent = /^(.*)_extent(\d)_$/.exec(param);
    const array = /^(.*)_data_$/.exec(param);
    declared.push(part.includes("*") || part.includes("cudaStream_t") ? "int64_t" : part.includes("double") ? "double" : "int");
    if (part.includes("cudaStream_t")) values.push(0n);
    else if (extent) values.push((given[extent[1]] as View).shape.at(-Number(extent[2]))!);
    else if (array) values.push(pointer(given[array[1]] as View));
    else if (part.includes("*")) {
      declared[declared.length - 1] = "double *";
      values.push(new Float64Array(1));
    } else values.push(given[param] as number);
  }
  const library = koffi.load(file);
  const call = library.func(`void ${name}_launch_(${declared.join(", ")})`);
  return {
    name: file,
    async run(times) {
      for (let n = 0; n < times; n++) call(...values);
      // The queue's stream is in order with the null stream.
      await device.queue.record().done();
    },
  };
}

async function compare(koffi: Koffi, device: Device, one: Case, fmad: boolean, codes: Readonly<Record<string, FortranCode>>) {
  const precision = fmad ? "fast" : "strict";
  const { routine, given } = argumentsOf(device, codes["device"], one);
  const timed: Timed[] = [];
  const remarks: Record<string, readonly string[]> = {};
  let passed: Readonly<Record<string, unknown>> = given;
  for (const [name, code] of Object.entries(codes))
    for (const checked of fmad ? [false] : [false, true]) {
      try {
        const { launch, args } = await launchOf(device, code, one, given, { precision, checked });
        passed = { ...given, ...args };
        const title = checked ? `${name}, checked` : name;
        timed.push(own(title, device, launch));
        remarks[title] = launch.remarks;
      } catch (error) {
        console.log(`  ${name}: ${(error as Error).message.split("\n")[0]}`);
      }
    }
  for (const shape of SHAPES) timed.push(launcher(koffi, device, libraryOf(shape, fmad), routine.name, passed));
  const times: number[] = [];
  for (const variant of timed) {
    await variant.run(1);
    const start = performance.now();
    await variant.run(3);
    times.push(Math.max(1, Math.ceil(SAMPLE / ((performance.now() - start) / 3000))));
  }
  const samples = timed.map((): number[] => []);
  for (let round = 0; round < Number(options.rounds); round++)
    for (const [n, variant] of timed.entries()) {
      const start = performance.now();
      await variant.run(times[n]);
      samples[n].push((performance.now() - start) / 1000 / times[n]);
    }
  for (const value of Object.values(given)) if (typeof value !== "number") value.free();
  const seconds = Object.fromEntries(timed.map(({ name }, n) => [name.split("/").at(-1)!, median(samples[n])]));
  const hand = Math.min(...timed.flatMap(({ name }, n) => (name.endsWith(".so") ? [median(samples[n])] : [])));
  console.log(`${one.id}, ${precision}: nvcc ${(1e3 * hand).toFixed(4)} ms`);
  for (const [name, value] of Object.entries(seconds))
    console.log(`  ${name.padEnd(30)} ${(1e3 * value).toFixed(4)} ms  ${(hand / value).toFixed(3)}  ${remarks[name]?.join("; ") ?? ""}`);
  return { loop: one.id, precision, handWritten: hand, seconds };
}

await compileLibraries();
if (!options["only-compile"]) {
  const koffi = await loadKoffi();
  if (!koffi) throw new Error("koffi is not installed: npm install koffi");
  const device = await open("cuda");
  try {
    const plain = { file: kernelFile.file, kinds: KINDS };
    const ORDER = { idx: ["k", "j", "i"] };
    const codes = {
      device: fortran(kernelFile.text, plain),
      "device, loops in parallel": fortran(kernelFile.text, {
        ...plain,
        loops: { euler_x_fluxes_hybrid_kernel: ORDER, euler_y_hybrid_kernel: ORDER },
      }),
    };
    const sizes = { nx, ny, nz, nzmax: nz, itr2: ny - 4, its2: ny - 4 };
    const rows = [];
    for (const id of CASES.filter((each) => each.includes(options.only))) {
      const [one] = streamsCases(sizes, (each) => each === id);
      const own = id.startsWith("euler") && !id.includes("update") ? codes : { device: codes.device };
      for (const fmad of [false, true]) rows.push(await compare(koffi, device, one, fmad, own));
    }
    if (options.json !== undefined) {
      mkdirSync(dirname(options.json), { recursive: true });
      writeFileSync(options.json, `${JSON.stringify({ device: device.label, cells: [nx, ny, nz], rows }, null, 1)}\n`);
    }
  } finally {
    await device.close();
  }
}
