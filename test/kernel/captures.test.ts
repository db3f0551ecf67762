import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  f64,
  helper,
  i32,
  kernel,
  KernelError,
  mulhi,
  open,
  range,
  sum,
  table,
  teamKernel,
  teams,
  u32,
  view,
  type Captures,
} from "isoform";
import { dense, type Field } from "isoform/grid";
import { deposit, particles } from "isoform/particles";
import { devices } from "isoform/set";
import { skeleton } from "isoform/skeleton";
import * as other from "./captured.js";
import { fall, G, G as gravity, steps, twice } from "./captured.js";
import { agrees, doubles, integers, lowered, optimised, pointedAt, refusal } from "./lowered.js";

const y = view(f64);
const n = view(i32);

const C = 6.25;
const SEVEN = 7;
const isOn = true;
const weights = table(f64, [0.5, 0.25, 0.125]);
const moves = table(i32, [
  [1, 0],
  [0, -1],
]);
const Real = Float32Array;
const { hypot } = Math;

const wave = (x: number): number => x * amplitude + offset(x);
const offset = (x: number): number => (x > 1 ? C : -C);

describe("a kernel captures what is listed", () => {
  it("numbers, as if they were written", () => {
    const listed = kernel(
      "k",
      { y, n },
      ({ y, n }, i) => {
        y[i] = C * i + SEVEN;
        n[i] = n[i] * SEVEN;
      },
      () => [C, SEVEN],
    );
    const written = kernel("k", { y, n }, ({ y, n }, i) => {
      y[i] = 6.25 * i + 7;
      n[i] = n[i] * 7;
    });
    assert.equal(lowered(listed), lowered(written));
    agrees(listed, { y: doubles(1, 2, 3), n: integers(1, 2, 3) });
  });

  it("as sizes of private arrays and counts of loops", () => {
    const k = kernel(
      "k",
      { y },
      ({ y }, i) => {
        const a = new Float64Array(SEVEN);
        for (let m = 0; m < SEVEN; m++) a[m] = m * y[i];
        y[i] = a[SEVEN - 1];
      },
      () => [SEVEN],
    );
    assert.deepEqual([...agrees(k, { y: doubles(1, 2, 3) }).y.data], [6, 12, 18]);
  });

  it("truth values, which decide what is compiled", () => {
    const k = kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = isOn ? 1 : y[i]),
      () => [isOn],
    );
    assert.equal(optimised(k), "y[i] = 1.0");
  });

  it("tables, which are arrays when the function is called", () => {
    const k = kernel(
      "k",
      { y, n },
      ({ y, n }, i) => {
        for (let m = 0; m < weights.length; m++) y[i] += weights[m];
        n[i] = moves[1][1] + moves[n[i]][0] + moves.length + moves[0].length;
      },
      () => [weights, moves],
    );
    const { y: sums, n: found } = agrees(k, { y: doubles(0, 0, 1), n: integers(0, 1, 0) });
    assert.deepEqual([...sums.data], [0.875, 0.875, 1.875]);
    assert.deepEqual([...found.data], [4, 3, 4]);
  });

  it("functions that use what is listed, and what is declared below or in another module", () => {
    const k = kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = wave(y[i]) + fall(i) + steps(i)),
      () => [wave, offset, C, amplitude, fall, G, steps, twice],
    );
    agrees(k, { y: doubles(0, 1, 2) });
  });

  it("members of modules and of objects, by any name", () => {
    const lattice = { e: moves, speed: { sound: 0.5 } };
    const k = kernel(
      "k",
      { y },
      ({ y }, i) => {
        y[i] += other.fall(i) * (0, other.steps)(i) + gravity;
        y[i] += lattice.e[0][0] + lattice.e.length + lattice.speed.sound;
      },
      () => [other.fall, other.G, other.steps, other.twice, gravity, lattice.e, lattice.speed.sound],
    );
    agrees(k, { y: doubles(0, 1, 2) });
  });

  it("types of arrays and of scratch, mulhi and functions of Math", async () => {
    const k = kernel(
      "k",
      { y, n: view(u32) },
      ({ y, n }, i) => {
        const a = new Real(1);
        a[0] = 0.1;
        y[i] = a[0];
        y[i] += hypot(3, 4);
        n[i] = mulhi(n[i], n[i]);
      },
      () => [Real, mulhi, hypot],
    );
    const team = teamKernel(
      "t",
      { y },
      ({ y }, team) => {
        const t = team.scratch(f64, 4);
        team.range(4, (j) => (t[j] = j));
        team.range(4, (j) => (y[4 * team.index + j] = t[j]));
      },
      () => [f64],
    );
    for (const name of ["js", "js-debug"]) {
      const device = await open(name);
      const [a, b] = [device.array(f64, 4), device.array(u32, 4)];
      device.queue.write(b, new Uint32Array([0x80000000, 3, 0xffffffff, 0]));
      await device.run(k, { y: a, n: b }, range(4));
      assert.deepEqual([...(await device.queue.read(a))], Array(4).fill(Math.fround(0.1) + 5));
      assert.deepEqual([...(await device.queue.read(b))], [0x40000000, 0, 0xfffffffe, 0]);
      await device.run(team, { y: a }, teams(1));
      assert.deepEqual([...(await device.queue.read(a))], [0, 1, 2, 3]);
      await device.close();
    }
  });

  it("beside helpers that are parameters", () => {
    const k = kernel(
      "k",
      { y, scaled: (x: number) => C * twice(x) },
      ({ y, scaled }, i) => (y[i] = scaled(i)),
      () => [C, twice],
    );
    assert.deepEqual([...agrees(k, { y: doubles(0, 0, 0) }).y.data], [0, 12.5, 25]);
  });

  it("functions that have a list of their own, whose names are theirs", () => {
    const made = (C: number) => {
      const t = table(f64, [C, 2]);
      const part = (x: number): number => t[0] * x;
      return helper(
        (x: number): number => part(x) + C,
        () => [part, t, C],
      );
    };
    const [f, g] = [made(10), made(100)];
    const both = helper(
      (x: number): number => f(x) + g(x) + C,
      () => [f, g, C],
    );
    const listed = kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = both(i) + f(i)),
      () => [both, f],
    );
    const given = kernel("k", { y, both, f }, ({ y, both, f }, i) => (y[i] = both(i) + f(i)));
    for (const k of [listed, given]) assert.deepEqual([...agrees(k, { y: doubles(0, 0, 0) }).y.data], [126.25, 246.25, 366.25]);
  });

  it("functions that capture nothing need no list", () => {
    const half = helper((x: number): number => x / 2);
    const k = kernel("k", { y, half }, ({ y, half }, i) => void (y[i] = half(+i)));
    assert.deepEqual([...agrees(k, { y: doubles(0, 0, 0) }).y.data], [0, 0.5, 1]);
    const C = 2;
    const forgetful = helper((x: number): number => x * C);
    assert.match(
      refusal(kernel("k", { y, forgetful }, ({ y, forgetful }, i) => void (y[i] = forgetful(+i)))).message,
      /captures "C", which is neither a parameter nor listed \(add it to the list: \(\) => \[C\]\)/,
    );
  });

  it("whose parameters keep their names to themselves", () => {
    // `unused` is of no use to the body, whose own name comes first, as in JavaScript.
    const k = kernel(
      "k",
      { y, a: f64 },
      ({ y, a: C }, i) => (y[i] = C),
      () => [C],
    );
    assert.deepEqual([...agrees(k, { y: doubles(0, 0, 0) }, 3, { a: 2 }).y.data], [2, 2, 2]);
  });

  it("that a minifier wrote in their place", () => {
    const k = kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = wave(i)),
      () => [wave, 6.25, -1, !0, offset, -C, C, amplitude] as never,
    );
    agrees(k, { y: doubles(0, 0, 0) });
  });
});

