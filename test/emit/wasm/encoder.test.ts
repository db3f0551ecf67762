import assert from "node:assert/strict";
import test from "node:test";
import { type FunctionBuilder, ModuleBuilder } from "../../../src/emit/wasm/encoder.js";
import type { ValType } from "../../../src/emit/wasm/encoder.js";
import { listing } from "../../../src/emit/wasm/listing.js";
import { opcode } from "../../../src/emit/wasm/opcodes.js";

/** A module whose function `f` is filled by `emit`, run with a page of memory. */
function build(
  results: ValType[],
  emit: (fn: FunctionBuilder) => void,
): { bytes: Uint8Array<ArrayBuffer>; f: () => unknown; memory: WebAssembly.Memory } {
  const module = new ModuleBuilder(false);
  const fn = module.function("f", [], results);
  emit(fn);
  module.export("f", fn);
  const bytes = module.bytes();
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  return { bytes, f: exports.f as () => unknown, memory };
}

test("constants of every length", () => {
  for (const value of [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, 2 ** 27, -(2 ** 27) - 1, 0x7fffffff, -0x80000000])
    assert.equal(build(["i32"], (fn) => fn.i32(value)).f(), value);
  for (const value of [0, -0, 0.1, Infinity, 5e-324]) assert(Object.is(build(["f64"], (fn) => fn.f64(value)).f(), value));
  assert.equal(build(["f32"], (fn) => fn.f32(0.1)).f(), Math.fround(0.1));
  for (const value of [0, -5, 63, 64, -64, -65, 2 ** 33, -(2 ** 33) - 1, 2 ** 53 - 1])
    assert.equal(build(["i64"], (fn) => fn.i64(value)).f(), BigInt(value));
});

test("a function larger than the buffer that it starts in", () => {
  const { f } = build(["i32"], (fn) => {
    fn.i32(0);
    for (let n = 0; n < 1000; n++) {
      fn.i32(n);
      fn.op("i32.add");
    }
  });
  assert.equal(f(), 499500);
});

test("branches find their blocks", () => {
  const { f } = build(["i32"], (fn) => {
    const [n, total] = [fn.local("i32"), fn.local("i32")];
    const exit = fn.block();
    const top = fn.loop();
    fn.get(n);
    fn.i32(10);
    fn.op("i32.eq");
    fn.if();
    fn.br(exit);
    fn.end();
    fn.get(total);
    fn.get(n);
    fn.op("i32.add");
    fn.set(total);
    fn.get(n);
    fn.i32(1);
    fn.op("i32.add");
    fn.set(n);
    fn.br(top);
    fn.end();
    fn.end();
    fn.get(total);
  });
  assert.equal(f(), 45);
});

test("code added to a gap runs where the gap is", () => {
  const { f } = build(["i32"], (fn) => {
    const a = fn.local("i32");
    const gap = fn.gap();
    fn.get(a);
    fn.within(gap, () => {
      fn.i32(7);
      fn.set(a);
    });
    fn.i32(1);
    fn.op("i32.add");
  });
  assert.equal(f(), 8);
});

test("vectors, lanes and memory", () => {
  const { f, memory } = build([], (fn) => {
    fn.i32(16);
    fn.v128([1, 2, 3, 4]);
    fn.v128([10, 20, 30, 40]);
    fn.shuffle([0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31]);
    fn.memory("v128.store", 4);
    fn.i32(0);
    fn.i32(0);
    fn.v128([0, 0, 0, 0]);
    fn.memoryLane("v128.load32_lane", 28, 2);
    fn.lane("i32x4.extract_lane", 2);
    fn.memory("i32.store", 40);
  });
  f();
  assert.deepEqual([...new Int32Array(memory.buffer, 20, 6)], [1, 20, 3, 40, 0, 3]);
});

test("an imported function is numbered before the module's own", () => {
  const module = new ModuleBuilder(false);
  const cos = module.import("Math", "cos", ["f64"], ["f64"]);
  assert.equal(module.import("Math", "cos", ["f64"], ["f64"]), cos);
  const fn = module.function("f", ["f64"], ["f64"]);
  fn.get(0);
  fn.call(cos);
  module.export("f", fn);
  assert.throws(() => module.import("Math", "sin", ["f64"], ["f64"]), /after the first function/);
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module.bytes()), {
    env: { memory },
    Math: Math as unknown as WebAssembly.ModuleImports,
  });
  assert.equal((exports.f as (x: number) => number)(0.5), Math.cos(0.5));
});

test("an unknown instruction is refused", () => assert.throws(() => opcode("f64.cosine"), /no WebAssembly instruction "f64.cosine"/));

test("the listing names what the module holds", () => {
  const { bytes } = build(["f64"], (fn) => {
    const x = fn.local("f64");
    fn.i32(8);
    fn.if();
    fn.i32(-300);
    fn.memory("f64.load", 16);
    fn.set(x);
    fn.end();
    fn.get(x);
    fn.f64(-0);
    fn.op("f64.add");
  });
  assert.equal(
    listing(bytes),
    `(module
  (import "env" "memory" (memory 1 65536))
  (export "f" (func $f))
  (func $f (result f64)
    (local f64) ;; from 0
    i32.const 8
    if
      i32.const -300
      f64.load offset=16
      local.set 0
    end
    local.get 0
    f64.const -0
    f64.add
  )
)
`,
  );
});
