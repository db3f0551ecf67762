import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleBuilder } from "../../../src/emit/wasm/encoder.js";
import { listing } from "../../../src/emit/wasm/listing.js";

test("the listing shows every kind of instruction, of block and of type", () => {
  const module = new ModuleBuilder(true);
  const cos = module.import("Math", "cos", ["f64"], ["f64"]);
  const told = module.import("host", "told", ["i32", "i64", "f32"], []);
  const inner = module.function("inner", ["v128"], ["f32"]);
  inner.get(0);
  inner.lane("f32x4.extract_lane", 3);
  const fn = module.function("outer", ["i32", "f64"], ["f64"]);
  const [a, b, c] = [fn.local("i64"), fn.local("i64"), fn.local("v128")];
  const exit = fn.block();
  const top = fn.loop();
  fn.get(0);
  fn.if("f64");
  fn.get(1);
  fn.call(cos);
  fn.else();
  fn.f64(-Infinity);
  fn.end();
  fn.op("drop");
  fn.get(0);
  fn.brIf(exit);
  fn.br(top);
  fn.end();
  fn.end();
  for (const value of [0, 63, 64, -1, -64, -65, 8191, 8192, 2 ** 31 - 1, -(2 ** 31)]) fn.i32(value);
  for (const value of [0, 63, 64, -1, -64, -65, 2 ** 40, -(2 ** 40) - 1]) fn.i64(value);
  fn.f32(0.5);
  fn.f64(NaN);
  fn.call(told);
  fn.v128([1, -1, 0x80000000, 16]);
  fn.tee(c);
  fn.shuffle([0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11, 28, 29, 30, 31]);
  fn.memoryLane("v128.store64_lane", 300, 1);
  fn.memory("i32.atomic.rmw.add", 8);
  fn.memory("i64.atomic.load", 0);
  fn.set(b);
  fn.get(a);
  fn.op("f64x2.relaxed_madd");
  fn.call(inner.index);
  module.export("outer", fn);
  module.export("in", inner);
  assert.equal(
    listing(module.bytes()),
    `(module
  (import "Math" "cos" (func (param f64) (result f64)))
  (import "host" "told" (func (param i32) (param i64) (param f32)))
  (import "env" "memory" (memory 1 65536 shared))
  (export "outer" (func $outer))
  (export "in" (func $inner))
  (func $inner (param v128) (result f32)
    local.get 0
    f32x4.extract_lane 3
  )
  (func $outer (param i32) (param f64) (result f64)
    (local i64 i64) ;; from 2
    (local v128) ;; from 4
    block
      loop
        local.get 0
        if (result f64)
          local.get 1
          call 0
        else
          f64.const -inf
        end
        drop
        local.get 0
        br_if 1
        br 0
      end
    end
    i32.const 0
    i32.const 63
    i32.const 64
    i32.const -1
    i32.const -64
    i32.const -65
    i32.const 8191
    i32.const 8192
    i32.const 2147483647
    i32.const -2147483648
    i64.const 0
    i64.const 63
    i64.const 64
    i64.const -1
    i64.const -64
    i64.const -65
    i64.const 1099511627776
    i64.const -1099511627777
    f32.const 0.5
    f64.const nan
    call 1
    v128.const i32x4 0x00000001 0xffffffff 0x80000000 0x00000010
    local.tee 4
    i8x16.shuffle 0 1 2 3 20 21 22 23 8 9 10 11 28 29 30 31
    v128.store64_lane offset=300 1
    i32.atomic.rmw.add offset=8
    i64.atomic.load
    local.set 3
    local.get 2
    f64x2.relaxed_madd
    call $inner
  )
)
`,
  );
});

test("the bytes of a module are those of the format", () => {
  const module = new ModuleBuilder(false);
  const fn = module.function("f", ["i32"], ["i32"]);
  fn.get(0);
  fn.memory("i32.load", 200);
  module.export("g", fn);
  assert.deepEqual(
    [...module.bytes()].map((byte) => byte.toString(16)).join(" "),
    [
      "0 61 73 6d 1 0 0 0",
      // Types, imports (the memory with its limits), functions, exports, code, names
      "1 6 1 60 1 7f 1 7f",
      "2 12 1 3 65 6e 76 6 6d 65 6d 6f 72 79 2 1 1 80 80 4",
      "3 2 1 0",
      "7 5 1 1 67 0 0",
      "a a 1 8 0 20 0 28 0 c8 1 b",
      "0 b 4 6e 61 6d 65 1 4 1 0 1 66",
    ].join(" "),
  );
});

test("memories that are shared, and those with 64-bit addresses, say so", () => {
  const memory = (shared: boolean, wide: boolean) => /\(memory .*?\)/.exec(listing(new ModuleBuilder(shared, wide).bytes()))![0];
  assert.deepEqual([memory(false, false), memory(true, false)], ["(memory 1 65536)", "(memory 1 65536 shared)"]);
  assert.deepEqual([memory(false, true), memory(true, true)], ["(memory i64 1 262144)", "(memory i64 1 262144 shared)"]);
});
