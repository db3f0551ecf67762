import assert from "node:assert/strict";
import test from "node:test";
import { emitCuda } from "../../../src/emit/c/cuda.js";
import { defaultAssumptions } from "../../../src/schedule/lower.js";
import type { GpuAssumptions, KernelParam } from "../../../src/schedule/program.js";
import { slotText } from "../../../src/schedule/slots.js";
import { f32, f64, i32, kernel, scatter, sum, teamKernel, u8, view } from "../../../src/index.js";
import type { KernelIR } from "../../../src/ir/types.js";
import { mapStmts } from "../../../src/ir/walk.js";
import { compileKernel } from "../../../src/kernel/compile.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { matchesSnapshot } from "../snapshot.js";
import { axpy, dot, histogram, laplace, rowSums } from "./kernels.js";
import { cudaSource } from "../sources.js";

const textOf = (param: KernelParam): string => (param.type === "shared" ? param.type : slotText(param.slot));

const compiled = (kernel: unknown) => compileKernel(kernel as Kernel, {});

function emit(kernel: unknown, assumptions: Partial<GpuAssumptions> = {}) {
  const { ir, access } = compiled(kernel);
  return emitCuda(ir, access, { ...defaultAssumptions(ir, assumptions.strict ?? false), ...assumptions });
}

test("a thread of axpy has two elements", () => matchesSnapshot("emit/c/axpy.cu", cudaSource(compiled(axpy))));

test("a stencil has threads along the last axis", () => matchesSnapshot("emit/c/laplace.cu", cudaSource(compiled(laplace))));

