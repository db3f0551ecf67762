import assert from "node:assert/strict";
import test from "node:test";
import { f64, i32, KernelError, open, range, type Device } from "../../src/index.js";
import * as ir from "../../src/ir-api.js";
import { backend as native } from "../../src/device/native/native.js";
import { tested } from "../devices.js";

/*
 * Kernels whose indices depend on data, some of them outside, from a seed: on every device they give the same bits or the same error.
 */

const KERNELS = Number(process.env.ISOFORM_RANDOM_INDICES ?? 60);
const N = 300;

/** Numbers from a seed. */
class Dice {
  constructor(private state: number) {}
  below(n: number): number {
    this.state = (Math.imul(this.state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.state / 2 ** 32) * n);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)];
  }
}

function randomKernel(seed: number) {
  const dice = new Dice(seed);
  const b = new ir.KernelBuilder(`random${seed}`, { location: { file: "random.ts", line: seed, column: 1 } });
  const [x, at, y, grid] = [b.view("x", "f64"), b.view("at", "i32"), b.view("y", "f64"), b.view("grid", "f64", 2)];
  // Who comes last there does not matter: all store the same.
  const marks = b.view("marks", "f64", 2, { disjoint: true });
  const sums = b.scatter("sums", "i32");
  const i = ir.index(0);
  const own = b.array("own", "f64", 5);
  const locals: ir.Expr[] = [];

  /** Mostly inside of 0 to `most` - 1. */
  const whole = (depth: number, most: number): ir.Expr => {
    if (depth === 0) return dice.pick([i, ir.constant("i32", dice.below(most)), ...locals]);
    const inner = (): ir.Expr => whole(depth - 1, most);
    switch (dice.below(9)) {
      case 0:
        return ir.add(inner(), ir.constant("i32", dice.below(3) - 1));
      case 1:
        return ir.sub(inner(), inner());
      case 2:
        return ir.rem(inner(), ir.constant("i32", most));
      case 3:
        return ir.binary("and", inner(), ir.constant("i32", 15));
      case 4:
        return ir.select(ir.lt(inner(), ir.constant("i32", most)), inner(), ir.constant("i32", 0));
      case 5:
        return ir.binary("max", inner(), ir.constant("i32", 0));
      default:
        return ir.load(at, ir.rem(ir.binary("max", inner(), ir.constant("i32", 0)), ir.constant("i32", dice.below(9) === 0 ? 400 : N)));
    }
  };
  /** An index, five times of six brought inside. */
  const place = (depth: number, most: number): ir.Expr => {
    const any = whole(depth, most);
    return dice.below(6) === 0 ? any : ir.rem(ir.binary("and", any, ir.constant("i32", 1023)), ir.constant("i32", most));
  };
  const value = (depth: number): ir.Expr => {
    switch (dice.below(depth === 0 ? 4 : 7)) {
      case 0:
        return ir.load(x, place(2, N));
      case 1:
        return ir.load(grid, [place(1, 20), place(2, 15)]);
      case 2:
        return ir.element(own, place(2, 5));
      case 3:
        return ir.constant("f64", dice.below(10));
      case 4:
        return ir.select(ir.lt(value(depth - 1), value(0)), value(depth - 1), value(depth - 1));
      default:
        return ir.binary(dice.pick(["add", "sub", "mul"] as const), value(depth - 1), value(depth - 1));
    }
  };
  const statement = (depth: number): void => {
    switch (dice.below(depth === 0 ? 5 : 7)) {
      case 0:
        return b.store(y, i, value(2));
      case 1:
        return b.setElement(own, place(1, 5), value(1));
      case 2:
        return b.scatterTo(sums, place(2, N), whole(1, N));
      case 3:
        return b.store(marks, [place(1, 20), place(1, 15)], ir.constant("f64", 1));
      case 4:
        return void locals.push(b.let("k", whole(2, N)));
      case 5: {
        const kept = locals.length;
        b.if(ir.lt(value(1), value(1)), () => statement(depth - 1));
        locals.length = kept;
        return;
      }
      default: {
        const kept = locals.length;
        b.for("n", 0, ir.rem(whole(1, 6), ir.constant("i32", 6)), (n) => {
          locals.push(n);
          statement(depth - 1);
        });
        locals.length = kept;
      }
    }
  };
  for (let n = 0; n < 4; n++) statement(2);
  b.store(y, i, value(2));
  return ir.kernelFromIR(b.finish());
}

async function outcome(device: Device, seed: number): Promise<string> {
  const dice = new Dice(seed + 1000);
  const bad = dice.below(3) === 0 ? 0 : dice.below(4);
  const at = Int32Array.from({ length: N }, () => dice.below(14));
  for (let n = 0; n < bad; n++) at[dice.below(N)] = dice.pick([-1, N, 2e9, -2e9, 200]);
  const views = {
    x: device.from(
      f64,
      Float64Array.from({ length: N }, (_, n) => n / 8),
    ),
    at: device.from(i32, at),
    y: device.array(f64, N),
    grid: device.from(
      f64,
      Float64Array.from({ length: N }, (_, n) => n % 7),
      [20, 15],
    ),
    marks: device.array(f64, [20, 15]),
    sums: device.array(i32, N),
  };
  try {
    await device.run(randomKernel(seed), views as never, range(N) as never, { precision: "strict" });
  } catch (error) {
    // What a kernel races in, or is outside for certain, all refuse alike before it runs.
    return `${error instanceof KernelError ? "fails" : "is refused"}: ${(error as Error).message.replaceAll(device.name, "device")}`;
  }
  const read = await Promise.all([views.y, views.marks, views.sums].map((view) => device.queue.read(view)));
  return read.map((values) => values.join()).join(" | ");
}

test("random kernels with indices from data give the same bits or the same error everywhere", async () => {
  const missing = (await native.probe()).missing;
  const names = ["js", "wasm", ...(missing ? [] : ["native"])].filter(tested);
  const devices = await Promise.all(names.map((name) => open(name)));
  const counts = { bits: 0, fails: 0, refused: 0 };
  for (let seed = 1; seed <= KERNELS; seed++) {
    const found = [];
    for (const device of devices) found.push(await outcome(device, seed));
    for (const other of found) assert.equal(other, found[0], `seed ${seed}`);
    counts[found[0].startsWith("fails") ? "fails" : found[0].startsWith("is refused") ? "refused" : "bits"]++;
  }
  for (const device of devices) await device.close();
  assert.ok(devices.length === 0 || (counts.bits > 0 && counts.fails > 0), JSON.stringify(counts));
  console.log(JSON.stringify(counts));
});
