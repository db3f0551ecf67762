import assert from "node:assert/strict";
import { it, test } from "node:test";
import { open } from "../../src/device/open.js";
import { range } from "../../src/device/launch/policy.js";
import { kernel } from "../../src/kernel/declare/kernel.js";
import { f32, f64, i32, view } from "../../src/kernel/declare/params.js";
import { vec2, vec2f, vec3, vec3f } from "../../src/kernel/declare/vectors.js";
import { cellBoundaries } from "../../src/patterns/cell-boundaries.js";
import { cellList, cellListParams, cellListParams32, cellListIn, stream } from "../../src/patterns/index.js";
import { eachDevice } from "./devices.js";

/*
 * For each point the number of neighbours that are visited, of near ones, and a number that depends on their order.
 */
const visits = { seen: view(i32), close: view(i32), trace: view(i32) };
const space = kernel(
  "space",
  { ...cellListParams, ...visits, x: view(vec3), sides: vec3, size: f64 },
  ({ cellTable, cellPlace, x, sides, size, seen, close, trace }, i) => {
    const cells = cellListIn(cellTable, cellPlace);
    let [n, m, t] = [0, 0, 0];
    const p = x[i];
    cells.near(p, (j) => {
      const d = x[j].sub(p);
      const nearest = vec3(
        d.x - sides.x * Math.round(d.x / sides.x),
        d.y - sides.y * Math.round(d.y / sides.y),
        d.z - sides.z * Math.round(d.z / sides.z),
      );
      n += 1;
      if (nearest.dot(nearest) < size * size) m += 1;
      t = (Math.imul(t, 31) + j) | 0;
    });
    seen[i] = n;
    close[i] = m;
    trace[i] = t;
  },
  () => [cellListIn, vec3],
);
const space32 = kernel(
  "space32",
  { ...cellListParams32, ...visits, x: view(vec3f), sides: vec3f, size: f32 },
  ({ cellTable, cellPlace, x, sides, size, seen, close, trace }, i) => {
    const cells = cellListIn(cellTable, cellPlace);
    let [n, m, t] = [0, 0, 0];
    const p = x[i];
    cells.near(p, (j) => {
      const d = x[j].sub(p);
      const nearest = vec3f(
        d.x - sides.x * Math.round(d.x / sides.x),
        d.y - sides.y * Math.round(d.y / sides.y),
        d.z - sides.z * Math.round(d.z / sides.z),
      );
      n += 1;
      if (nearest.dot(nearest) < size * size) m += 1;
      t = (Math.imul(t, 31) + j) | 0;
    });
    seen[i] = n;
    close[i] = m;
    trace[i] = t;
  },
  () => [cellListIn, vec3f],
);
const plane = kernel(
  "plane",
  { ...cellListParams32, seen: view(i32), x: view(vec2f) },
  ({ cellTable, cellPlace, x, seen }, i) => {
    let n = 0;
    cellListIn(cellTable, cellPlace).near2(x[i], () => (n += 1));
    seen[i] = n;
  },
  () => [cellListIn],
);

interface Box {
  readonly box: readonly (readonly [number, number])[];
  readonly periodic: readonly boolean[];
  readonly size: number;
}

/** Random boxes: of one cell and of many, from elsewhere than 0, sides that are multiples of the size. */
function boxes(count: number): Box[] {
  return Array.from({ length: count }, (_, k) => {
    const r = stream(11, k);
    const size = k % 3 === 0 ? 0.5 : 0.2 + r.uniform();
    const box = [0, 1, 2].map(() => {
      const begin = r.uniform() < 0.5 ? 0 : 8 * r.uniform() - 4;
      return [begin, begin + (k % 3 === 0 ? 0.5 * (1 + r.below(5)) : 0.3 + 4 * r.uniform())] as const;
    });
    return { box, size, periodic: [r.uniform() < 0.5, r.uniform() < 0.5, r.uniform() < 0.5] };
  });
}

function pointsIn({ box, periodic, size }: Box, n: number, seed: number): number[] {
  return Array.from({ length: n }, (_, i) => {
    const r = stream(seed, i);
    return box.map(([begin, end], a) => {
      const x = begin + (end - begin) * r.uniform();
      // Some lie on boundaries, and some beyond the ends where those do not matter.
      if (r.uniform() < 0.2) return Math.min(end, begin + size * r.below(5));
      return periodic[a] && r.uniform() < 0.2 ? x + (end - begin) * (r.below(3) - 1) : x;
    });
  }).flat();
}

interface Axis {
  readonly begin: number;
  readonly end: number;
  readonly cells: number;
  readonly periodic: boolean;
  readonly round: (x: number) => number;
}