test("a box has the block, the planes and the elements a thread that its tuning asks for", () => {
  const smooth = kernel("smooth", { u: view(f64, 3), v: view(f64, 3) }, ({ u, v }, i, j, k) => {
    v[i + 1][j][k] = u[i][j][k] + u[i + 1][j][k] + u[i + 2][j][k];
  });
  const untuned = emit(smooth);
  assert.deepEqual([untuned.threads, untuned.row, untuned.planes], [128, 32, 8]);
  assert.deepEqual(untuned.tunables().elements, [1, 2, 4]);
  const tuned = emit(smooth, { tuning: { threads: 64, row: 16, planes: 2, elements: 2, resident: 8 } });
  assert.deepEqual([tuned.threads, tuned.row, tuned.planes], [64, 16, 2]);
  assert.match(tuned.source, /__launch_bounds__\(64, 8\)/);
  assert.match(tuned.source, /if \(i \+ 1 < stop/);
  assert.doesNotMatch(emit(smooth, { tuning: { elements: 1 } }).source, /while/);
});

test("a thread has several elements of a line, or of neighbouring rows, where each moves little", () => {
  const elementsOf = (k: Kernel, more: Partial<GpuAssumptions> = {}): number => emit(k, more).elements;
  const copy = kernel("copy", { u: view(f64), v: view(f64) }, ({ u, v }, i) => {
    v[i] = u[i];
  });
  const copy32 = kernel("copy32", { u: view(f32), v: view(f32) }, ({ u, v }, i) => {
    v[i] = u[i];
  });
  const heat = kernel("heat", { u: view(f32, 2), v: view(f32, 2) }, ({ u, v }, i, j) => {
    v[i + 1][j] = u[i][j] + u[i + 1][j] + u[i + 2][j];
  });
  const many = kernel("many", { u: view(f64, 2), v: view(f64, 2) }, ({ u, v }, k) => {
    for (let n = 0; n < 4; n++) v[n][k] = u[n][k];
  });
  assert.deepEqual(
    [copy, copy32, heat].map((k) => elementsOf(k)),
    [2, 4, 4],
  );
  // Each component is moved for itself.
  assert.equal(elementsOf(many), 1);
  assert.equal(elementsOf(copy, { tuning: { elements: 1 } }), 1);
  assert.equal(elementsOf(copy, { aligned: true }), 1);
  assert.match(emit(copy).source, /if \(i_end_ - i > 256\) \{\s+v_\[i\] = u_\[i\];.*\s+v_\[i \+ 256\] = u_\[i \+ 256\];/);
  assert.match(emit(heat).source, /\(int\)\(blockIdx\.y \* blockDim\.y \+ threadIdx\.y\) \* 4;/);
  // What lets the next kernel start is called where blocks are few, or have much to move.
  const starts = (k: Kernel, assumptions: Partial<GpuAssumptions>): boolean => /^ +start_next\(\);/m.test(emit(k, assumptions).source);
  const single = { tuning: { elements: 1 } };
  assert.ok(starts(copy, single) && starts(copy, { large: true }) && starts(many, { ...single, large: true }));
  assert.ok(!starts(copy, { ...single, large: true }));
});

test("elements that compute for long go one by one, in blocks of several planes", () => {
  const smooth = kernel("smooth", { u: view(f64, 3), v: view(f64, 3) }, ({ u, v }, i, j, k) => {
    v[i + 1][j][k] = u[i][j][k] + u[i + 1][j][k] + u[i + 2][j][k];
  });
  const { ir, access } = compiled(smooth);
  const longer = (operations: number): KernelIR => ({
    ...ir,
    body: mapStmts(ir.body, {
      stmt: (stmt) => {
        if (stmt.kind !== "store") return stmt;
        let { value } = stmt;
        for (let n = 0; n < operations; n++) value = { op: "binary", type: "f64", fn: "mul", a: value, b: stmt.value };
        return { ...stmt, value };
      },
    }),
  });
  const planes = [2, 50, 120].map((operations) => emitCuda(longer(operations), access, defaultAssumptions(ir, false)));
  const bounds = (source: string) => /__launch_bounds__\((.*)\)/.exec(source)![1];
  assert.deepEqual(
    planes.map(({ planes, source }) => [planes, /while/.test(source), bounds(source)]),
    [
      [8, true, "128, 4"],
      [1, false, "256"],
      // Fewer blocks of a multiprocessor leave more registers.
      [8, false, "128, 3"],
    ],
  );
});

test("the compiler is told how a view of records lies, so that it may load their components at once", () => {
  const lengths = kernel("lengths", { p: view(f32, 2), r: view(f32) }, ({ p, r }, i) => {
    r[i] = Math.sqrt(p[i][0] * p[i][0] + p[i][1] * p[i][1]);
  });
  const { source } = emit(lengths, { vectors: { p: 4 } });
  assert.match(source, /__builtin_assume\(\(\(unsigned long long\)p_ & 15\) == 0\);/);
  assert.match(source, /__builtin_assume\(\(p_stride0_ & 3\) == 0\);/);
  assert.doesNotMatch(source, /__builtin_assume\(\(.*r_/);
  assert.doesNotMatch(emit(lengths).source, /assume/);
});

test("turns that read the same for all elements are written out", () => {
  const unrolled = (k: Kernel, more: Partial<GpuAssumptions> = {}) => /#pragma unroll (\d+)/.exec(emit(k, more).source)?.[1];
  const forces = kernel("forces", { p: view(f32, 2), r: view(f32), n: i32 }, ({ p, r, n }, i) => {
    let sum = Math.fround(0);
    for (let j = 0; j < n; j++) {
      const [x, y] = [p[j][0] - p[i][0], p[j][1]];
      sum += x * x + y * y;
    }
    r[i] = sum;
  });
  const own = kernel("own", { p: view(f32, 2), r: view(f32), n: i32 }, ({ p, r, n }, i) => {
    const x = p[i][0];
    let sum = Math.fround(0);
    for (let j = 0; j < n; j++) sum += (p[j][0] - x) * (p[j][1] - x) * p[j][1];
    r[i] = sum;
  });
  assert.equal(unrolled(own, { vectors: { p: 2 } }), "32");
  assert.equal(unrolled(own), "8");
  // Each element reads its own as well.
  assert.equal(unrolled(forces), undefined);
});

test("bytes are read by words, four elements of a thread", () => {
  const assumptions = { scatter: { counts: "shared" as const }, bytesAtWords: ["x"] };
  const { source } = emit(
    kernel("count", { x: view(u8), counts: scatter(i32) }, ({ x, counts }, i) => {
      counts.add(x[i], 1);
    }),
    assumptions,
  );
  assert.match(source, /const unsigned int \*const x_words_ = \(const unsigned int \*\)\(x_ \+ i_begin_\);/);
  assert.equal(source.match(/x_word_ >> (?:0|8|16|24)u\) & 255u/g)?.length, 4);
  // The last few, one by one.
  assert.equal(source.match(/\bx_\[i\]/g)?.length, 1);
  const shifted = emit(
    kernel("shifted", { x: view(u8), counts: scatter(i32) }, ({ x, counts }, i) => {
      counts.add(x[i + 1], 1);
    }),
    assumptions,
  );
  assert.doesNotMatch(shifted.source, />> 8u/);
});

test("a box is swept from its end where it is to be", () => {
  const relax = kernel("relax", { u: view(f64, 3), v: view(f64, 3), w: view(f32, 3) }, ({ u, v, w }, i, j, k) => {
    v[i][j][k] += w[i][j][k] * u[i][j][k + 1];
  });
  const { source } = emit(relax, { sweepBackward: true });
  assert.match(source, /\(int\)\(gridDim\.y - 1 - blockIdx\.y\) \* planes/);
  assert.doesNotMatch(emit(relax).source, /blockIdx\.y\) \* planes/);
});

test("a column asks for its own elements before it waits for scalars", () => {
  const update = kernel("update", { u: view(f64, 3), v: view(f64, 3), a: view(f64, 1) }, ({ u, v, a }, i, j, k) => {
    const step = 1 / a[0];
    v[i][j][k] += step * (u[i + 1][j][k] + u[i + 2][j][k] + u[i + 3][j][k]);
  });
  const { source } = emit(update);
  const asked = source.match(/for \(int n_ = 0; n_ < 4; n_\+\+\) \{\s+if \(i \+ n_ < stop_\) ask_ahead\(.*\);/g) ?? [];
  // Not for neighbours.
  assert.equal(asked.length, 1);
  assert.match(asked[0], /ask_ahead\(&v_\[\(i \+ n_\) \* v_stride0_ \+ j \* v_stride1_ \+ k\]\)/);
  assert.ok(source.indexOf(asked[0]) < source.indexOf("a_[0]"));
  const single = kernel("single", { v: view(f64, 3), a: view(f64, 1) }, ({ v, a }, i, j, k) => {
    const step = 1 / a[0];
    for (let n = 0; n < 1000; n++) v[i][j][k] *= step;
  });
  assert.doesNotMatch(emit(single).source, /ask_ahead/);
  const alone = kernel("alone", { u: view(f64, 3), v: view(f64, 3) }, ({ u, v }, i, j, k) => {
    v[i][j][k] += u[i + 1][j][k] + u[i + 2][j][k] + u[i + 3][j][k];
  });
  assert.doesNotMatch(emit(alone).source, /ask_ahead/);
});

test("a strict reduction has eight threads a chunk", () => matchesSnapshot("emit/c/dot.cu", cudaSource(compiled(dot), "strict")));

test("a team is a block", () => matchesSnapshot("emit/c/row-sums.cu", cudaSource(compiled(rowSums))));

test("read-only views lose __restrict__ beside one of their type that is read after it was written", () => {
  const params = { x: view(f64), n: view(i32), y: view(f64) };
  const before = kernel("before", params, ({ x, n, y }, i) => {
    y[i] = y[i] * x[n[i]];
  });
  assert.match(emit(before).source, /const double \*__restrict__ x_, const int \*__restrict__ n_/);
  const after = kernel("after", params, ({ x, n, y }, i) => {
    y[i] = 1;
    y[i] = y[i] * x[n[i]];
  });
  assert.match(emit(after).source, /const double \*x_, const int \*__restrict__ n_/);
  const again = kernel("again", params, ({ x, n, y }, i) => {
    for (let k = 0; k < n[i]; k++) y[i] = y[i] * x[k];
  });
  assert.match(emit(again).source, /const double \*x_, const int \*__restrict__ n_/);
});

test("scatter strategies differ in where a contribution goes", () => {
  const source = (code: GpuAssumptions["scatter"][string]) => emit(histogram, { scatter: { h: code }, scatterCacheLines: 128 }).source;
  assert.match(source("atomic"), /atomicAdd\(&h_\[/);
  assert.match(source("shared"), /atomicAdd\(&h_copy_\[/);
  assert.match(source("cached"), /sum_into_cache_f64\(h_cache_, h_lines_, h_, .*, 1\.0\);/);
  assert.match(source("sorted"), /h_values_\[h_slot_\+\+\] = 1\.0;/);
  assert.match(source("serial"), /__launch_bounds__\(1\)[^]*h_\[.*\] \+= 1\.0;/);
});

test("a scatter cache takes what runs of neighbouring threads have folded", () =>
  matchesSnapshot("emit/c/histogram-cached.cu", emit(histogram, { scatter: { h: "cached" }, scatterCacheLines: 256 }).source));

test("a segment of a range of two axes counts in row-major order", () => {
  const plane = kernel("plane", { at: view(i32, 2), n: scatter(i32), s: sum(f64) }, ({ at, n, s }, i, j) => {
    n.add(at[i][j], 1);
    s.add(1);
  });
  const { source, traversal, tunables } = emit(plane, { scatter: { n: "cached" }, scatterCacheLines: 256 });
  assert.equal(traversal, "segments");
  assert.match(source, /const int j = j_begin_ \+ rest_ % j_count_;\s+rest_ \/= j_count_;\s+const int i = i_begin_ \+ rest_;/);
  assert.deepEqual(Object.keys(tunables()), ["threads"]);
});

test("floats have no atomic maximum, integers do", () => {
  const most = (type: typeof f32 | typeof i32) =>
    kernel("most", { x: view(type), m: scatter(type, 1, "max") }, ({ x, m }, i) => m.max(0, x[i]));
  assert.match(emit(most(f32)).source, /void atomic_max_f32\(float \*place, float value\)/);
  assert.match(emit(most(i32)).source, /atomicMax\(&m_\[0\], x_\[i\]\);/);
});

test("members of a team record behind each other, and the team goes on behind them", () => {
  const spread = teamKernel("spread", { x: view(f64), h: scatter(f64) }, ({ x, h }, team) => {
    h.add(0, 1);
    team.range(x.length, (j) => {
      h.add(1, x[j]);
      if (x[j] > 0) h.add(2, x[j]);
    });
    team.single(() => h.add(3, 1));
  });
  const { source, main } = emit(spread, { strict: true, scatter: { h: "sorted" } });
  assert.ok(main.params.some((param) => textOf(param) === "slots:h"));
  assert.match(source, /unsigned int h_slot_ = \(unsigned int\)\(team - first_team_\) \* h_slots_;/);
  assert.match(
    source,
    /if \(thread == 0\) \{( *\/\/ line \d+)?\s+h_keys_\[h_slot_\] = 0;( *\/\/ line \d+)?\s+h_values_\[h_slot_\] = 1\.0;( *\/\/ line \d+)?\s+\}\s+h_slot_\+\+;/,
  );
  assert.match(source, /unsigned int h_member_slot_ = h_slot_ \+ \(unsigned int\)j_ \* 2u;/);
  assert.match(source, /if \(x_extent0_ > 0\) h_slot_ \+= \(unsigned int\)x_extent0_ \* 2u;( *\/\/ line \d+)?\s+__syncthreads/);
  assert.match(source, /h_slot_ \+= 1u;/);
});

test("addresses have 32 bits unless the launch needs more", () => {
  assert.match(emit(axpy).source, /int i = i_begin/);
  assert.match(emit(axpy, { wide: true }).source, /long long i = i_begin_ \+ \(long long\)/);
  assert.deepEqual(
    emit(axpy, { wide: true }).main.params.map((param) => `${textOf(param)} ${param.type}`),
    ["scalar:a f64", "view:x pointer", "view:y pointer", "begin:0 long", "end:0 long"],
  );
});

test("a range that begins inside a cache line has threads from the line's begin", () => {
  const source = emit(laplace, { aligned: true }).source;
  assert.match(source, /const int k = k_aligned_ \+ /);
  assert.match(source, /&& k >= k_begin_ && k < k_end_\)/);
});

test("a stride of 1 is left out, any other is a parameter", () => {
  const { source, main } = emit(axpy, { unitStrides: { x: [false], y: [true] } });
  assert.match(source, /y_\[i\] = a_ \* x_\[i \* x_stride0_\] \+ y_\[i\];/);
  assert.ok(main.params.some((param) => textOf(param) === "stride:x:0"));
});

test("what a team reads outside of its shared loops is kept until all have read it", () => {
  const shared = teamKernel("shared", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, team) => {
    const t = team.scratch("f64", 1);
    team.single(() => {
      t[0] = x[team.index];
    });
    const v = t[0];
    team.single(() => {
      t[0] = v + 1;
    });
    y[team.index] = t[0];
    s.add(v);
  });
  assert.match(
    emit(shared).source.replace(/\s+/g, " "),
    /double v_ = t_\[0\]; (\/\/ line \d+ )?__syncthreads\(\); if \(thread == 0\) \{ (\/\/ line \d+ )?t_\[0\] = v_ \+ 1\.0;/,
  );
});

test("scratch beyond the static limit is dynamic shared memory", () => {
  const big = teamKernel("big", { y: view(f64) }, ({ y }, team) => {
    const t = team.scratch("f64", 8000);
    const u = team.scratch("i32", 3);
    team.range(3, (j) => {
      t[j] = j;
      u[j] = j;
    });
    team.single(() => {
      y[team.index] = t[2] + u[1];
    });
  });
  const { source, scratchBytes } = emit(big);
  assert.equal(scratchBytes, 64016);
  assert.match(source, /int \*const u_ = \(int \*\)\(scratch_memory_ \+ 8000\);/);
});

test("in fast mode blocks reduce partials from several places, and the last of them receives what all have", () => {
  const { source, fold, finish } = emit(dot, { strict: false });
  assert.equal(fold, undefined);
  assert.ok(finish!.params.some((param) => textOf(param) === "pieces:s"));
  assert.match(source, /if \(places == 1\) return;/);
  assert.match(source, /if \(blockIdx\.x != gridDim\.x - 1 \|\| thread >= 32\) return;/);
});

test("more reductions than a block can send the totals of are folded step by step", () => {
  const sums = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`);
  const of = (count: number) =>
    emit(
      kernel(
        "sums",
        { x: view(f64), ...Object.fromEntries(sums(count).map((name) => [name, sum(f64)])) },
        new Function(
          "p",
          "i",
          sums(count)
            .map((name) => `p.${name}.add(p.x[i]);`)
            .join(" "),
        ) as never,
      ),
      { strict: false },
    );
  assert.equal(of(32).fold, undefined);
  const { fold, source } = of(33);
  assert.ok(fold);
  assert.doesNotMatch(source, /mailboxes/);
});

const laneSums = teamKernel("laneSums", { x: view(f64, 3), y: view(f64, 2) }, ({ x, y }, team) => {
  team.range(8, (j, lanes) => {
    y[team.index][j] = lanes.sum(x[0][0].length, (k) => x[team.index][j][k]);
  });
});

test("a member's lanes are neighbouring threads, which fold by shuffles and store once", () => {
  const source = emit(laneSums, { lanes: 4 }).source.replace(/\s+/g, " ");
  assert.match(source, /__launch_bounds__\(256\)/);
  assert.match(source, /const int lane_ = thread % 4; const int member_ = thread \/ 4; const int members_ = threads \/ 4;/);
  assert.match(source, /const unsigned int lanes_ = 15u << \(thread % 32 - lane_\);/);
  assert.match(source, /for \(int j_ = member_; j_ < 8; j_ \+= members_\)/);
  assert.match(source, /__shfl_xor_sync\(lanes_, sum_, 2\); sum_ \+= __shfl_xor_sync\(lanes_, sum_, 1\);/);
  assert.match(source, /if \(lane_ == 0\) y_\[/);
  assert.doesNotMatch(source, /__syncwarp/);
});

const twoSums = teamKernel("twoSums", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
  const sums = team.reduce(x[0].length, { plus: "sum", most: "max" }, (j, r) => {
    r.plus.add(x[team.index][j]);
    r.most.max(x[team.index][j]);
  });
  y[team.index][0] = sums.plus;
  y[team.index][1] = sums.most;
});

test("the members of a warp fold by shuffles alone, larger teams through shared memory", () => {
  const warp = emit(twoSums, { members: 32 }).source;
  assert.match(warp, /__shfl_xor_sync\(~0u, plus_part_, step\)/);
  assert.doesNotMatch(warp, /__shared__/);
  assert.match(emit(twoSums, { members: 64 }).source, /__shared__ double plus_warps_\[32\];/);
});

test("stores of a team, one after the other, wait for its members once", () => {
  const source = emit(twoSums, { members: 32 })
    .source.replace(/\/\/ line \d+/g, "")
    .replace(/\s+/g, " ");
  assert.match(source, /\} __syncthreads\(\); if \(thread == 0\) y_\[[^;]*; if \(thread == 0\) y_\[[^;]*; __syncthreads\(\);/);
});

test("strict lanes keep the eight sums of the strict order, and one lane has them all", () => {
  const four = emit(laneSums, { strict: true, lanes: 4 }).source;
  assert.match(four, /double sum_part_\[2\] = \{0\.0, 0\.0\};/);
  assert.match(four, /sum_part_\[j_2_ \/ 4 % 2\] \+= /);
  assert.match(four, /sum_ = sum_part_\[0\] \+ sum_part_\[1\];/);
  const one = emit(laneSums, { strict: true, lanes: 1 }).source;
  assert.match(one, /sum_part_\[j_2_ % 8\] \+= /);
  assert.doesNotMatch(one, /__shfl_xor_sync\(lanes/);
});

test("lanes synchronise where memory passes between them", () => {
  const twice = teamKernel("twice", { y: view(f64, 3) }, ({ y }, team) => {
    team.range(8, (j, lanes) => {
      for (let turn = 0; turn < 2; turn++)
        lanes.range(32, (k) => {
          y[team.index][j][k] = y[team.index][j][k] + 1;
        });
    });
  });
  assert.match(
    emit(twice, { lanes: 32 }).source.replace(/\s+/g, " "),
    /__syncwarp\(lanes_\); for \(int j_2_ = lane_; [^}]*\} __syncwarp\(lanes_\);/,
  );
});
