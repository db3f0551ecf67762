import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import {
  atomic,
  compileKernel,
  doctor,
  f64,
  i32,
  kernel,
  KernelError,
  LaunchError,
  open,
  range,
  reducer,
  scatter,
  sum,
  teamKernel,
  teams,
  u8,
  view,
} from "isoform";
import {
  add,
  and,
  binary,
  call,
  cast,
  compare,
  constant,
  div,
  element,
  entry,
  eq,
  extent,
  ge,
  index,
  IRError,
  KernelBuilder,
  kernelFromIR,
  load,
  lt,
  mul,
  neg,
  not,
  optimise,
  or,
  printKernel,
  rem,
  select,
  sub,
  teamSize,
  unary,
  verify,
  type KernelIR,
} from "isoform/ir";
import { tested } from "../devices.js";

const found = (await doctor()).flatMap(({ devices }) => devices.slice(0, 1).filter(({ capabilities }) => capabilities.f64));
const devices = await Promise.all(found.filter(({ name }) => tested(name)).map(({ name }) => open(name)));
after(() => Promise.all(devices.map((device) => device.close())));
const place = (line: number, column = 1) => ({ file: "heat.f90", line, column });

/** y = a x + y over every second element, with a table, a private array, both loops, a scatter and two reductions. */
function mixedCode(): KernelIR {
  const b = new KernelBuilder("mixed", { location: place(1) });
  const a = b.scalar("a", "f64");
  const x = b.view("x", "f64");
  const bytes = b.view("bytes", "u8");
  const y = b.view("y", "f64", 1);
  const h = b.scatter("h", "i32");
  const s = b.reduce("s", "f64");
  const p = b.reducer("p", "f64", 1, (u, v) => mul(u, v));
  const t = b.table("t", "f64", [
    [0.5, 2],
    [4, 0.25],
  ]);
  const i = index(0);
  const v = b.at(place(2)).let("v", add(mul(a, load(x, i)), entry(t, [rem(i, 2), 1])));
  b.at(place(3)).if(
    and(ge(i, 2), or(not(eq(load(bytes, i), 7)), lt(v, 0))),
    () => {
      const w = b.array("w", "f64", 3);
      b.for("k", 0, 3, (k) => b.setElement(w, k, mul(v, cast("f64", k))));
      b.assign(v, add(element(w, 1), select(lt(v, 1), neg(v), unary("sqrt", v))));
    },
    () => b.store(bytes, i, binary("and", add(load(bytes, i), 200), 255)),
  );
  const n = b.let("n", sub(extent(x), i));
  b.while(compare("gt", n, 0), () => {
    b.if(eq(rem(n, 3), 0), () => b.break());
    b.assign(n, sub(n, 1));
  });
  b.store(y, i, div(v, cast("f64", add(n, 1))));
  b.scatterTo(h, rem(i, 4), 1);
  b.reduceTo(s, load(y, i));
  b.reduceTo(p, select(eq(rem(i, 2), 0), constant("f64", 2), 0.5));
  return b.finish();
}

const mixed = kernel(
  "mixed",
  { a: f64, x: view(f64), bytes: view(u8), y: view(f64), h: scatter(i32), s: sum(f64), p: reducer(f64, 1, (u, v) => u * v) },
  ({ a, x, bytes, y, h, s, p }, i) => {
    let v = a * x[i] + (i % 2 === 0 ? 2 : 0.25);
    if (i >= 2 && (bytes[i] !== 7 || v < 0)) {
      v = v * 1 + (v < 1 ? -v : Math.sqrt(v));
    } else bytes[i] = (bytes[i] + 200) & 255;
    let n = x.length - i;
    while (n > 0) {
      if (n % 3 === 0) break;
      n = n - 1;
    }
    y[i] = v / (n + 1);
    h.add(i % 4, 1);
    s.add(y[i]);
    p.merge(i % 2 === 0 ? 2 : 0.5);
  },
);

it("atomic operations are built as they are lowered", () => {
  const b = new KernelBuilder("queue", { location: place(1) });
  const [n, y] = [b.atomic("n", "i32", 2), b.view("y", "i32")];
  const old = b.fetch("add", n, [index(0), 0], 2);
  b.store(y, index(0), add(old, b.fetch("compareExchange", n, [0, 1], 0, old)));
  const queue = kernel("queue", { n: atomic(i32, 2), y: view(i32) }, ({ n, y }, i) => {
    const old = n.add(i, 0, 2);
    y[i] = old + n.compareExchange(0, 1, 0, old);
  });
  const text = (ir: KernelIR): string => printKernel(ir).replaceAll("n_before_2", "found").replaceAll("n_before", "old");
  assert.equal(text(optimise(b.finish())), text(compileKernel(queue).ir));
});

