import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { f64, i32, kernel, list, open, range, sum, view, type Device, type RangePolicy } from "isoform";
import { share } from "../random/share.js";
import { ELSEWHERE } from "../devices.js";

/* Random bodies that append to two lists, compared with the same function called as plain TypeScript. */

type Next = () => number;

/** Numbers from 0 to below 1. */
function random(seed: number): Next {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Writes the text of a body. */
class Writer {
  private loops = 0;

  constructor(
    private readonly next: Next,
    private readonly indices: readonly string[],
  ) {}

  function(): string {
    const last = this.indices.at(-1)!;
    const text = `({ x, n, y, total, a, b }, ${this.indices.join(", ")}) => {
      const at = ${this.indices.map((name, axis) => `${name} * ${axis === 0 ? 3 : 1}`).join(" + ")};
      let s = x[${last}] * 2;
      ${this.block(3)}
      y${this.indices.map((name) => `[${name}]`).join("")} = s;
      total.add(s);
      ${this.next() < 0.5 ? "if (s > 1.5) a.push(at);" : ""}
    }`;
    return text;
  }

  private below(count: number): number {
    return Math.floor(this.next() * count);
  }

  private block(depth: number): string {
    return Array.from({ length: 1 + this.below(3) }, () => this.statement(depth)).join("\n");
  }

  private statement(depth: number): string {
    const last = this.indices.at(-1)!;
    switch (this.below(depth > 0 ? 8 : 4)) {
      case 0:
        return `a.push(at + ${this.below(9)});`;
      case 1:
        return `b.push(s * ${this.below(4)} + x[${last}]);`;
      case 2:
        return `if (${this.condition()}) b.push(x[${last}]);`;
      case 3:
        return `s = s * 0.5 + ${this.next().toFixed(3)};`;
      case 4:
      case 5:
        return `if (${this.condition()}) { ${this.block(depth - 1)} }${this.next() < 0.4 ? ` else { ${this.block(depth - 1)} }` : ""}`;
      case 6: {
        const k = `k${this.loops++}`;
        const end = this.next() < 0.5 ? `${1 + this.below(3)}` : `n[${last}] % ${2 + this.below(2)}`;
        const jump = this.next() < 0.4 ? `if (${this.condition()}) ${this.next() < 0.5 ? "break" : "continue"};` : "";
        return `for (let ${k} = 0; ${k} < ${end}; ${k}++) { ${this.block(depth - 1)} ${jump} a.push(${k}); }`;
      }
      default:
        return `if (${this.condition()}) { a.push(7); b.push(s); return; }`;
    }
  }

  private condition(): string {
    const last = this.indices.at(-1)!;
    return [
      `x[${last}] > ${this.next().toFixed(3)}`,
      `(at + ${this.below(5)}) % ${2 + this.below(4)} === 1`,
      `s < ${this.next().toFixed(3)}`,
      `n[${last}] > ${this.below(4)}`,
    ][this.below(4)];
  }
}

const RANGES: readonly [indices: readonly string[], extents: readonly number[], policy: RangePolicy][] = [
  [["i"], [700], range(700)],
  [["i"], [700], range([5, 650])],
  [["i", "j"], [5, 300], range([1, 5], 300)],
  [["i", "j", "k"], [3, 4, 40], range(3, [1, 4], [2, 40])],
];

/** A case: the kernel, what it is given, and what the function itself makes of it. */
function made(seed: number) {
  const next = random(seed);
  const [indices, extents, policy] = RANGES[seed % RANGES.length];
  const text = new Writer(next, indices).function();
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const body = new Function(`return ${text}`)() as (params: never, ...at: number[]) => void;
  const length = extents.at(-1)!;
  const x = Float64Array.from({ length }, next);
  const n = Int32Array.from({ length }, () => Math.floor(next() * 5));
  const [a, b]: [number[], number[]] = [[], []];
  const size = extents.reduce((p, q) => p * q, 1);
  const y = new Float64Array(size);
  const rows = (from: number, axes: readonly number[]): unknown => {
    if (axes.length === 1) return y.subarray(from, from + axes[0]);
    const inner = axes.slice(1).reduce((p, q) => p * q, 1);
    return Array.from({ length: axes[0] }, (_, k) => rows(from + k * inner, axes.slice(1)));
  };
  const params = { x, n, y: rows(0, extents), total: { add: () => undefined }, a, b } as never;
  const visit = (at: readonly number[]): void => {
    const axis = at.length;
    if (axis === extents.length) return body(params, ...at);
    for (let k = 0; k < policy.extents[axis]; k++) visit([...at, policy.begin[axis] + k]);
  };
  visit([]);
  const rank = extents.length as 1 | 2 | 3;
  const random64 = kernel(
    `random${seed}`,
    { x: view(f64), n: view(i32), y: view(f64, rank as 2), total: sum(f64), a: list(i32, 500), b: list(f64, 500) },
    body as never,
  );
  return { kernel: random64, text, policy, extents, x, n, y, a, b };
}

async function agrees(device: Device, seed: number): Promise<void> {
  const { kernel, text, policy, extents, x, n, y, a, b } = made(seed);
  const [lists, stored] = [{ a: device.list(i32, a.length + 1), b: device.list(f64, b.length + 1) }, device.array(f64, extents)];
  const args = { x: device.from(f64, x), n: device.from(i32, n), y: stored as never, ...lists };
  for (const options of [{ precision: "strict" }, { precision: "fast" }, { precision: "fast", checked: true }] as const) {
    const what = `seed ${seed}, ${device.name}, ${JSON.stringify(options)}:\n${text}`;
    const results = await device.run(kernel, args, policy, options).catch((error: Error) => assert.fail(`${error.message}\n${what}`));
    assert.deepEqual([results.a, results.b], [a.length, b.length], what);
    assert.deepEqual([...(await device.queue.read(lists.a.view))].slice(0, a.length), a, what);
    assert.deepEqual([...(await device.queue.read(lists.b.view))].slice(0, b.length), b, what);
    if (options.precision === "strict") assert.deepEqual(await device.queue.read(stored), y, what);
  }
  for (const each of [args.x, args.n, stored, lists.a, lists.b]) each.free();
}

describe("random bodies with lists", { skip: ELSEWHERE }, () => {
  for (const [name, count] of [
    ["js", 200],
    ["wasm", 200],
    ["js-debug", 60],
    ["native", 8],
  ] as const)
    it(`append on ${name} what the plain function appends`, async (t) => {
      const device = await open(name).catch((error: Error) => error.message);
      if (typeof device === "string") return t.skip(device);
      for (let seed = 1; seed <= share(count); seed++) await agrees(device, seed);
      await device.close();
    });
});