// Functions above use it: a list is asked when the kernel is first compiled.
const amplitude = 3;

describe("how tools leave a list", () => {
  const body = ({ y }: { y: { [n: number]: number } }, i: number): void => {
    y[i] = wave(i);
  };
  const tally = { lists: 0 };
  const shapes: Record<string, Captures> = {
    "a function": function () {
      return [wave, offset, C, amplitude];
    },
    "a method": { list: () => [wave, offset, C, amplitude] }.list,
    "counters before it": () => {
      tally.lists++;
      return [wave, offset, C, amplitude];
    },
    "counters inside it": () => (tally.lists++, [wave, offset, C, amplitude]),
  };

  for (const [title, list] of Object.entries(shapes)) it(title, () => void agrees(kernel("k", { y }, body, list), { y: doubles(0, 0, 0) }));

  // Texts of a module and of what it imports, which differ in how they name the same things.
  const from = (text: string, scope: Record<string, unknown>): never =>
    new Function(...Object.keys(scope), `return ${text}`)(...Object.values(scope)) as never;
  const inner = { G: 2, half: (x: number) => 0.5 * x };
  const module = {
    G: 2,
    fall: from("(t) => (0, __vite_ssr_import_0__.half)(__vite_ssr_import_0__.G * t)", { __vite_ssr_import_0__: inner }),
    half: inner.half,
  };
  const imports = ["__vite_ssr_import_3__", "helpers_1", "_helpers", "import_helpers", "_helpers__WEBPACK_IMPORTED_MODULE_0__"];
  for (const name of imports)
    it(`members of ${name}`, () => {
      const scope = { [name]: module };
      const k = kernel(
        "k",
        { y },
        from(`({ y }, i) => { y[i] = (0,${name}.fall)(i) + ${name}["G"]; }`, scope),
        from(`() => [${name}.fall, ${name}["half"], ${name}.G]`, scope),
      );
      assert.deepEqual([...agrees(k, { y: doubles(0, 0, 0) }).y.data], [2, 3, 4]);
    });
});

