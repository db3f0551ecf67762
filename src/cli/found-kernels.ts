import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { contiguousRows, cubicSizes, stemOf } from "../emit/standalone/index.js";
import type { Precision } from "../ir/launch.js";
import { ELEMENTS, isWide } from "../ir/scalars.js";
import type { ScalarType } from "../ir/types.js";
import { compileKernel, relaxedKernel } from "../kernel/compile.js";
import { IsoformError } from "../base/errors.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import type { SkeletonModule, Storage } from "../skeleton/settings.js";
import type { ProblemOptions } from "../portability/application.js";
import type { Registered } from "./commands.js";
import type { FoundKernel } from "./observed-launches.js";

export interface FindOptions extends Storage {
  readonly precision: Precision;
  /** Values of `fixed` parameters, by name, as texts. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Cells along each axis of an application's grid; indices along each axis of a kernel's arrays, where the target compiles them in. */
  readonly size: number;
  /** Bounds of a kernel's range, where the target compiles them in. Default: all indices. */
  readonly range?: readonly (readonly [begin: number, end: number])[];
  /** One of the forms of an application with several. Default: the first. */
  readonly form?: string;
  /** Unknowns of the global section, of applications with one. Default: 0. */
  readonly globals?: ProblemOptions["globals"];
}

/**
 * Finds the kernels that a module exports; where it exports `makeSkeleton`, also the kernels of its sequence of containers. Throws
 * IsoformError where the file cannot be loaded or has none.
 */
export async function kernelsOfFile(path: string, options: FindOptions): Promise<FoundKernel[]> {
  const module = await load(path);
  const kernels = Object.values(module).filter(isKernel);
  const skeleton = typeof module.makeSkeleton === "function" ? await launchedBySkeleton(module as unknown as SkeletonModule, options) : [];
  if (kernels.length + skeleton.length === 0)
    throw new IsoformError(
      `${path} exports no kernel: export what kernel(...) or teamKernel(...) gives, or a function makeSkeleton(devices, settings) for containers`,
    );
  return distinct([...kernels.map((kernel) => compiled(kernel, options)), ...skeleton]);
}

/** Finds the kernels of an application as it runs them: containers are fused, and written for its grid. */
export async function kernelsOfApplication(
  name: string,
  { skeleton, application }: Registered,
  options: FindOptions,
): Promise<FoundKernel[]> {
  const { precision, form, globals } = options;
  const known = application && (await application()).application;
  if (form !== undefined) {
    const { requireForm } = await import("../portability/forms.js");
    requireForm(known ?? { name }, form);
  }
  if (globals !== undefined) (await import("../portability/globals.js")).requireGlobals(known ?? { name }, globals);
  if (skeleton) return distinct(await launchedBySkeleton(await skeleton(), options));
  const { observeLaunches } = await import("./observed-launches.js");
  return distinct(
    await observeLaunches(precision, async (set) => {
      const prepared = await known!.prepare(set, { gib: SMALL_GIB, iterations: 1, precision, form, globals });
      await prepared.run();
      prepared.free();
    }),
  );
}

/** Size of an application whose kernels do not depend on it. */
const SMALL_GIB = 0.001;

async function launchedBySkeleton(
  { makeSkeleton }: SkeletonModule,
  { precision, grid, layout, size }: FindOptions,
): Promise<FoundKernel[]> {
  const { observeLaunches } = await import("./observed-launches.js");
  return observeLaunches(precision, async (set) => {
    const skeleton = await makeSkeleton(set, { grid, layout, occ: "none", precision, fuse: true, unroll: 1, size });
    await skeleton.run(1);
    skeleton.free();
  });
}

async function load(path: string): Promise<Record<string, unknown>> {
  const file = resolve(path);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new IsoformError(`${path} is neither a file nor an application (isoform --help lists the applications)`);
  try {
    return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_UNKNOWN_FILE_EXTENSION" && /^\.[cm]?ts$/.test(extname(file)))
      throw new IsoformError(
        `${path}: Node ${process.versions.node} does not run TypeScript; compile it to JavaScript and give that file, or use Node 22.18 or later`,
      );
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(`${path} could not be loaded: ${message}`);
  }
}

function isKernel(value: unknown): value is Kernel {
  return typeof value === "object" && value !== null && "policy" in value && "body" in value && "params" in value;
}

/** The value of a fixed parameter. Throws IsoformError for one that its type does not hold. */
function valueOfText(name: string, type: ScalarType, text: string): number | bigint | boolean {
  const refuse = (wanted: string): never => {
    throw new IsoformError(`--fixed ${name}=${text}: ${name} is ${type}; give ${wanted}`);
  };
  if (type === "bool") return text === "true" || (text !== "false" && refuse("true or false"));
  const { kind, least, greatest } = ELEMENTS[type];
  if (kind === "float") return /^-?\d+n$|^(true|false)$/.test(text) ? refuse("a number") : Number(text);
  const whole = /^-?\d+n?$/.test(text) ? BigInt(text.replace("n", "")) : undefined;
  if (whole === undefined || whole < least || whole > greatest) return refuse(`a whole number from ${least} to ${greatest}`);
  return isWide(type) ? whole : Number(whole);
}

function compiled(kernel: Kernel, { precision, fixed = {}, size, range }: FindOptions): FoundKernel {
  const tokens = Object.entries(kernel.params).flatMap(([name, token]) =>
    typeof token === "object" && token.kind === "fixed" ? [[name, token.type] as const] : [],
  );
  const missing = tokens.find(([name]) => fixed[name] === undefined)?.[0];
  if (missing !== undefined)
    throw new IsoformError(
      `kernel "${kernel.name}" has the fixed parameter ${missing}, whose value is compiled in: give --fixed ${missing}=VALUE`,
    );
  const strict = compileKernel(kernel, Object.fromEntries(tokens.map(([name, type]) => [name, valueOfText(name, type, fixed[name])])));
  if (strict.lists)
    throw new IsoformError(
      `kernel "${kernel.name}" fills lists, which takes several kernels and a scan: emit writes single kernels; append by places that a scan has made (docs/language.md)`,
    );
  const { ir, access } = precision === "fast" ? relaxedKernel(strict) : strict;
  return { ir, access, stem: ir.name, unitStrides: contiguousRows(ir), sizes: cubicSizes(ir, size, range) };
}

/** Gives each kernel an identifier of its own, for file names. */
function distinct(kernels: readonly FoundKernel[]): FoundKernel[] {
  const taken = new Set<string>();
  return kernels.map((kernel) => {
    const wish = stemOf(kernel.stem);
    let stem = wish;
    for (let n = 2; taken.has(stem); n++) stem = `${wish}_${n}`;
    taken.add(stem);
    return { ...kernel, stem };
  });
}
