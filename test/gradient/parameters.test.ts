import { after, test } from "node:test";
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import {
  f16,
  f32,
  f64,
  fixed,
  i32,
  kernel,
  max,
  min,
  open,
  range,
  scatter,
  struct,
  structArraysFrom,
  sum,
  vec3,
  view,
} from "../../src/index.js";
import { checkGradient, GradientError, jvp, rule, vjp } from "../../src/gradient/index.js";
import { numbers } from "./cases.js";

const device = await open("js");
after(() => device.close());
const N = 10;
const array = (seed: number, length = N) => device.from(f64, numbers(length, seed));
const near = (a: number, b: number, bound = 1e-12) => ok(Math.abs(a - b) <= bound * (1 + Math.abs(b)), `${a}, not ${b}`);

test("elements that have the extreme share it evenly", async () => {
  const extremes = kernel("extremes", { x: view(f64), m: max(f64), l: min(f64) }, ({ x, m, l }, i) => {
    m.max(x[i] * x[i]);
    l.min(2 * x[i]);
  });
  const x = device.from(f64, [1, -3, 3, 2, -3, 0]);
  const x_bar = device.array(f64, 6);
  await vjp(extremes, { wrt: ["x"] }).run(device, { x, x_bar, m_bar: 6, l_bar: 5 }, range(6));
  deepEqual([...(await device.queue.read(x_bar))], [0, (6 / 3) * 2 * -3 + 2.5 * 2, 2 * 2 * 3, 0, (6 / 3) * 2 * -3 + 2.5 * 2, 0]);
  const x_dot = device.from(f64, [1, 1, 2, 1, 4, 1]);
  const found = await jvp(extremes, { wrt: ["x"] }).run(device, { x, x_dot }, range(6));
  equal(found.m_dot, (2 * -3 * 1 + 2 * 3 * 2 + 2 * -3 * 4) / 3);
  equal(found.l_dot, (2 * 1 + 2 * 4) / 2);
});

test("vectors and records", async () => {
  const Body = struct("Body", { mass: f64, at: vec3 });
  const pull = kernel("pull", { g: vec3, b: view(Body), y: view(vec3), e: sum(f64) }, ({ g, b, y, e }, i) => {
    y[i] = g.scale(b[i].mass).add(b[i].at.scale(b[i].mass * b[i].mass));
    e.add(b[i].mass * g.dot(b[i].at));
  });
  const bodies = Array.from({ length: 4 }, (_, n) => ({ mass: 1 + n, at: vec3(0.1 * n, 0.2, -0.3 * n) }));
  const b = structArraysFrom(device, Body, bodies);
  const y = device.array(vec3, 4);
  const found = await checkGradient(device, pull, { g: vec3(0.1, 0.2, 0.3), b, y }, range(4), { wrt: ["g", "b"] });
  ok(found.identity < 1e-14 && found.differences < 1e-8);
  const back = vjp(pull, { wrt: ["g", "b"] });
  const b_bar = structArraysFrom(
    device,
    Body,
    bodies.map(() => ({ mass: 0, at: vec3(0, 0, 0) })),
  );
  const results = await back.run(device, { g: vec3(0.1, 0.2, 0.3), b, y_bar: device.array(vec3, 4), b_bar, e_bar: 1 }, range(4));
  const expected = bodies.reduce((all, { mass, at }) => all.add(at.scale(mass)), vec3(0, 0, 0));
  const { x, y: gy, z } = results.g_bar as typeof expected;
  [x, gy, z].forEach((value, n) => near(value, [expected.x, expected.y, expected.z][n]));
  const masses = await device.queue.read(b_bar.mass);
  bodies.forEach(({ at }, n) => near(masses[n], 0.1 * at.x + 0.2 * at.y + 0.3 * at.z));
  throws(
    () => back.prepare(device, { g: vec3(0, 0, 0), b, b_bar: { mass: b_bar.mass }, y_bar: y, e_bar: 1 }, range(4)),
    /b_bar has nothing for at/,
  );
});

test("floats of 16 bits have adjoints of f32", async () => {
  const halves = kernel("halves", { x: view(f16), y: view(f16), w: view(f32) }, ({ x, y, w }, i) => {
    y[i] = x[i] * w[i] * x[i];
  });
  const [x, y, w] = [device.from(f16, [1, 2, 3]), device.array(f16, 3), device.from(f32, [0.5, 0.25, 0.125])];
  const [x_bar, y_bar, w_bar] = [device.array(f32, 3), device.from(f32, [1, 1, 1]), device.array(f32, 3)];
  await vjp(halves, { wrt: ["x", "w"] }).run(device, { x, y, w, x_bar, y_bar, w_bar }, range(3));
  deepEqual([...(await device.queue.read(x_bar))], [1, 1, 0.75]);
  deepEqual([...(await device.queue.read(w_bar))], [1, 4, 9]);
});