describe("values are those of the first time that a kernel is compiled", () => {
  it("even where they change later", async () => {
    let factor = 2;
    const k = kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = factor),
      () => [factor],
    );
    const device = await open("js");
    const a = device.array(f64, 2);
    await device.run(k, { y: a }, range(2));
    factor = 3;
    await device.run(k, { y: a }, range(1));
    assert.deepEqual([...(await device.queue.read(a))], [2, 2]);
    await device.close();
  });

  const made = (factor: number, list: readonly number[], add: (x: number) => number) => {
    const t = table(f64, list);
    return kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = add(factor * i) + t[i]),
      () => [add, factor, t],
    );
  };
  const shift = (by: number): ((x: number) => number) => (by === 1 ? (x) => x + 1 : (x) => x + 10);

  for (const name of ["js", "wasm", "native", "js-debug"])
    it(`and kernels of one text are told apart by them on ${name}`, async (t) => {
      const device = await open(name).catch(() => undefined);
      if (!device) return t.skip(`no ${name}`);
      const kernels = [
        made(1, [0, 0, 0], shift(1)),
        made(2, [0, 0, 0], shift(1)),
        made(1, [0, 0, 5], shift(1)),
        made(1, [0, 0, 0], shift(10)),
      ];
      const a = device.array(f64, 3);
      for (const _turn of [1, 2])
        for (const [k, expected] of [
          [kernels[0], [1, 2, 3]],
          [kernels[1], [1, 3, 5]],
          [kernels[2], [1, 2, 8]],
          [kernels[3], [10, 11, 12]],
        ] as const) {
          await device.run(k, { y: a }, range(3));
          assert.deepEqual([...(await device.queue.read(a))], expected);
        }
      await device.close();
    });

  it("and so are containers, which fuse", async () => {
    const device = await open("js");
    const grid = dense(await devices([device]), [4, 4]);
    const [u, v] = [grid.field("u", f64), grid.field("v", f64)];
    const add = (into: Field<"f64", 1, 2>, list: readonly number[], factor: number) => {
      const t = table(f64, list);
      const last = (x: number): number => t[1] + factor * x;
      return grid.container(
        "add",
        { into },
        ({ into }, c) => (into[c] += t[0] + last(c.x)),
        () => [t, last, factor],
      );
    };
    const steps = [add(u, [1, 2], 1), add(u, [10, 20], 100), add(v, [3, 4], 5)];
    u.fill(0);
    v.fill(0);
    const fused = skeleton(grid.set, "s", steps);
    await fused.run(1);
    // u += 1 + 2 + x, u += 10 + 20 + 100 x, v += 3 + 4 + 5 x
    assert.deepEqual([...(await u.download())].slice(0, 4), [33, 134, 235, 336]);
    assert.deepEqual([...(await v.download())].slice(0, 4), [7, 12, 17, 22]);
    await device.close();
  });
});