function cellOf(x: number, { begin, end, cells, periodic, round }: Axis): number {
  const [low, side, width] = [round(begin), round(end - begin), round((end - begin) / cells)];
  const leaves = periodic && (x < low || x >= round(end));
  const image = leaves ? round(x - round(side * Math.floor(round(round(x - low) / side)))) : x;
  if (leaves && image >= round(end)) return 0;
  if (leaves && image < low) return cells - 1;
  return Math.min(Math.max(Math.floor(round(round(image - low) / width)), 0), cells - 1);
}

/** What the kernel finds, by all pairs. */
function expected(points: ArrayLike<number>, { box, periodic }: Box, cells: readonly number[], single: boolean) {
  const round = single ? Math.fround : (x: number): number => x;
  const n = points.length / 3;
  const coordinates = Array.from({ length: n }, (_, i) =>
    box.map(([begin, end], a) => {
      return cellOf(points[3 * i + a], { begin, end, cells: cells[a], periodic: periodic[a], round });
    }),
  );
  return coordinates.map((own) => {
    /** Cells around along each axis, in their order. */
    const around = own.map((c, a) => {
      const m = cells[a];
      if (!periodic[a]) return [c - 1, c, c + 1].filter((each) => each >= 0 && each < m);
      return m < 3 ? [...Array(m).keys()] : [c - 1, c, c + 1].map((each) => (each + m) % m);
    });
    const visited: number[] = [];
    for (const x of around[0])
      for (const y of around[1])
        for (const z of around[2])
          coordinates.forEach(([cx, cy, cz], j) => {
            if (cx === x && cy === y && cz === z) visited.push(j);
          });
    return visited;
  });
}

test("an axis has as many cells as fit, with distances that roundings do not undo", () => {
  assert.equal(cellBoundaries(0, 10, 2.5, "f64"), 4);
  assert.equal(cellBoundaries(0, 10, 2.5, "f32"), 4);
  assert.equal(cellBoundaries(0, 1, 2, "f64"), 1);
  assert.ok(Math.abs(cellBoundaries(0, 1, 1e-9, "f64") - 1e9) < 4000);
  assert.ok(cellBoundaries(0, 28955.318359375, 0.26372608273529885, "f32") < 109789);
  assert.equal(cellBoundaries(2 ** 24, 2 ** 24 + 8, 0.5, "f32"), 1);
  for (let k = 0; k < 300; k++) {
    const r = stream(5, k);
    const [begin, size, most] = [r.below(3) === 0 ? 0 : 20 * r.uniform() - 10, 0.1 + r.uniform(), 1 + r.below(40)];
    const cells = cellBoundaries(begin, begin + size * most, size, "f64");
    assert.ok(cells <= most && cells >= most - 2);
  }
});

/** The representable number above, or below. */
function next(x: number, type: "f64" | "f32", up: boolean): number {
  const bits = type === "f64" ? new BigInt64Array(1) : new Int32Array(1);
  const value = type === "f64" ? new Float64Array(bits.buffer) : new Float32Array(bits.buffer);
  value[0] = x === 0 ? 0 : x;
  if (x === 0) return (up ? 1 : -1) * (type === "f64" ? 2 ** -1074 : 2 ** -149);
  if (bits instanceof BigInt64Array) bits[0] += x > 0 === up ? 1n : -1n;
  else bits[0] += x > 0 === up ? 1 : -1;
  return value[0];
}

test("points around the boundaries of cells inside a periodic box are nearer than the size only in neighbouring cells", () => {
  let tested = 0;
  for (let n = 0; n < 3000; n++) {
    const r = stream(29, n);
    const type = n % 2 === 0 ? "f64" : "f32";
    const round = type === "f32" ? Math.fround : (x: number): number => x;
    const begin = [0, 10 * r.uniform(), -10 * r.uniform(), -1000 * r.uniform()][r.below(4)];
    const end = begin + [1, 0.7, 3.3, 10, 20 * r.uniform()][r.below(5)];
    const side = end - begin;
    const size = (side / (4 + r.below(20))) * (1 - (type === "f64" ? 1e-15 : 1e-6) * r.uniform() * r.below(2));
    const cells = cellBoundaries(begin, end, size, type);
    if (cells < 4) continue;
    const axis = { begin, end, cells, periodic: true, round };
    for (const k of [0, 1, 1 + r.below(cells - 1), cells - 1, cells])
      for (const sign of [-1, 1]) {
        const near = begin + (k * side) / cells;
        const far = near + sign * size;
        let p = round(near);
        for (let m = 0; m < 3; m++) p = next(p, type, false);
        for (let m = 0; m < 7; m++, p = next(p, type, true)) {
          let q = round(far >= end ? far - side : far < begin ? far + side : far);
          for (let l = 0; l < 3; l++) q = next(q, type, false);
          for (let l = 0; l < 7; l++, q = next(q, type, true)) {
            if ([p, q].some((x) => x < begin || x >= end)) continue;
            const d = q - p;
            if (!(Math.abs(d - side * Math.round(d / side)) < size)) continue;
            tested++;
            const apart = Math.abs(cellOf(p, axis) - cellOf(q, axis));
            assert.ok(Math.min(apart, cells - apart) <= 1, JSON.stringify({ ...axis, size, type, p, q }));
          }
        }
      }
  }
  assert.ok(tested > 20000, String(tested));
});

