import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bind } from "../../../src/device/launch/bind.js";
import type { LaunchOptions } from "../../../src/device/device.js";
import { programOf } from "../../../src/device/gpu/program.js";
import { cudaLanguage } from "../../../src/emit/c/cuda.js";
import { openclLanguage } from "../../../src/emit/c/opencl.js";
import type { GpuLanguage } from "../../../src/schedule/program.js";
import {
  f32,
  f64,
  i32,
  kernel,
  open,
  range,
  scatter,
  sum,
  teamKernel,
  teams,
  u32,
  u8,
  view,
  type Device,
  type Policy,
  type View,
} from "../../../src/index.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";

const FACTS = { sharedBytes: 96 << 10, threads: 1024, atomics64: true, l2Bytes: 50 << 20 };
const opencl = openclLanguage({ f64: true, atomics64: true, exactF32: true, subGroups: false });

const rows = teamKernel("rows", { x: view(f64, 3), y: view(f64, 2) }, ({ x, y }, team) => {
  team.range(8, (j, lanes) => {
    y[team.index][j] = lanes.sum(x[0][0].length, (k) => x[team.index][j][k]);
  });
});
const short = teamKernel("short", { x: view(f64, 3), y: view(f64, 2) }, ({ x, y }, team) => {
  team.range(8, (j, lanes) => {
    y[team.index][j] = lanes.sum(13, (k) => x[team.index][j][k]);
  });
});
const scattering = teamKernel("scattering", { x: view(f64, 3), y: scatter(f64, 2) }, ({ x, y }, team) => {
  team.range(8, (j, lanes) => {
    y.add(
      0,
      0,
      lanes.sum(13, (k) => x[team.index][j][k]),
    );
  });
});
const plane = kernel("plane", { x: view(f64, 3) }, ({ x }, j, k) => {
  x[j][k][0] = 1;
});
const folded = kernel("folded", { x: view(f64, 3), s: sum(f64) }, ({ x, s }, j, k) => {
  s.add(x[j][k][0]);
});

let device: Device;
before(async () => void (device = await open("js")));
after(() => device.close());

/** The program of a launch, and its remarks. */
function planned(of: Kernel, policy: Policy, options: LaunchOptions = {}, language: GpuLanguage = cudaLanguage, facts = FACTS) {
  const all: Record<string, unknown> = { x: device.array(f64, [4, 100, 40]), y: device.array(f64, [4, 8]) };
  const args = Object.fromEntries(Object.entries(all).filter(([name]) => name in of.params));
  const { program, members, remarks } = programOf(bind(device, of, args, policy, { precision: "fast", ...options }), language, facts);
  const { source, threads, lanes, row } = program;
  return { source, threads, lanes, members, row, text: remarks.join("; ") };
}

test("members have as many lanes as were asked for, as their loops have turns, or eight", () => {
  assert.deepEqual(
    [{}, { lanes: 2 }, { lanes: 32, size: 4 }, { lanes: 64 }].map((how) => {
      const { threads, lanes, members } = planned(rows, teams(4, how));
      return [threads, lanes, members];
    }),
    [
      [256, 8, 32],
      [256, 2, 128],
      [128, 32, 4],
      [256, 32, 8],
    ],
  );
  assert.equal(planned(short, teams(4)).lanes, 16);
  assert.match(planned(rows, teams(4, { lanes: 64 })).text, /lanes: 32 of a member, for the 64 asked for: as many as a warp has threads/);
});