it("containers of particles capture what is listed", async () => {
  const device = await open("js");
  const grid = dense(await devices([device]), [4, 4], { periodic: true });
  const ions = particles(grid, "ions", { v: f64 });
  const density = grid.field("density", f64);
  const { x, v } = ions.columns;
  const push = ions.container(
    "push",
    { x, v },
    ({ x, v }, p) => (x[p][0] += offset(v[p]) / C),
    () => [offset, C],
  );
  const give = ions.container(
    "give",
    { v, density: deposit(density) },
    ({ v, density }, p, c) => density.add(c, 0, 0, SEVEN * v[p]),
    () => [SEVEN],
  );
  density.fill(0);
  ions.load({ x: [0.5, 0.5, 1.5, 0.5], v: [2, 0] });
  await skeleton(grid.set, "s", [push, give]).run(1);
  // The first goes to the right, the other to the left: C / C cells.
  const { x: at, v: speed } = await ions.download();
  assert.deepEqual(
    [[...at], [...speed]],
    [
      [0.5, 0.5, 1.5, 0.5],
      [0, 2],
    ],
  );
  assert.deepEqual([...(await density.download())].slice(0, 4), [0, 14, 0, 0]);
  assert.throws(
    () =>
      ions.container(
        "k",
        { x },
        ({ x }, p) => (x[p][0] = offset(1)),
        () => [C],
      ),
    {
      name: "ContainerError",
      message: /captures "offset", which is neither a parameter nor listed \(add it to the list: \(\) => \[C, offset\]\)/,
    },
  );
  assert.throws(() => ions.container("k", { x }, ({ x }, p) => (x[p][0] = 1), [C] as never), /given an Array for the list of its captures/);
  assert.throws(() => grid.container("k", { density }, ({ density }, c) => (density[c] = 1), {} as never), /given an Object for the list/);
  await device.close();
});

describe("constants that are parameters", () => {
  it("are f64 and bool in kernels as in containers", async () => {
    const k = kernel("k", { y, C: 6, on: true, off: false, total: sum(f64) }, ({ y, C, on, off, total }, i) => {
      y[i] = on && !off ? i / C : 0;
      total.add(C);
    });
    for (const name of ["js", "js-debug", "wasm"]) {
      const device = await open(name);
      const a = device.array(f64, 3);
      assert.deepEqual(await device.run(k, { y: a }, range(3)), { total: 18 });
      assert.deepEqual([...(await device.queue.read(a))], [0, 1 / 6, 2 / 6]);
      assert.throws(
        () => device.prepare(k, { y: a, C: 3 } as never, range(3)),
        /C is declared as 6, which takes no argument; declare view\(f64\), f64/,
      );
      const u = dense(await devices([device]), [3, 3]).field("u", f64);
      await u.grid.run(
        u.grid.container("k", { u, C: 6, on: true, off: false }, ({ u, C, on, off }, c) => (u[c] = on && !off ? c.x / C : 0)),
      );
      assert.deepEqual([...(await u.download())].slice(0, 3), [0, 1 / 6, 2 / 6]);
      await device.close();
    }
    // An f64, where a constant that is written takes the type of what it meets.
    assert.match(refusal(kernel("k", { n, C: 6 }, ({ n, C }, i) => (n[i] = C))).problem, /n holds i32, and f64 is stored into it/);
  });
});