/** The sum and the greatest value of each row, which is scaled in scratch. */
function rowsCode(): KernelIR {
  const b = new KernelBuilder("rows", { team: true, location: place(20) });
  const x = b.view("x", "f64", 2);
  const y = b.view("y", "f64", 2);
  const held = b.array("held", "f64", 40, "scratch");
  const row = index(0);
  b.teamFor("j", 40, (j) => b.setElement(held, j, mul(load(x, [row, j]), 2)));
  const { total, most } = b.teamReduce("j", extent(x, 1), "f64", { total: "sum", most: "max" }, (j, r) => {
    b.reduceTo(r.total, element(held, j));
    b.reduceTo(r.most, element(held, j));
  });
  b.single(() => {
    b.store(y, [row, 0], total);
    b.store(y, [row, 1], select(ge(teamSize(), 1), most, 0));
  });
  return b.finish();
}

const rows = teamKernel("rows", { x: view(f64, 2), y: view(f64, 2) }, ({ x, y }, team) => {
  const held = team.scratch("f64", 40);
  team.range(40, (j) => {
    held[j] = x[team.index][j] * 2;
  });
  const { total, most } = team.reduce(x[0].length, { total: "sum", most: "max" }, (j, r) => {
    r.total.add(held[j]);
    r.most.max(held[j]);
  });
  team.single(() => {
    y[team.index][0] = total;
    y[team.index][1] = most;
  });
});

describe("a kernel that was built does what one from TypeScript does", () => {
  for (const device of devices)
    it(`on ${device.name}`, async () => {
      const n = 300;
      const outcome = async (made: typeof mixed): Promise<unknown[]> => {
        const args = {
          a: 3,
          x: device.from(
            f64,
            Float64Array.from({ length: n }, (_, k) => Math.sin(k)),
          ),
          bytes: device.from(
            u8,
            Uint8Array.from({ length: n }, (_, k) => k % 9),
          ),
          y: device.array(f64, n),
          h: device.array(i32, 4),
        };
        const results = await device.run(made, args, range(n), { precision: "strict" });
        const { x, bytes, y, h } = args;
        const read = await Promise.all([bytes, y, h].map((of) => device.queue.read(of)));
        [x, bytes, y, h].forEach((of) => of.free());
        return [results, ...read];
      };
      assert.deepEqual(await outcome(kernelFromIR(mixedCode()) as never), await outcome(mixed));

      const leagues = async (made: typeof rows): Promise<unknown> => {
        const x = device.from(
          f64,
          Float64Array.from({ length: 200 }, (_, k) => Math.cos(k)),
          [5, 40],
        );
        const y = device.array(f64, [5, 2]);
        await device.run(made, { x, y }, teams(5), { precision: "strict" });
        const read = await device.queue.read(y);
        [x, y].forEach((of) => of.free());
        return read;
      };
      assert.deepEqual(await leagues(kernelFromIR(rowsCode()) as never), await leagues(rows));
    });
});

describe("what is built", () => {
  it("is the code that lowering makes of the same text", () => {
    const b = new KernelBuilder("axpy");
    const [a, x, y] = [b.scalar("a", "f64"), b.view("x", "f64"), b.view("y", "f64")];
    b.store(y, index(0), add(load(y, index(0)), mul(a, load(x, index(0)))));
    const axpy = kernel("axpy", { a: f64, x: view(f64), y: view(f64) }, ({ a, x, y }, i) => {
      y[i] += a * x[i];
    });
    assert.equal(printKernel(b.finish()), printKernel(compileKernel(axpy).ir));
  });

  it("holds for the verifier, before the passes and behind them", () => {
    for (const ir of [mixedCode(), rowsCode()]) {
      verify(ir);
      verify(optimise(ir));
    }
  });

  it("has names of its own, like those that were wished for", () => {
    const b = new KernelBuilder("names");
    const y = b.view("t", "i32");
    const first = b.let("t", index(0));
    b.for("t", 0, 3, (counter) => b.store(y, index(0), add(counter, first)));
    assert.match(printKernel(b.finish()), /let t_2: i32 = i\n {2}for t_3 = 0 until 3\n {4}t\[i\] = t_3 \+ t_2\n/);
  });

  it("may declare a local that gets its value later", () => {
    const b = new KernelBuilder("later");
    const y = b.view("y", "i32");
    const t = b.declare("t", "i32");
    const set = (value: number) => () => b.assign(t, constant("i32", value));
    b.if(lt(index(0), 3), set(1), set(2));
    b.store(y, index(0), t);
    const ir = b.finish();
    verify(ir);
    const [declared] = ir.body;
    assert.deepEqual(declared.kind === "let" && [declared.name, declared.type, declared.init], ["t", "i32", undefined]);
  });

  it("has statements where they were told to be", () => {
    const lines = mixedCode().body.map(({ location }) => location.line);
    assert.deepEqual(lines.slice(0, 3), [2, 3, 3]);
  });

  it("rounds constants of f32, and knows one zero of integers", () => {
    assert.deepEqual(constant("f32", 0.1), { op: "const", type: "f32", value: Math.fround(0.1) });
    assert.deepEqual(add(index(0), -0), { op: "binary", type: "i32", fn: "add", a: index(0), b: { op: "const", type: "i32", value: 0 } });
  });

  it("takes scratch of a length that the launch tells", async () => {
    const b = new KernelBuilder("reversed", { team: true });
    const [n, x] = [b.scalar("n", "i32"), b.view("x", "f64", 2)];
    const held = b.teamRows("held", "f64", n);
    const [team, running] = [index(0), index(1)];
    b.teamFor("j", n, (j) => b.store(held, [running, j], load(x, [team, j])));
    b.teamFor("j", n, (j) => b.store(x, [team, j], load(held, [running, sub(sub(n, 1), j)])));
    const reversed = kernelFromIR(b.finish());
    for (const device of devices) {
      const data = device.from(f64, [1, 2, 3, 4, 5, 6], [2, 3]);
      await device.run(reversed, { n: 3, x: data }, teams(2));
      assert.deepEqual([...(await device.queue.read(data))], [3, 2, 1, 6, 5, 4], device.name);
    }
  });
});