await eachDevice("cell lists", (device) => {
  const single = !device.capabilities.f64;
  const read = async (of: Parameters<typeof device.queue.read>[0]): Promise<number[]> => [...(await device.queue.read(of))];
  const quick = ["js", "wasm", "native"].includes(device.backend);

  it("visit each point of the cells around once, in the order of cells and indices, and all near ones", async () => {
    for (const [k, box] of boxes(quick ? 24 : 6).entries()) {
      const n = k === 0 ? 0 : 150;
      const x = single ? device.from(vec3f, pointsIn(box, n, k), n) : device.from(vec3, pointsIn(box, n, k), n);
      const cells = cellList(device, { points: x as never, ...box });
      cells.submit();
      const out = { seen: device.array(i32, n), close: device.array(i32, n), trace: device.array(i32, n) };
      // A side that is not periodic has images too far away to count.
      const sides = box.box.map(([begin, end], a) => (box.periodic[a] ? end - begin : 1e6)) as [number, number, number];
      const args = { x, ...cells.args, ...out, size: box.size };
      if (single) await device.run(space32, { ...args, sides: vec3f(...sides) } as never, range(n));
      else await device.run(space, { ...args, sides: vec3(...sides) } as never, range(n));
      const points = await read(x);
      const visited = expected(points, box, cells.cells, single);
      assert.deepEqual(
        await read(out.seen),
        visited.map((list) => list.length),
      );
      assert.deepEqual(
        await read(out.trace),
        visited.map((list) => list.reduce((t, j) => (Math.imul(t, 31) + j) | 0, 0)),
      );
      if (!single) assert.deepEqual(await read(out.close), closeOf(points, sides, box.size), JSON.stringify({ box, cells: cells.cells }));
      for (const thing of [cells, x, ...Object.values(out)]) thing.free();
    }
  });

  it("visit pairs at the ends of a periodic box that are nearer than the size by roundings", async () => {
    for (const [type, box, size, points] of [
      ["f64", [-5.88916783064938, 4.11083216935062], 0.8333333333333328, [3.2774988360172865, 4.110832169350619]],
      ["f32", [-9.465278625488281, 0.5347213745117188], 0.7142852652460753, [-0.17956416308879852, 0.5347210764884949]],
      ["f32", [0, 28955.318359375], 0.26372608273529885, [28955.0546875, 0]],
      ["f32", [0, 1], 0.0999999, [0.29999998211860657, -3.6000001430511475]],
    ] as const) {
      if (single && type === "f64") continue;
      const flat = points.flatMap((x) => [x, 0.5, 0.5]);
      const x = type === "f32" ? device.from(vec3f, flat, 2) : device.from(vec3, flat, 2);
      const cells = cellList(device, { points: x as never, size, box: [box, 1, 1], periodic: [true, false, false] });
      cells.submit();
      const out = { seen: device.array(i32, 2), close: device.array(i32, 2), trace: device.array(i32, 2) };
      const args = { x, ...cells.args, ...out, size };
      if (type === "f32") await device.run(space32, { ...args, sides: vec3f(box[1] - box[0], 1e6, 1e6) } as never, range(2));
      else await device.run(space, { ...args, sides: vec3(box[1] - box[0], 1e6, 1e6) } as never, range(2));
      assert.deepEqual(await read(out.seen), [2, 2], JSON.stringify({ box, cells: cells.cells }));
      for (const thing of [cells, x, ...Object.values(out)]) thing.free();
    }
  });

  it("bring views into the order of cells, with each run", async () => {
    const list = [2.5, 0.5, 0.2, 0.1, 1.5, 1.5, 0.3, 0.1];
    const x = device.from(vec2f, list, 4);
    const mass = device.from(i32, [10, 20, 30, 40]);
    const seen = device.array(i32, 4);
    const cells = cellList(device, { points: x as never, size: 1, box: [3, 2], move: [x as never, mass] });
    assert.deepEqual(cells.cells, [3, 2]);
    for (const [masses, points, counts] of [
      [
        [20, 40, 30, 10],
        [0.2, 0.1, 0.3, 0.1, 1.5, 1.5, 2.5, 0.5],
        [3, 3, 4, 2],
      ],
      [
        [20, 10, 40, 30],
        [0.7, 0.7, 0.5, 0.5, 1.25, 0, 2.75, 2],
        [3, 3, 4, 2],
      ],
    ] as const) {
      await cells.run();
      assert.deepEqual(await read(mass), masses);
      assert.deepEqual(await read(x), points.map(Math.fround));
      await device.run(plane, { ...cells.args, seen, x } as never, range(4));
      assert.deepEqual(await read(cells.order), [0, 1, 2, 3]);
      assert.deepEqual(await read(seen), counts);
      device.queue.write(x, [0.7, 0.7, 1.25, 0, 2.75, 2, 0.5, 0.5]);
    }
  });

  it("refuse points outside where launches are checked", async () => {
    for (const [points, periodic, wrong] of [
      [[0.5, 0.5, 3.001, 1], false, true],
      [[0.5, 0.5, 3.001, 1], [true, false], false],
      [[0.5, 0.5, NaN, 1], true, true],
      [[0, 0, 3, 2], false, false],
    ] as const) {
      const x = device.from(vec2f, points, 2);
      const cells = cellList(device, { points: x as never, size: 1, box: [3, 2], periodic });
      if (wrong) await assert.rejects(cells.run(), { name: "KernelError", message: /lookForPointsOutside/ });
      else await cells.run();
      cells.free();
    }
  });
});

