import { wordOf } from "../../base/names.js";
import { identityOf } from "../../ir/identity.js";
import { BYTES } from "../../ir/scalars.js";
import { hashShift, HEAD_BYTES, LINE_ELEMENTS, LINE_HASH, WORKER_LINES } from "../../ir/cache-lines.js";
import type { NumericType, ScatterParam } from "../../ir/types.js";
import { Address } from "./address.js";
import { emitAtomicUpdate } from "./atomic.js";
import type { FunctionBuilder } from "./encoder.js";
import { SLICE_PARAMS, valType, type KernelCode } from "./kernel-code.js";

/* Scatter caches of workers: see ir/cache-lines.ts. */

const lineBytes = (type: NumericType): number => LINE_ELEMENTS * BYTES[type];

/**
 * A function (distance, target, cache) that gives the place of an element in a scatter cache, by its distance in bytes from the first of the target. Another
 * line that has its place goes to the target.
 */
export function cacheSlot(code: KernelCode, param: ScatterParam): FunctionBuilder {
  const { op, element } = param;
  const name = `cached_${op}_${element}`;
  const known = code.helpers.get(name);
  if (known) return known;
  const spill = spillLine(code, param);
  const A = code.address.type;
  const fn = code.module.function(name, [A, A, A], [A]);
  code.helpers.set(name, fn);
  const address = new Address(fn, code.spec.wide);
  const [distance, target, cache] = [0, 1, 2];
  const [line, place, held, values] = [fn.local("i32"), fn.local("i32"), fn.local(A), fn.local(A)];
  fn.get(distance);
  address.constant(Math.log2(lineBytes(element)));
  fn.op(`${A}.shr_u`);
  if (A === "i64") fn.op("i32.wrap_i64");
  fn.tee(line);
  fn.i32(LINE_HASH);
  fn.op("i32.mul");
  fn.i32(hashShift(WORKER_LINES));
  fn.op("i32.shr_u");
  fn.tee(place);
  address.scale(4);
  fn.get(cache);
  address.add();
  fn.set(held);
  fn.get(place);
  address.scale(lineBytes(element));
  fn.get(cache);
  address.add();
  address.advance(HEAD_BYTES);
  fn.set(values);
  fn.get(held);
  fn.memory("i32.load", 0);
  fn.get(line);
  fn.op("i32.ne");
  fn.if();
  for (const local of [target, held, values]) fn.get(local);
  fn.call(spill.index);
  fn.get(held);
  fn.get(line);
  fn.memory("i32.store", 0);
  fn.end();
  fn.get(distance);
  address.constant(lineBytes(element) - 1);
  fn.op(`${A}.and`);
  fn.get(values);
  address.add();
  return fn;
}

/** A function (target, held, values) that brings the values of one line to the target; its number is at `held`. */
function spillLine(code: KernelCode, param: ScatterParam): FunctionBuilder {
  const { op, element } = param;
  const name = `spill_${op}_${element}`;
  const known = code.helpers.get(name);
  if (known) return known;
  const [A, T] = [code.address.type, valType(element)];
  const update = emitAtomicUpdate(code, param);
  const fn = code.module.function(name, [A, A, A]);
  code.helpers.set(name, fn);
  const address = new Address(fn, code.spec.wide);
  const identity = identityOf(op, element) as number | bigint;
  const constant = (): void => {
    if (typeof identity === "bigint") fn.i64(identity);
    else if (T === "f64") fn.f64(identity);
    else if (T === "f32") fn.f32(identity);
    else fn.i32(identity);
  };
  const [target, held, values] = [0, 1, 2];
  const [place, value] = [fn.local(A), fn.local(T)];
  fn.get(held);
  fn.memory("i32.load", 0);
  address.scale(lineBytes(element));
  fn.get(target);
  address.add();
  fn.set(place);
  for (let n = 0; n < LINE_ELEMENTS; n++) {
    const offset = n * BYTES[element];
    fn.get(values);
    fn.memory(`${T}.load`, offset);
    fn.tee(value);
    constant();
    fn.op(`${T}.ne`);
    fn.if();
    fn.get(place);
    address.advance(offset);
    fn.get(value);
    update(fn);
    fn.get(values);
    constant();
    fn.memory(`${T}.store`, offset);
    fn.end();
  }
  return fn;
}

/** A function (args, worker) that brings all that is in the worker's scatter cache of a target to it. */
export function spillFunction(code: KernelCode, param: ScatterParam): FunctionBuilder {
  const A = code.address.type;
  const spill = spillLine(code, param);
  const fn = code.module.function(`spill_cache_${wordOf(param.name)}`, [A, "i32"]);
  const address = new Address(fn, code.spec.wide);
  const [target, held, values, place] = [fn.local(A), fn.local(A), fn.local(A), fn.local("i32")];
  fn.get(SLICE_PARAMS.args);
  fn.memory(`${A}.load`, code.slot({ kind: "view", name: param.name }));
  fn.set(target);
  code.loadCache(param.name, fn);
  fn.tee(held);
  address.advance(HEAD_BYTES);
  fn.set(values);
  const top = fn.loop();
  for (const local of [target, held, values]) fn.get(local);
  fn.call(spill.index);
  for (const [local, bytes] of [
    [held, 4],
    [values, lineBytes(param.element)],
  ]) {
    fn.get(local);
    address.advance(bytes);
    fn.set(local);
  }
  fn.get(place);
  fn.i32(1);
  fn.op("i32.add");
  fn.tee(place);
  fn.i32(WORKER_LINES);
  fn.op("i32.lt_u");
  fn.brIf(top);
  fn.end();
  return fn;
}