describe("errors name the place in the front end's source", () => {
  const shift = (by: number): KernelIR => {
    const b = new KernelBuilder("shift", { location: place(7, 3) });
    const [x, y] = [b.view("x", "f64"), b.view("y", "f64")];
    b.at(place(9, 5)).store(x, index(0), load(y, add(index(0), by), place(9, 12)));
    return b.finish();
  };

  it("of a launch that goes out of bounds", () => {
    const [device] = devices;
    const [x, y] = [device.array(f64, 4), device.array(f64, 4)];
    assert.throws(
      () => device.prepare(kernelFromIR(shift(1)), { x, y }, range(4)),
      (error) =>
        error instanceof LaunchError &&
        /kernel "shift" \(heat\.f90:7\) on .*: reads y\[i \+ 1\] at heat\.f90:9 with index 4 along axis 0/.test(error.message),
    );
  });

  it("of an index that the author counts from another bound", () => {
    const [device] = devices;
    const b = new KernelBuilder("bounded", { location: place(7, 3) });
    const ng = b.scalar("ng", "i32");
    const x = b.view("x", "f64", 2, {
      bounds: [
        { axis: 2, lower: constant("i32", 0) },
        { axis: 1, lower: sub(1, ng), upper: add(4, ng) },
      ],
    });
    b.at(place(9, 5)).store(x, [index(0), add(index(0), 4)], 1);
    const ir = b.finish();
    const launched = (rows: number, ng: number) => () =>
      device.prepare(kernelFromIR(ir), { ng, x: device.array(f64, [rows, 4 + 2 * ng]) }, range(3));
    assert.throws(launched(4, 1), /writes x at heat\.f90:9 with index 6 along axis 1, but x goes from 1 - ng to 4 \+ ng \(0 to 5\) there/);
    assert.throws(launched(2, 2), /with index 2 along axis 2, but x goes from 0 to 1 there/);
  });

  it("of a race", () => {
    const b = new KernelBuilder("racing", { location: place(1) });
    const x = b.view("x", "f64");
    b.at(place(4, 8)).store(x, 0, load(x, index(0)));
    assert.throws(
      () => compileKernel(kernelFromIR(b.finish())),
      (error) => error instanceof KernelError && error.message.startsWith('kernel "racing", heat.f90:4:8: '),
    );
  });
});