test("fewer lanes have a reason", () => {
  const strict = planned(rows, teams(4, { lanes: 32 }), { precision: "strict" });
  assert.equal(strict.lanes, 8);
  assert.match(strict.text, /lanes: 8 of a member, for the 32 asked for: as many as strict sums have parts/);
  const alone = planned(rows, teams(4, { lanes: 8, size: 64 }), {}, opencl);
  assert.deepEqual([alone.lanes, alone.members], [1, 64]);
  assert.match(alone.text, /lanes: 1 of a member, as threads cannot read each other's registers/);
  const ordered = planned(scattering, teams(4), { precision: "strict" });
  assert.equal(ordered.lanes, 1);
  assert.match(ordered.text, /lanes: 1 of a member, as scatters come in order/);
});

test("tiles are the shape of blocks, by powers of two", () => {
  const shape = (policy: Policy) => {
    const { threads, row, text } = planned(plane, policy);
    return [row, threads / row, /tiles: [^;]*/.exec(text)?.[0]];
  };
  assert.deepEqual(shape(range(4, 100, { tile: [4, 16] })), [16, 4, "tiles: blocks of 4 x 16, for the 4 x 16 asked for"]);
  assert.deepEqual(shape(range(4, 100, { tile: [3, 1000] })), [128, 2, "tiles: blocks of 2 x 128, for the 3 x 1000 asked for"]);
  assert.deepEqual(shape(range(4, 100))[2], undefined);
  assert.match(planned(folded, range(4, 100, { tile: [4, 16] }), { precision: "strict" }).text, /tiles: none, as the order of reductions/);
});

test("a launch sweeps backward where the cache holds an eighth of what it touches", () => {
  const box = kernel("box", { x: view(f64, 3) }, ({ x }, i, j, k) => {
    x[i][j][k] = 1;
  });
  const bytes = 8 * 4 * 100 * 40;
  const back = (l2Bytes: number, sweepBackward?: boolean) =>
    planned(box, range(4, 100, 40), { sweepBackward }, cudaLanguage, { ...FACTS, l2Bytes }).source.includes("gridDim.y - 1 - blockIdx.y");
  assert.deepEqual([back(bytes / 8, true), back(bytes / 8 - 1, true), back(bytes), back(bytes, false)], [true, false, false, false]);
});

test("only what is too large for 32 bits takes addresses of 64: an axis, or all of a scattered target", () => {
  const shift = kernel("shift", { w: view(u8, 4), x: view(f64, 3) }, ({ w, x }, i, j, k) => {
    x[i][j][k] = w[4][i][j][k] + w[2][i + 1][j][k];
  });
  const count = kernel("count", { w: scatter(u32, 2) }, ({ w }, i) => {
    w.add(0, i, 1);
  });
  // Memory that nobody touches is none.
  const w = device.array(u8, [9, 1 << 9, 1 << 10, 1 << 9]);
  const of = (kernel: Kernel, args: Record<string, unknown>, policy: Policy) => {
    const { program, remarks } = programOf(bind(device, kernel, args, policy, { precision: "fast" }), cudaLanguage, FACTS);
    return [program.source, remarks.find((remark) => remark.startsWith("addresses"))] as const;
  };
  const [source, remark] = of(shift, { w, x: device.array(f64, [2, 3, 3]) }, range(2, 3, 3));
  assert.equal(remark, "addresses: 32 bits, and 64 along the longest axes of w");
  assert.match(source, /const long long w_stride0_, const int w_stride1_/);
  assert.match(source, /w_\[4 \* w_stride0_ \+ \(long long\)\(i \* w_stride1_ \+ j \* w_stride2_ \+ k\)\]/);
  assert.match(source, /const int k = /);
  const small = of(shift, { w: device.array(u8, [5, 4, 4, 4]), x: device.array(f64, [2, 3, 3]) }, range(2, 3, 3));
  assert.equal(small[1], "addresses: 32 bits");
  assert.doesNotMatch(small[0], /long long/);
  const most = of(shift, { w: device.array(u8, [8, 1 << 9, 1 << 10, (1 << 9) - 1]), x: device.array(f64, [2, 3, 3]) }, range(2, 3, 3));
  assert.equal(most[1], "addresses: 32 bits");
  const scattered = of(count, { w: device.array(u32, [5, 2 ** 29]) }, range(3));
  assert.equal(scattered[1], "addresses: 64 bits, because a view or the range is large");
  assert.match(scattered[0], /long long i = /);
});

test("compilers are told how views of records lie where they lie so", () => {
  const lengths = kernel("lengths", { p: view(f32, 2), r: view(f32) }, ({ p, r }, i) => {
    r[i] = Math.sqrt(p[i][0] * p[i][0] + p[i][1] * p[i][1]);
  });
  const stencil = kernel("stencil", { p: view(f32, 2), r: view(f32) }, ({ p, r }, i) => {
    r[i] = p[0][i] + p[0][i + 1];
  });
  const assumed = (of: Kernel, p: View<"f32", 2>) => {
    const { program } = programOf(bind(device, of, { p, r: device.array(f32, 8) }, range(8), { precision: "fast" }), cudaLanguage, FACTS);
    return [...program.source.matchAll(/__builtin_assume\(\((.*) & (\d+)\) == 0\)/g)].map(([, what, bits]) => `${what} ${bits}`);
  };
  const four = device.array(f32, [9, 4]);
  assert.deepEqual(assumed(lengths, four), ["(unsigned long long)p_ 15", "p_stride0_ 3"]);
  assert.deepEqual(assumed(lengths, device.array(f32, [9, 2])), ["(unsigned long long)p_ 7", "p_stride0_ 1"]);
  assert.deepEqual(assumed(lengths, four.slice([0, 8], [2, 4])), ["(unsigned long long)p_ 7", "p_stride0_ 1"]);
  // A row of three, components that begin at an odd place, and neighbours of elements.
  assert.deepEqual(assumed(lengths, device.array(f32, [9, 3])), []);
  assert.deepEqual(assumed(lengths, four.slice([0, 8], [1, 3])), []);
  assert.deepEqual(assumed(stencil, device.array(f32, [2, 12])), []);
});

test("bytes are read by words where the range begins at one", () => {
  const total = kernel("total", { x: view(u8), s: sum(i32) }, ({ x, s }, i) => {
    s.add(x[i]);
  });
  const other = kernel("other", { x: view(u8), s: sum(i32) }, ({ x, s }, i) => {
    s.add(x[2 * i]);
  });
  const byWords = (of: Kernel, x: View<"u8", 1>, begin: number) =>
    programOf(bind(device, of, { x }, range([begin, 12]), { precision: "fast" }), cudaLanguage, FACTS).program.source.includes("x_words");
  const bytes = device.array(u8, 64);
  const cases: [Kernel, View<"u8", 1>, number][] = [
    [total, bytes, 0],
    [total, bytes, 2],
    [total, bytes, 8],
    [total, bytes.slice([2, 40]), 2],
    [other, bytes, 0],
    [total, device.array(u8, [32, 2]).at(1, 0) as View<"u8", 1>, 0],
  ];
  assert.deepEqual(
    cases.map((each) => byWords(...each)),
    [true, false, true, true, false, false],
  );
});
