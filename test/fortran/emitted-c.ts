/* A device whose launches call the C that kernels are written as: routines run as elsewhere, and each loop by its function in C. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import koffi from "koffi";
import type { fortran } from "../../src/fortran/index.js";
import type { ReductionOp } from "../../src/fortran/tree/index.js";
import type { Device, View } from "../../src/index.js";

type Code = ReturnType<typeof fortran>;
type Launch = {
  readonly call: (...args: unknown[]) => number;
  readonly parameters: readonly { readonly type: string; readonly name: string }[];
};

const ARRAYS = { double: Float64Array, float: Float32Array, int32_t: Int32Array, uint8_t: Uint8Array } as const;
/** How a result and the value from before the loop become one; a logical value is 0 or 1. */
const FOLDS: Partial<Record<ReductionOp, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  ".or.": Math.max,
  ".and.": Math.min,
  ieor: (a, b) => a ^ b,
};

/** The functions of kernels, by the kernels' names. */
async function launchesOf(code: Code, folder: string): Promise<Map<string, Launch>> {
  const { files } = await code.emit("c");
  for (const { name, text } of files) writeFileSync(join(folder, name), text);
  const flags = ["-std=gnu11", "-O1", "-fwrapv", "-ffp-contract=off", "-fopenmp", "-shared", "-fPIC"];
  execFileSync("gcc", [...flags, ...files.map(({ name }) => name), "-o", "loops.so", "-lm"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const library = koffi.load(join(folder, "loops.so"));
  return new Map(
    files.map(({ kernel, text }) => {
      const [, name, list] = /^int (\w+_launch)\(([^)]*)\)/m.exec(text)!;
      const parameters = list.split(",").map((each) => {
        const [, type, own] = /^\s*(.*?)\s*(\w+)\s*$/s.exec(each)!;
        return { type, name: own.replace(/_$/, "") };
      });
      const types = parameters.map(({ type }) => (type.includes("*") ? "void *" : type));
      return [kernel, { call: library.func(name, "int", types), parameters }];
    }),
  );
}

/** Runs one kernel. `trips`: the elements along each axis. */
async function run(device: Device, { call, parameters }: Launch, args: Readonly<Record<string, unknown>>, trips: readonly number[]) {
  const given: unknown[] = [];
  const arrays: { readonly view: View; readonly data: ArrayBufferView }[] = [];
  const results = new Map<string, Float64Array | Float32Array | Int32Array | Uint8Array>();
  let axis = 0;
  for (const { type, name } of parameters) {
    const [, of, what, axisOf] = /^(\w+)_(extent|stride)(\d)$/.exec(name) ?? [];
    const value = args[name];
    if (of !== undefined) given.push((args[of] as View)[what === "extent" ? "shape" : "strides"][Number(axisOf)]);
    else if (name.endsWith("_begin")) given.push(0);
    else if (name.endsWith("_end")) given.push(trips[axis++]);
    else if (!type.includes("*")) given.push(value);
    else if (typeof value === "object") {
      const data = await device.queue.read(value as View);
      arrays.push({ view: value as View, data });
      given.push(data);
    } else {
      const made = new ARRAYS[/\w+_t|double|float/.exec(type)![0] as keyof typeof ARRAYS](1);
      results.set(name, made);
      given.push(made);
    }
  }
  if (call(...given) !== 0) throw new Error("there is no memory for partial results");
  for (const { view, data } of arrays) await device.queue.write(view, data as Float64Array);
  return results;
}

/**
 * Calls `use` with a device on which the kernels of `code` run as C. Results are combined with the values from before the loop, as the comment in the
 * emitted file says.
 */
export async function withEmittedC<T>(code: Code, memory: Device, use: (device: Device) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "isoform-c-"));
  try {
    const launches = await launchesOf(code, folder);
    const launched: Device["run"] = async (kernel, args, policy) => {
      const found = launches.get(kernel.name);
      // Statements of the host that use elements of arrays are no loops of the program.
      if (!code.kernels.has(kernel.name)) return memory.run(kernel, args, policy);
      if (!found || !("extents" in policy)) throw new Error(`${kernel.name} is not in the emitted files`);
      const given = args as Record<string, unknown>;
      const results = await run(memory, found, given, policy.extents);
      const all = Object.fromEntries([...results].map(([name, [made]]) => [name, made]));
      for (const { param, op } of code.kernels.get(kernel.name)!.lowered.outcomes)
        if (op && given[param] !== undefined) all[param] = FOLDS[op]!(Number(given[param]), all[param]);
      return all as never;
    };
    return await use(
      new Proxy(memory, {
        get(target, key) {
          if (key === "run") return launched;
          const value: unknown = Reflect.get(target, key, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}
