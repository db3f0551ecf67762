import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PrivateCopies } from "../../../src/device/cpu/private-copies.js";
import { freePlans, planScatters } from "../../../src/device/cpu/scatter-plan.js";
import { CpuStorage } from "../../../src/device/cpu/storage.js";
import { WorkerCaches } from "../../../src/device/cpu/worker-caches.js";
import type { ScatterStrategy } from "../../../src/device/device.js";
import type { Binding } from "../../../src/device/launch/binding.js";
import { typedArray, View } from "../../../src/device/memory/view.js";
import { HEAD_BYTES, LINE_ELEMENTS, scatterCacheBytes, WORKER_LINES } from "../../../src/ir/cache-lines.js";
import type { NumericType, ScatterOp, ScatterParam } from "../../../src/ir/types.js";

const param = (op: ScatterOp, element: NumericType): ScatterParam => ({ kind: "scatter", name: "h", element, rank: 1, op });

/** A view of memory of its own, filled with 7. */
function viewOf(storage: CpuStorage, type: NumericType, length: number, stride = 1): View {
  const buffer = storage.allocate(8 * Math.max(1, length * Math.abs(stride)));
  typedArray(type, buffer.host, buffer.address, length * Math.abs(stride)).fill(7 as never);
  return new View(buffer, type, [length], [stride], stride < 0 ? (1 - length) * stride : 0);
}

describe("private copies of a scatter target", () => {
  const storage = new CpuStorage();
  const allocate = (bytes: number) => storage.allocate(bytes);

  for (const [op, element, updates, expected] of [
    ["sum", "f64", [1, 0, 2.5], [8, 7, 9.5]],
    ["sum", "u32", [1, 0, 2], [8, 7, 9]],
    ["min", "i32", [9, 3, -1], [7, 3, -1]],
    ["max", "f32", [9, 3, -1], [9, 7, 7]],
  ] as const)
    it(`of ${op} of ${element} are folded into it, and reset`, () => {
      const target = viewOf(storage, element, 3);
      const copies = new PrivateCopies(param(op, element), target, 3, allocate);
      const identity = { sum: 0, min: element === "i32" ? 2 ** 31 - 1 : Infinity, max: -Infinity }[op];
      const of = (worker: number) => typedArray(element, storage.memory!.buffer, copies.address(worker), 3);
      for (const worker of [1, 2]) assert.deepEqual([...of(worker)], [identity, identity, identity]);
      assert.deepEqual([...of(0)], [7, 7, 7], "worker 0 has the target");
      of(2).set(updates);
      copies.fold();
      assert.deepEqual([...of(0)], expected);
      for (const worker of [1, 2]) assert.deepEqual([...of(worker)], [identity, identity, identity]);
      of(1).set(updates);
      of(2).set(updates);
      copies.fold();
      assert.deepEqual([...of(0)], op === "sum" ? expected.map((value, n) => value + 2 * updates[n]) : expected);
      copies.free();
    });

  it("are an odd number of cache lines apart, and as long as the target's stretch of memory", () => {
    for (const [length, stride, bytes] of [
      [16, 1, 192],
      [17, 1, 320],
      [8, 2, 192],
      [1, 1, 192],
    ]) {
      const copies = new PrivateCopies(param("sum", "f64"), viewOf(storage, "f64", length, stride), 3, allocate);
      assert.equal(copies.stride, bytes, `${length} of stride ${stride}`);
      assert.equal(copies.buffer.bytes, 2 * bytes);
      assert.equal(copies.address(2) - copies.address(1), bytes);
      assert.equal(copies.address(1), copies.buffer.address);
    }
  });
});

it("scatter caches begin with the identity in every line of every worker", () => {
  const storage = new CpuStorage();
  const caches = new WorkerCaches(param("min", "f64"), 2, (bytes) => storage.allocate(bytes));
  const stride = scatterCacheBytes("f64");
  assert.equal(caches.buffer.bytes, 2 * stride);
  for (const worker of [0, 1]) {
    const start = caches.buffer.address + worker * stride;
    assert.ok(new Uint8Array(storage.memory!.buffer, start, HEAD_BYTES).every((byte) => byte === 0));
    const values = new Float64Array(storage.memory!.buffer, start + HEAD_BYTES, LINE_ELEMENTS * WORKER_LINES);
    assert.ok(values.every((value) => value === Infinity));
  }
  caches.free();
  assert.equal(storage.allocated, 0);
});

