import type { Device, Kernel, Policy, Precision, View } from "isoform";
import { f64, i32, range, teams, type Launch, type LaunchOptions } from "isoform";
import * as gsr from "../apps/gsr/kernels.js";
import * as stream from "../apps/stream/kernels.js";
import { addressIn, type Baselines, type CArgument } from "./baselines.js";
import { laplace, lbm } from "./kernels.js";

/** One kernel at one size, with its hand-written counterpart. */
export interface Case {
  readonly name: string;
  /** Whether its arrays fit into the caches nearest to the cores, or exceed all of them. */
  readonly where: "cache" | "memory";
  /** Makes the arrays on `device`, for all CPU devices to use. */
  setUp(device: Device): CaseProblem;
}

export interface CaseProblem {
  /** Bytes that one run moves at least: every array once, those read and written twice. */
  readonly bytes: number;
  /** What the kernel writes; undefined for a reduction. */
  readonly output: View | undefined;
  launch(device: Device, options: LaunchOptions & { precision: Precision }): Launch;
  handWritten(baselines: Baselines): () => number | undefined;
  free(): void;
}

/** Arrays of one problem, made and freed together. */
class Arrays {
  private readonly views: View[] = [];

  constructor(private readonly device: Device) {}

  f64(fill: (n: number) => number, ...shape: number[]): View<"f64"> {
    return this.keep(this.device.array(f64, shape), fill) as View<"f64">;
  }

  i32(fill: (n: number) => number, ...shape: number[]): View<"i32"> {
    return this.keep(this.device.array(i32, shape), fill) as View<"i32">;
  }

  free(): void {
    for (const view of this.views) view.free();
  }

  private keep(view: View, fill: (n: number) => number): View {
    const start = Number(view.buffer.address);
    const data =
      view.type === "f64" ? new Float64Array(view.buffer.host!, start, view.size) : new Int32Array(view.buffer.host!, start, view.size);
    for (let n = 0; n < data.length; n++) data[n] = fill(n);
    this.views.push(view);
    return view;
  }
}

const big = (...numbers: number[]): bigint[] => numbers.map((n) => BigInt(n));

interface Description {
  subject: string;
  /** Of whatever parameters: `args` fits it. */
  kernel: object;
  args: Record<string, View | number>;
  policy: Policy;
  bytes: number;
  output?: View;
  /** Arguments of the C function; views stand for their addresses. */
  c: (View | CArgument)[];
}

function problem(arrays: Arrays, { subject, args, policy, bytes, output, c, ...description }: Description): CaseProblem {
  const kernel = description.kernel as Kernel;
  return {
    bytes,
    output,
    launch: (device, options) => device.prepare(kernel, args as never, policy, options),
    handWritten: (baselines) => {
      const values = c.map((arg) => (typeof arg === "object" ? addressIn(arg.buffer.host!, Number(arg.buffer.address)) : arg));
      return baselines.bind(subject, kernel.name, values, output ? "void" : "double");
    },
    free: () => arrays.free(),
  };
}

const value = (n: number): number => 0.5 + (n % 1013) / 1013;

function streamCase(name: "copy" | "mul" | "add" | "triad" | "dot", where: Case["where"], n: number): Case {
  return {
    name,
    where,
    setUp(device) {
      const arrays = new Arrays(device);
      const [a, b, c] = [0, 1, 2].map(() => arrays.f64(value, n));
      const scalar = 0.4;
      const [kernel, args, output, cArgs, count] = {
        copy: [stream.copy, { a, c }, c, [c, a], 2],
        mul: [stream.mul, { scalar, b, c }, b, [scalar, b, c], 2],
        add: [stream.add, { a, b, c }, c, [c, a, b], 3],
        triad: [stream.triad, { scalar, a, b, c }, a, [scalar, a, b, c], 3],
        dot: [stream.dot, { a, b }, undefined, [a, b], 2],
      }[name] as [object, Record<string, View | number>, View | undefined, (View | number)[], number];
      return problem(arrays, { subject: "stream", kernel, args, policy: range(n), bytes: 8 * n * count, output, c: [...cArgs, ...big(n)] });
    },
  };
}

function laplaceCase(where: Case["where"], n: number): Case {
  return {
    name: "laplace",
    where,
    setUp(device) {
      const arrays = new Arrays(device);
      const [p, s] = [arrays.f64(value, n, n, n), arrays.f64(() => 0, n, n, n)];
      const inner = [1, n - 1] as const;
      return problem(arrays, {
        subject: "laplace",
        kernel: laplace,
        args: { p, s },
        policy: range(inner, inner, inner),
        bytes: 16 * n ** 3,
        output: s,
        c: [p, s, ...big(n, n, n)],
      });
    },
  };
}

