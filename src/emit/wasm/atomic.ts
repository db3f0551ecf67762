import { BYTES, isInteger, isSigned, isWide } from "../../ir/scalars.js";
import { unreachable } from "../../base/unreachable.js";
import type { AtomicFn, AtomicType, NumericType, ScatterOp, ScatterParam } from "../../ir/types.js";
import type { FunctionBuilder } from "./encoder.js";
import { type KernelCode, valType } from "./kernel-code.js";

/** Updates an element safely against other threads, with its address and the value on the stack. */
export function emitAtomicUpdate(code: KernelCode, { op, element }: ScatterParam): (fn: FunctionBuilder) => void {
  if (isInteger(element) && op === "sum")
    return (fn) => {
      fn.memory(`${isWide(element) ? "i64" : "i32"}.atomic.rmw.add`, 0);
      fn.op("drop");
    };
  const { index } = exchangeLoop(code, op, element);
  return (fn) => fn.call(index);
}

/** Replaces a whole number by an atomic operation, and leaves what was there, with the address and the operands on the stack. */
export function emitFetch(code: KernelCode, op: AtomicFn, type: AtomicType): void {
  switch (op) {
    case "add":
    case "and":
    case "or":
    case "xor":
      return code.fn.memory(`i32.atomic.rmw.${op}`, 0);
    case "exchange":
      return code.fn.memory("i32.atomic.rmw.xchg", 0);
    case "compareExchange":
      return code.fn.memory("i32.atomic.rmw.cmpxchg", 0);
    case "load":
      return code.fn.memory("i32.atomic.load", 0);
    case "min":
    case "max":
      return code.fn.call(exchangeLoop(code, op, type, "old").index);
    default:
      return unreachable(op);
  }
}

/** A function (address, value) that repeats compare-and-exchange until no other thread came between; it may give the `old` value. */
function exchangeLoop(code: KernelCode, op: ScatterOp, element: NumericType, gives?: "old"): FunctionBuilder {
  const name = `${gives ? "fetch" : "atomic"}_${op}_${element}`;
  const known = code.helpers.get(name);
  if (known) return known;
  const type = valType(element);
  const bits = BYTES[element] === 8 ? "i64" : "i32";
  const fn = code.module.function(name, [code.address.type, type], gives ? [bits] : []);
  code.helpers.set(name, fn);
  const [old, seen] = [fn.local(bits), fn.local(bits)];
  fn.get(0);
  fn.memory(`${bits}.atomic.load`, 0);
  fn.set(seen);
  const top = fn.loop();
  fn.get(0);
  fn.get(seen);
  fn.tee(old);
  fn.get(old);
  if (type !== bits) fn.op(`${type}.reinterpret_${bits}`);
  fn.get(1);
  if (isInteger(element)) {
    const value = fn.local(bits);
    fn.set(value);
    fn.get(value);
    fn.get(old);
    fn.get(value);
    fn.op(`${bits}.${op === "min" ? "lt" : "gt"}_${isSigned(element) ? "s" : "u"}`);
    fn.op("select");
  } else fn.op(`${type}.${op === "sum" ? "add" : op}`);
  if (type !== bits) fn.op(`${bits}.reinterpret_${type}`);
  fn.memory(`${bits}.atomic.rmw.cmpxchg`, 0);
  fn.tee(seen);
  fn.get(old);
  fn.op(`${bits}.ne`);
  fn.brIf(top);
  fn.end();
  if (gives) fn.get(old);
  return fn;
}