/** Points nearer than the size, for each, in the sum's order of the kernel. */
function closeOf(points: readonly number[], sides: readonly number[], size: number): number[] {
  const n = points.length / 3;
  return Array.from({ length: n }, (_, i) => {
    let close = 0;
    for (let j = 0; j < n; j++) {
      const [x, y, z] = sides.map((side, a) => {
        const d = points[3 * j + a] - points[3 * i + a];
        return d - side * Math.floor(d / side + 0.5);
      });
      if (x * x + y * y + z * z < size * size) close += 1;
    }
    return close;
  });
}

test("options of cellList are refused with the thing named", async () => {
  const device = await open("js");
  const points = device.array(f64, [5, 3]);
  const right = { points, size: 1, box: [4, 4, 4] };
  const refused = (what: object, message: RegExp): void =>
    assert.throws(() => cellList(device, { ...right, ...what } as never), { name: "LaunchError", message });
  refused({ points: device.array(f64, 5) }, /cellList is given points of f64 \[5\]: give f64 or f32 with the shape \[n, 2\] or \[n, 3\]/);
  refused({ size: 0 }, /cellList is given the size 0/);
  refused({ box: [4, 4] }, /cellList, for its box, is given .*; give 3 lengths/);
  refused({ box: [4, 4, [2, 1]] }, /axis 2 of the box is 2,1: give its length, or \[begin, end\]/);
  refused({ periodic: [true] }, /cellList, for periodic, is given .*; give true or false, or 3 of them/);
  refused({ move: [device.array(f64, 4)] }, /cellList of 5 points moves view 0 of shape \[4\]: give views of 5 elements or rows/);
  const withoutPoints = /cellList moves views without its points, .*: give the points, or a view whose rows hold them, in move, too/;
  refused({ move: [device.array(f64, 5)] }, withoutPoints);
  refused({ move: [points.slice(undefined, [0, 2])] }, withoutPoints);
  const states = device.array(f64, [5, 6]);
  refused({ points: states.slice(undefined, [0, 3]), move: [states.slice(undefined, [1, 4])] }, withoutPoints);
  cellList(device, { ...right, points: states.slice(undefined, [3, 6]), move: [device.array(f64, 5), states] });
  refused({ size: 1e-3 }, /cellList of a box with \d+ cells of 0.001/);
  refused({ cell: 1 }, /cellList has no option "cell"/);
  await device.close();
});

test("points of vec2 are listed as points of vec3 in a plane", async () => {
  const device = await open("js");
  const cells = cellList(device, { points: device.array(vec2, 3) as never, size: 1, box: [4, [-1, 1]] });
  assert.deepEqual(cells.cells, [4, 2]);
  await cells.run();
  assert.equal((await device.queue.read(cells.starts))[2], 3);
  await device.close();
});
