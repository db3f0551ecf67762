import assert from "node:assert/strict";
import { test } from "node:test";
import {
  compileKernel,
  f64,
  i32,
  kernel,
  open,
  range,
  scatter,
  sum,
  teamKernel,
  teams,
  u8,
  vec2i,
  vec3,
  vec4,
  view,
  type Device,
  type Kernel,
  type Policy,
  type View,
} from "../../src/index.js";

const axpy = kernel("axpy", { n: i32, a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
  y[i] += a * x[i];
});
const dot = kernel("dot", { x: view(f64), y: view(f64), s: sum(f64) }, ({ x, y, s }, i) => {
  s.add(x[i] * y[i]);
});
const rows = teamKernel("rows", { x: view(f64, 2), y: view(f64) }, ({ x, y }, team) => {
  const s = team.sum(x[0].length, (j) => x[team.index][j]);
  team.single(() => {
    y[team.index] = s;
  });
});

test("every kernel is a Kernel", () => {
  const kernels: Kernel[] = [axpy, dot, rows];
  assert.deepEqual(
    kernels.map((k) => compileKernel(k).ir.name),
    ["axpy", "dot", "rows"],
  );
});

test("a view is read as the typed array of its element type", async () => {
  const device = await open("js");
  const doubles: Float64Array = await device.queue.read(device.from(f64, [1.5, 2]));
  assert.deepEqual(doubles, new Float64Array([1.5, 2]));
  // @ts-expect-error integers are no floats
  const integers: Float64Array = await device.queue.read(device.from(i32, [1, 2]));
  assert.ok((integers as unknown) instanceof Int32Array);
  await device.close();
});

test("arguments of another element type are refused by the compiler and at run time", async () => {
  const device = await open("js");
  const x = device.array(f64, 4);
  const whole = device.array(i32, 4);
  // @ts-expect-error y is a view of f64
  await assert.rejects(device.run(dot, { x, y: whole }, range(4)), /y/);
  // @ts-expect-error y is missing
  await assert.rejects(device.run(dot, { x }, range(4)), /y/);
  await device.close();
});

test("a kernel is launched over what it was declared for", async () => {
  const device = await open("js");
  const x = device.array(f64, [4, 4]),
    y = device.array(f64, 4);
  await device.run(rows, { x, y }, teams(4));
  // @ts-expect-error a team kernel runs over teams
  await assert.rejects(device.run(rows, { x, y }, range(4)), /teams/);
  // @ts-expect-error a kernel over a range runs over a range
  await assert.rejects(device.run(dot, { x: y, y }, teams(4)), /range/);
  // @ts-expect-error the same of a prepared launch
  assert.throws(() => device.prepare(dot, { x: y, y }, teams(4)), /range/);
  // Where the kernel is any, so is the policy.
  const either: [Kernel, object, Policy][] = [
    [rows, { x, y }, teams(4)],
    [dot, { x: y, y }, range(4)],
  ];
  for (const [each, args, policy] of either) device.prepare(each, args as never, policy).free();
  await device.close();
});

test("views have the rank that their kernel declares, where it is known", async () => {
  const device: Device = await open("js");
  const line = device.array(f64, 16),
    plane = device.from(f64, new Float64Array(16), [4, 4]),
    list = device.from(f64, [1, 2, 3, 4]),
    loose = device.array(f64, [4, 4] as number[]);
  await device.run(rows, { x: plane, y: line }, teams(4));
  await device.run(rows, { x: plane.slice([0, 2]), y: list }, teams(2));
  await device.run(rows, { x: line.reshape(4, 4), y: list }, teams(4));
  await device.run(rows, { x: loose, y: plane.at(0, 1) }, teams(4));
  // @ts-expect-error x has rank 2
  await assert.rejects(device.run(rows, { x: line, y: line }, teams(4)), /x has rank 2/);
  // @ts-expect-error y has rank 1
  await assert.rejects(device.run(rows, { x: plane, y: plane.slice([0, 4]) }, teams(4)), /y has rank 1/);
  // @ts-expect-error x has rank 2
  await assert.rejects(device.run(rows, { x: plane.reshape(16), y: line }, teams(4)), /x has rank 2/);

  const counts = kernel("counts", { h: scatter(i32, 2) }, ({ h }, i) => {
    h.add(i, 0, 1);
  });
  await device.run(counts, { h: device.array(i32, [4, 1]) }, range(4));
  // @ts-expect-error h has rank 2
  await assert.rejects(device.run(counts, { h: device.array(i32, 4) }, range(4)), /h has rank 2/);
  // A result goes to a view of any rank.
  await device.run(dot, { x: line, y: line, s: device.array(f64, [1, 1]) }, range(4));

  const any: View[] = [line, plane, loose, device.array(u8, [1, 2, 3, 4])];
  const doubles: View<"f64">[] = [line, plane, loose];
  assert.deepEqual(
    [...any, ...doubles].map(({ rank }: { rank: number }) => rank),
    [1, 2, 2, 4, 1, 2, 2],
  );
  // @ts-expect-error a line is no plane
  const wrong: View<"f64", 2> = line;
  assert.equal(wrong.rank, 1);
  await device.close();
});

test("mistakes with vectors and objects are refused by the compiler", () => {
  const mistakes = kernel(
    "mistakes",
    { v: view(vec3), w: view(vec4), n: view(vec2i), y: view(f64) },
    ({ v, w, n, y }, i) => {
      const q = v[i].neg();
      // @ts-expect-error a value does not change
      q.x = 1;
      // @ts-expect-error operators do not take vectors
      void (q + q);
      // @ts-expect-error a vector is not a number
      y[i] = q;
      // @ts-expect-error a component is missing
      v[i] = vec3(1, 2);
      // @ts-expect-error two components are given to three
      v[i] = q.add(n[i]);
      // @ts-expect-error length is a method
      y[i] = q.length;
      // @ts-expect-error integers have no length
      y[i] = n[i].length();
      // @ts-expect-error there is no cross product of four components
      w[i] = w[i].cross(w[i]);
      let s = { a: 1, b: 2 };
      // @ts-expect-error a field is missing
      s = { a: 3 };
      v[i].z = s.a;
      w[i] = w[i].with(0, v[i].dot(q));
    },
    () => [vec3],
  );
  assert.throws(() => compileKernel(mistakes), /q is a vec3 and does not change/);
});