describe("the strategy of a scatter parameter", () => {
  const storage = new CpuStorage();
  const allocate = (bytes: number) => storage.allocate(bytes);

  interface Case {
    readonly length?: number;
    readonly stride?: number;
    readonly extents?: readonly number[];
    readonly asked?: ScatterStrategy;
    readonly threads?: number;
    /** Updates that an element makes. */
    readonly sites?: number;
    readonly team?: { readonly league: number; readonly bytes: number };
    /** Whether the number of workers is asked for. */
    readonly tuned?: boolean;
    /** Whether one worker is expected. */
    readonly alone?: boolean;
  }

  /** Strategy and reason for a histogram of i32. */
  function planned({
    length = 100,
    stride,
    extents = [10, 10],
    asked,
    threads = 3,
    sites = 1,
    team,
    tuned = true,
    alone = false,
  }: Case): [string, string] {
    const target = viewOf(storage, "i32", length, stride);
    const binding = {
      kernel: { name: "k" },
      ir: {
        params: [param("sum", "i32")],
        body: Array.from({ length: sites }, () => ({ kind: "scatter", target: "h", indices: [], value: { op: "const" } })),
      },
      views: { h: target },
      scatter: { h: asked },
      policy: team ? { kind: "team", league: team.league } : { kind: "range", begin: [0, 0], extents },
      cost: () => ({ bytes: team?.bytes ?? 0 }),
      call: { options: {} },
      tuning: { values: tuned ? { workers: threads } : {} },
    } as unknown as Binding;
    const { plans, workers, binding: same } = planScatters(binding, threads, allocate);
    assert.deepEqual([workers, same], [alone ? 1 : threads, binding]);
    const [{ name, strategy, remark, copies, caches }] = plans;
    assert.equal(name, "h");
    assert.equal(copies !== undefined, strategy === "duplicated" && threads > 1);
    assert.equal(caches !== undefined, strategy === "cached");
    const before = storage.allocated;
    freePlans(plans);
    assert.equal(storage.allocated < before, copies !== undefined || caches !== undefined);
    target.buffer.free();
    const [, why] = /^scatter "h": \w+, (.*)$/.exec(remark)!;
    return [strategy, why];
  }

  it("is the cheaper one of copies and atomic updates", () => {
    // On three threads the elements of two copies cost .3 ns each, and 100 updates 453 ns more than 100 additions.
    assert.deepEqual(planned({}), ["duplicated", "2 private copies of 100 elements cost less than about 100 atomic updates"]);
    assert.deepEqual(planned({ length: 800 }), ["atomic", "2 private copies of 800 elements cost more than about 100 atomic updates"]);
    assert.deepEqual(planned({ length: 400, stride: 2 })[0], "atomic", "what lies between the elements is copied, too");
    assert.deepEqual(planned({ length: 700 })[0], "duplicated");
    assert.deepEqual(planned({ length: 8000, sites: 12 })[0], "duplicated", "an element makes twelve updates");
    assert.deepEqual(planned({ length: 9600, sites: 12 })[1], "2 private copies of 9600 elements cost more than about 1200 atomic updates");
  });

  it("is one worker's order where several take longer", () => {
    const few = { tuned: false, alone: true, length: 1000, extents: [10, 10] } as const;
    assert.deepEqual(planned({ ...few, threads: 16 }), [
      "sorted",
      "one worker adds in element order in about 1 us, as 16 together would take 6",
    ]);
    assert.deepEqual(planned({ ...few, threads: 16, tuned: true, alone: false })[0], "atomic", "the workers were asked for");
    assert.deepEqual(planned({ ...few, asked: "atomic", alone: false })[0], "atomic", "the strategy was asked for");
    const [many, far] = [[1000, 1000], 4_000_000];
    // Two threads would clear and fold a copy of the target for nearly as many updates; a histogram of a thousand bins is theirs.
    assert.equal(planned({ tuned: false, threads: 2, extents: many, length: far, alone: true })[0], "sorted");
    assert.equal(planned({ tuned: false, threads: 2, extents: many, length: 1000 })[0], "duplicated");
    assert.equal(planned({ tuned: false, threads: 32, extents: many, length: 2 * far })[0], "atomic");
  });

  it("counts a team's updates by its bytes, and at least one for each team", () => {
    const length = 750;
    assert.match(planned({ length, team: { league: 10, bytes: 16 * 99 } })[1], /^2 private copies .* more than about 99 atomic updates$/);
    assert.match(planned({ length, team: { league: 120, bytes: 16 * 99 } })[1], /less than about 120 atomic updates$/);
  });

  it("is the order of elements where there is one worker", () => {
    assert.deepEqual(planned({ threads: 1 }), ["sorted", "one worker adds in element order"]);
    assert.deepEqual(planned({ threads: 1, asked: "sorted" }), ["sorted", "one worker adds in element order"]);
  });

  it("is any that keeps the bits where the order of updates does not matter", () => {
    assert.deepEqual(planned({ asked: "sorted" }), [
      "duplicated",
      "any order gives the same bits, and 2 private copies of 100 elements cost less than about 100 atomic updates",
    ]);
    assert.deepEqual(planned({ asked: "sorted", stride: -1 }), ["atomic", "any order gives the same bits, and the view goes backwards"]);
  });

  it("is atomic where a view goes backwards, and the others are refused there", () => {
    assert.deepEqual(planned({ stride: -1 }), ["atomic", "the view goes backwards"]);
    for (const asked of ["cached", "duplicated"] as const)
      assert.throws(
        () => planned({ stride: -1, asked }),
        new RegExp(`kernel "k": scatter "h" cannot be ${asked}: its view of strides \\[-1\\] goes backwards; use the strategy "atomic"`),
      );
  });
});