describe("a wrong call is refused at once", () => {
  const refused = (message: string, build: (b: KernelBuilder) => unknown, team?: true): void =>
    void it(message, () => {
      const b = new KernelBuilder("wrong", { location: place(5), team });
      assert.throws(
        () => build(b),
        (error) => {
          assert.ok(error instanceof IRError && !(error instanceof TypeError));
          assert.equal(error.message, message);
          return true;
        },
      );
    });
  const at = 'invalid code for kernel "wrong", heat.f90:5:1: ';

  refused("invalid code: i + n: i32, f64 gives i32", (b) => add(index(0), b.scalar("n", "f64")));
  refused("invalid code: operands 1 and 2 have no type: write constant(type, value) for one of them", () => add(1, 2 as never));
  refused("invalid code: 0.5 is not a value of i32; convert it, or use another type", () => add(index(0), 0.5));
  refused("invalid code: sqrt(i): i32 gives i32", () => unary("sqrt", index(0)));
  refused("invalid code: 2.0 & 2.0: f64, f64 gives f64", () => binary("and", constant("f64", 2), 2));
  refused("invalid code: true < false: bool, bool gives bool", () => lt(constant("bool", true), false));
  refused("invalid code: i && true: i32, bool gives bool", () => and(index(0), true));
  refused("invalid code: i ? 1 : 2: i32, i32, i32 gives i32", () => select(index(0), constant("i32", 1), 2));
  refused("invalid code: sin(i): i32 gives i32", () => call("sin", index(0)));
  refused("invalid code: pow(2.0): f64 gives f64", () => call("pow", constant("f64", 2)));
  refused("invalid code: 2 indices of x, which has rank 1", (b) => load(b.view("x", "f64"), [index(0), index(0)]));
  refused("invalid code: x is indexed by 2.0, which is f64: cast it to i32", (b) => load(b.view("x", "f64"), constant("f64", 2)));
  refused("invalid code: x has no axis 1: its rank is 1", (b) => extent(b.view("x", "f64"), 1));

  refused(`${at}x has rank 8: arrays have 1 to 7 axes`, (b) => b.view("x", "f64", 8));
  refused(`${at}x of rank 2 has bounds for 1 axes`, (b) => b.view("x", "f64", 2, { bounds: [{ axis: 1, lower: constant("i32", 1) }] }));
  refused(`${at}a bound of x is f64`, (b) => b.view("x", "f64", 1, { bounds: [{ axis: 1, lower: constant("f64", 1) }] }));
  refused(`${at}the name x is declared twice`, (b) => [b.view("x", "f64"), b.scalar("x", "f64")]);
  refused(`${at}table t has rows of 2 and of 1`, (b) => b.table("t", "f64", [[1, 2], [3]]));
  refused(`${at}0.5 is not a value of i32; convert it, or use another type`, (b) => b.table("t", "i32", [1, 0.5]));
  refused(`${at}store of i32 into x, which takes f64`, (b) => b.store(b.view("x", "f64"), 0, index(0)));
  refused(`${at}3 indices of x, which has rank 2`, (b) => b.store(b.view("x", "f64", 2), [0, 0, 0], 1));
  refused(`${at}j: no such axis`, (b) => b.let("a", index(1)));
  refused(`${at}assignment of i32 to t, which is f64`, (b) => b.assign(b.let("t", constant("f64", 0)), index(0)));
  refused(`${at}t: not declared here`, (b) => {
    let inner = b.let("outer", index(0));
    b.if(true, () => (inner = b.let("t", index(0))));
    b.assign(inner, inner);
  });
  refused(`${at}assignment to k, which is a loop variable or array`, (b) => b.for("k", 0, 3, (k) => b.assign(k as never, 1)));
  refused(`${at}loop by step 0`, (b) => b.for("k", 0, 3, () => {}, 0));
  refused(`${at}break outside a loop`, (b) => b.break());
  refused(`${at}continue outside a loop`, (b) =>
    b.while(
      false,
      () => {},
      () => b.continue(),
    ),
  );
  refused(`${at}condition of type i32`, (b) => b.if(index(0), () => {}));
  refused(`${at}array w of length 0`, (b) => b.array("w", "f64", 0));
  refused(`${at}scratch w outside the team's level`, (b) => b.array("w", "f64", 4, "scratch"));
  refused(`${at}teamFor in a range kernel`, (b) => b.teamFor("j", 3, () => {}));
  refused(`${at}a fold of f64 gives i32`, (b) => b.reducer("r", "f64", 0, () => index(0)));
  refused(`${at}f64 folded into s, which is i32`, (b) => b.reduceTo(b.reduce("s", "i32"), constant("f64", 1)));
  refused(`${at}the length of w is f64`, (b) => b.teamRows("w", "f64", constant("f64", 1)), true);
  refused(`${at}single inside another statement of the team`, (b) => b.teamFor("j", 3, () => b.single(() => {})), true);
  refused(
    `${at}r is not a reduction here`,
    (b) => {
      let target = b.reduce("s", "f64") as { name: string; type: "f64" };
      b.teamReduce("j", 3, "f64", { r: "sum" }, (_, { r }) => (target = r));
      b.reduceTo(target, 1);
    },
    true,
  );
  refused(`${at}it is finished inside of a statement`, (b) => b.if(true, () => b.finish()));
  refused(`${at}it is finished, and nothing can be added`, (b) => {
    b.finish();
    b.let("t", index(0));
  });
});