test("seeds are cleared, or kept", async () => {
  const double = kernel("double", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    y[i] = 2 * x[i];
  });
  for (const keepSeeds of [false, true]) {
    const [x, x_bar, y_bar] = [array(1, 3), device.from(f64, [1, 1, 1]), device.from(f64, [1, 2, 3])];
    const back = vjp(double, { wrt: ["x"], keepSeeds });
    await back.run(device, { x, x_bar, y_bar }, range(3));
    deepEqual([...(await device.queue.read(x_bar))], [3, 5, 7]);
    deepEqual([...(await device.queue.read(y_bar))], keepSeeds ? [1, 2, 3] : [0, 0, 0]);
    deepEqual(back.needs, []);
  }
});

test("derivatives have the shape of their array, and memory of their own", () => {
  const product = kernel("product", { x: view(f64), y: view(f64), z: view(f64) }, ({ x, y, z }, i) => {
    z[i] = x[i] * y[i] * x[i];
  });
  const back = vjp(product, { wrt: ["x", "y"] });
  const [x, z, x_bar, y_bar, z_bar] = [array(1), array(5), array(2), array(3), array(4)];
  const prepared = (args: Record<string, unknown>) => () =>
    back.prepare(device, { x, y: x, z, x_bar, y_bar, z_bar, ...args }, range(N)).free();
  prepared({})();
  throws(
    prepared({ y_bar: x_bar }),
    /the derivative of kernel "product": x_bar and y_bar share memory, and x_bar is written; give it memory of its own/,
  );
  throws(prepared({ x_bar: x }), /x_bar and x share memory/);
  throws(prepared({ x_bar: array(2, 2 * N) }), /x_bar has the shape \[20\], and its array \[10\]/);
});

test("arrays that the adjoint reads as they were", () => {
  const square = kernel("square", { a: f64, x: view(f64), y: view(f64), z: view(f64) }, ({ a, x, y, z }, i) => {
    x[i] = a * x[i] * x[i];
    z[i] = y[i] + x[i];
  });
  deepEqual(vjp(square, { wrt: ["a", "x", "y"] }).needs, ["x"]);
});

test("remarks name where gradients end", () => {
  const ends = kernel("ends", { x: view(f64), e: view(f64), y: view(f64) }, ({ x, e, y }, i) => {
    y[i] = e[Math.floor(x[i]) | 0] * x[i];
  });
  const { remarks } = vjp(ends, { wrt: ["x", "e"] });
  ok(
    remarks.some((line) => /^gradient ends at floor\(x\[i\]\) \(\S*parameters\.test\.ts:\d+\)$/.test(line)),
    remarks.join("\n"),
  );
  ok(remarks.includes("e_bar is added into by scatter"), remarks.join("\n"));
});

test("fixed parameters", async () => {
  const power = kernel("power", { n: fixed(i32), x: view(f64), y: view(f64) }, ({ n, x, y }, i) => {
    let p = 1;
    for (let k = 0; k < n; k++) p *= x[i];
    y[i] = p;
  });
  const back = vjp(power, { wrt: ["x"], fixed: { n: 3 } });
  const [x, x_bar, y_bar] = [device.from(f64, [2]), device.array(f64, 1), device.from(f64, [1])];
  await back.run(device, { n: 3, x, x_bar, y_bar }, range(1));
  deepEqual([...(await device.queue.read(x_bar))], [12]);
  throws(() => back.prepare(device, { n: 2, x, x_bar, y_bar }, range(1)), /was made for n = 3, and is given 2/);
  throws(() => vjp(power, { wrt: ["x"] }), /n/);
});

test("a prepared adjoint runs as often as wanted", async () => {
  const energy = kernel("energy", { a: f64, x: view(f64), s: sum(f64), m: max(f64) }, ({ a, x, s, m }, i) => {
    s.add(a * x[i] * x[i]);
    m.max(x[i]);
  });
  const [x, x_bar] = [device.from(f64, [1, 2]), device.array(f64, 2)];
  const bound = vjp(energy, { wrt: ["a", "x"] }).prepare(device, { a: 3, x, x_bar, s_bar: 1, m_bar: 10 }, range(2));
  equal(bound.launches.length, 3);
  bound.submit();
  deepEqual(await bound.results(), { a_bar: 5 });
  bound.submit();
  deepEqual([...(await device.queue.read(x_bar))], [12, 44]);
  bound.free();
  throws(() => vjp(energy, { wrt: ["x"] }).prepare(device, { a: 3, x, x_bar, s_bar: 1, m_bar: 1, q: 1 }, range(2)), /takes no "q"/);
});