describe("what cannot be captured is refused", () => {
  const constants = [C];
  const lattice = { w: 1, names: ["a"] };
  const ambiguous = { a: { G: 1, f: (x: number) => x }, b: { G: 2 } };
  const recursive = (x: number): number => (x > 0 ? recursive(x - 1) : x);
  const refuses = (title: string, k: unknown, at: string, problem: RegExp, remedy: RegExp): void =>
    void it(title, () => {
      const error = refusal(k as never);
      assert.match(error.problem, problem);
      assert.match(error.remedy ?? "", remedy);
      assert.ok(pointedAt(error).startsWith(at), `it points at ${pointedAt(error)}`);
    });

  refuses(
    "a name of the body that is missing",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = fall(C * i)),
      () => [fall, G],
    ),
    "C * i",
    /^captures "C", which is neither a parameter nor listed$/,
    /^add it to the list: \(\) => \[fall, G, C\]$/,
  );
  refuses(
    "a name of a function that is missing",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = wave(C * i)),
      () => [wave, C],
    ),
    "amplitude + offset",
    /captures "amplitude"/,
    /^add it to the list: \(\) => \[wave, C, amplitude\]$/,
  );
  refuses(
    "a member that is missing",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = other.fall(i) + lattice.w),
      () => [other.fall, other.G],
    ),
    "lattice.w",
    /captures "lattice.w"/,
    /\(\) => \[other.fall, other.G, lattice.w\]$/,
  );
  refuses(
    "a function of a module that is missing",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = other.fall(i)),
      () => [C],
    ),
    "other.fall",
    /captures "other.fall"/,
    /\(\) => \[C, other.fall\]$/,
  );
  refuses(
    "all names without a list",
    teamKernel("k", { y }, ({ y }, team) => (y[team.index] = C)),
    "C)",
    /^captures "C", which is not a parameter$/,
    /^list it after the function: teamKernel\(name, \{ \.\.\. \}, \(\{ \.\.\. \}, team\) => \.\.\., \(\) => \[C\]\)/,
  );
  refuses(
    "an object",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = lattice.w),
      () => [lattice] as never,
    ),
    "lattice] as never",
    /lattice is an Object, which kernels cannot use/,
    /list what is used of it, \(\) => \[lattice.name\]/,
  );
  refuses(
    "a string",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = lattice.names as never),
      () => [lattice.names[0], lattice.names] as never,
    ),
    "lattice.names] as never",
    /lattice.names is an Array/,
    /numbers as table\(f64, \[\.\.\.\]\)/,
  );
  refuses(
    "what is not there",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = (lattice as never as { gone: number }).gone),
      () => [(lattice as never as { gone: number }).gone],
    ),
    "lattice as never as { gone: number }).gone]",
    /lattice.gone is nothing/,
    /list numbers, tables and functions/,
  );
  refuses(
    "two things of one name that a function may mean",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = fall(i)),
      () => [fall, ambiguous.a.G, ambiguous.b.G],
    ),
    "ambiguous.b.G",
    /a function names "G", which may be ambiguous.a.G or ambiguous.b.G/,
    /give one of them another name/,
  );
  refuses(
    "recursion",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = recursive(i)),
      () => [recursive],
    ),
    "recursive(x - 1)",
    /recursive calls itself/,
    /loop/,
  );
  refuses(
    "a parameter that is listed",
    kernel(
      "k",
      { y, C: f64 },
      ({ y, C }, i) => (y[i] = C),
      () => [C, fall],
    ),
    "C, fall",
    /^C is listed, and is a parameter too$/,
    /take it from one or the other/,
  );
  refuses(
    "no list",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = C),
      () => C as never,
    ),
    "() => C",
    /its captures are not listed one by one/,
    /write \(\) => \[wave, C\]/,
  );
  refuses(
    "a spread",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = C),
      () => [...constants],
    ),
    "() => [...constants]",
    /not listed one by one/,
    /write \(\) => \[wave, C\]/,
  );
  it("what is not declared yet", () => {
    const error = refusal(
      kernel(
        "k",
        { y },
        ({ y }, i) => (y[i] = late),
        () => [late],
      ),
    );
    assert.match(error.problem, /its captures cannot be listed yet: .*late/);
    assert.match(error.remedy!, /declare them before: kernels are compiled at their first use/);
    assert.ok(pointedAt(error).startsWith("() => [late]"));
    const late = 1;
  });

  refuses(
    "a table with gaps",
    kernel(
      "k",
      { y },
      ({ y }, i) => (y[i] = ragged[0][0]),
      () => [ragged],
    ),
    "ragged]",
    /the table ragged is not a full array of rank 1 to 4/,
    /same length/,
  );

  it("where the list is none", () => {
    const given = (list: unknown) => () => kernel("k", { y }, ({ y }, i) => (y[i] = C), list as never);
    assert.throws(
      given([C]),
      (error) => error instanceof KernelError && /it is given an Array for the list of its captures/.test(error.message),
    );
    assert.throws(given(3), /given 3 for the list of its captures \(write kernel\(.*, \(\) => \[helper, CONSTANT\]\)\)/);
  });
});
const ragged = table(f64, [[1], [1, 2]]);