function lbmCase(where: Case["where"], nz: number, ny: number, nx: number): Case {
  return {
    name: "lbm",
    where,
    setUp(device) {
      const arrays = new Arrays(device);
      const [from, to] = [arrays.f64((n) => 0.05 + value(n) / 1000, 19, nz, ny, nx), arrays.f64(() => 0, 19, nz, ny, nx)];
      return problem(arrays, {
        subject: "lbm",
        kernel: lbm,
        args: { omega: 1.2, from, to },
        policy: range([1, nz - 1], [1, ny - 1], [1, nx - 1]),
        bytes: 19 * 16 * nz * ny * nx,
        output: to,
        c: [1.2, from, to, ...big(nz, ny, nx)],
      });
    },
  };
}

/** Sizes of a piece of the Gaia system. */
interface System {
  rows: number;
  stars: number;
  knots: number;
  columns: number;
}

type Section = "Astro" | "Att" | "Instr";
const WIDTH = { Astro: 5, Att: 12, Instr: 6 };

function gsrCase(mode: 1 | 2, section: Section, where: Case["where"], { rows, stars, knots, columns }: System): Case {
  return {
    name: `a${mode}${section}`,
    where,
    setUp(device) {
      const arrays = new Arrays(device);
      const any = (limit: number) => () => Math.floor(Math.random() * limit);
      const a = arrays.f64(value, rows, WIDTH[section]);
      const u = arrays.f64(value, rows);
      const star = (i: number) => Math.floor((i * stars) / rows);
      const [shape, unknowns] =
        section === "Astro" ? [[stars, 5], 5 * stars] : section === "Att" ? [[3, knots], 3 * knots] : [[columns], columns];
      const x = arrays.f64(value, ...shape);
      const coefficients = 8 * WIDTH[section] * rows;
      const common = {
        subject: "gsr",
        policy: range(rows),
        output: mode === 1 ? u : x,
        bytes: coefficients + 8 * rows * (mode === 1 ? 2 : 1) + 8 * unknowns,
      };
      const sizes = section === "Att" ? [rows, knots] : [rows];
      if (mode === 2 && section === "Astro") {
        const starRow = arrays.i32((s) => Math.ceil((s * rows) / stars), stars + 1);
        return problem(arrays, {
          ...common,
          kernel: gsr.a2Astro,
          args: { a, starRow, u, v: x },
          policy: teams(stars),
          c: [a, starRow, u, x, ...big(stars)],
        });
      }
      const [name, index] =
        section === "Astro"
          ? (["star", arrays.i32(star, rows)] as const)
          : section === "Att"
            ? (["knot", arrays.i32(any(knots - 3), rows)] as const)
            : (["column", arrays.i32(any(columns), rows, 6)] as const);
      const kernel = { a1Astro: gsr.a1Astro, a1Att: gsr.a1Att, a1Instr: gsr.a1Instr, a2Att: gsr.a2Att, a2Instr: gsr.a2Instr }[
        `a${mode}${section}` as "a1Att"
      ];
      return problem(arrays, {
        ...common,
        kernel: kernel,
        bytes: common.bytes + 4 * index.size,
        args: mode === 1 ? { a, [name]: index, x, b: u } : { a, [name]: index, u, v: x },
        c: mode === 1 ? [a, index, x, u, ...big(...sizes)] : [a, index, u, x, ...big(...(section === "Instr" ? [rows, columns] : sizes))],
      });
    },
  };
}

const LARGE: System = { rows: 4_450_000, stars: 10_000, knots: 230_489, columns: 260_338 };
const SMALL: System = { rows: 6_000, stars: 60, knots: 1_000, columns: 1_000 };

/** All cases: arrays of 0.25 to 2 MiB in all for the caches, of 0.25 to 1 GiB for memory. */
export const CASES: readonly Case[] = (["cache", "memory"] as const).flatMap((where) => {
  const small = where === "cache";
  const system = small ? SMALL : LARGE;
  return [
    ...(["copy", "mul", "add", "triad", "dot"] as const).map((name) => streamCase(name, where, small ? 40_000 : 36_000_000)),
    laplaceCase(where, small ? 40 : 396),
    // 38 streams a population apart: were that a multiple of 4 KiB (16 x 16 x 24), all would share the same few cache sets.
    small ? lbmCase(where, 15, 17, 26) : lbmCase(where, 150, 150, 152),
    ...([1, 2] as const).flatMap((mode) => (["Astro", "Att", "Instr"] as const).map((section) => gsrCase(mode, section, where, system))),
  ];
});