test("an adjoint of one's own", async () => {
  const cube = kernel("cube", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    y[i] = x[i] * x[i] * x[i];
  });
  const own = kernel("cube_vjp", { x: view(f64), x_bar: view(f64), y_bar: view(f64) }, ({ x_bar, y_bar }, i) => {
    x_bar[i] += y_bar[i] * 100;
    y_bar[i] = 0;
  });
  equal(rule(cube, { wrt: ["x"], needs: ["x"], vjp: own }), cube);
  const [x, x_bar, y_bar] = [device.from(f64, [2]), device.array(f64, 1), device.from(f64, [1])];
  const back = vjp(cube, { wrt: ["x"] });
  deepEqual(back.needs, ["x"]);
  await back.run(device, { x, x_bar, y_bar }, range(1));
  deepEqual([...(await device.queue.read(x_bar))], [100]);
  throws(() => vjp(cube, { wrt: ["y"] }), /vjp is asked for "y", and its rule\(\.\.\.\) has x/);
  throws(() => jvp(cube, { wrt: ["x"] }), GradientError);
  throws(() => rule(cube, { wrt: ["q"], needs: [], vjp: own }), /rule for "cube" names q for wrt; it has x, y/);
});

test("a kernel at which gradients end", async () => {
  const stop = kernel("stop", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    y[i] = x[i] * x[i];
  });
  rule(stop, "none");
  const [x, x_bar, y_bar] = [device.from(f64, [2]), device.array(f64, 1), device.from(f64, [1])];
  await vjp(stop, { wrt: ["x"] }).run(device, { x, x_bar, y_bar }, range(1));
  deepEqual([[...(await device.queue.read(x_bar))], [...(await device.queue.read(y_bar))]], [[0], [0]]);
  const [y, y_dot] = [device.array(f64, 1), device.from(f64, [5])];
  await jvp(stop, { wrt: ["x"] }).run(device, { x, y, y_dot, x_dot: y_bar }, range(1));
  deepEqual([[...(await device.queue.read(y))], [...(await device.queue.read(y_dot))]], [[4], [0]]);
});

test("the tangent of an adjoint is a Hessian times a vector, which is symmetric", async () => {
  const loss = kernel("loss", { w: view(f64), t: scatter(f64) }, ({ w, t }, i) => {
    t.add(0, Math.sin(w[i]) * w[(i + 1) % 4] * w[(i + 3) % 4]);
  });
  const back = vjp(loss, { wrt: ["w"] });
  const hessian = jvp(back.kernels[0], { wrt: ["w"] });
  const rows: number[][] = [];
  for (let n = 0; n < 4; n++) {
    const w_dot = device.from(
      f64,
      [0, 1, 2, 3].map((k) => +(k === n)),
    );
    const [w_bar, w_bar_dot] = [device.array(f64, 4), device.array(f64, 4)];
    await hessian.run(
      device,
      { w: device.from(f64, [0.1, 0.2, 0.3, 0.4]), w_dot, w_bar, w_bar_dot, t_bar: device.from(f64, [1]) },
      range(4),
    );
    rows.push([...(await device.queue.read(w_bar_dot))]);
  }
  for (let a = 0; a < 4; a++) for (let b = 0; b < a; b++) near(rows[a][b], rows[b][a], 1e-15);
  ok(rows[0][1] !== 0);
});

test("a gradient that jumps is told with the number that differs most", async () => {
  const jump = kernel("jump", { x: view(f64), y: view(f64) }, ({ x, y }, i) => {
    y[i] = x[i] > 0 ? x[i] + 1 : x[i];
  });
  await checkGradient(device, jump, { x: device.from(f64, [1, -1]), y: device.array(f64, 2) }, range(2), { wrt: ["x"] });
  const failing = checkGradient(device, jump, { x: device.from(f64, [1, 0]), y: device.array(f64, 2) }, range(2), { wrt: ["x"] });
  const error = await failing.then(
    () => undefined,
    (reason: Error) => reason,
  );
  ok(error instanceof GradientError && /most at y\[1\]/.test(error.message), String(error));
});
