import type { NumericType, ScatterOp, ScatterParam } from "../../ir/types.js";
import { BYTES } from "../../ir/launch.js";
import type { FunctionBuilder } from "./encoder.js";
import { type KernelCode, valType } from "./kernel-code.js";
import { ScalarCode } from "./scalar.js";

/** With the element's address and the value on the stack: the update of a scatter target. */
export function emitUpdate(scalar: ScalarCode, target: string): void {
  const { code } = scalar;
  const { fn } = code;
  const { op, element } = code.spec.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === target)!;
  const type = valType(element);
  if (code.spec.scatter[target] === "atomic") {
    if (type !== "i32" || op !== "sum") return fn.call(exchangeLoop(code, op, element).index);
    fn.memory("i32.atomic.rmw.add", 0);
    return fn.op("drop");
  }
  const [address, value] = [code.temp(code.address.type), code.temp(type)];
  fn.set(value);
  fn.tee(address);
  fn.get(address);
  fn.memory(`${type}.load`, 0);
  fn.get(value);
  scalar.binary(op === "sum" ? "add" : op, element);
  fn.memory(`${type}.store`, 0);
  code.release(code.address.type, address);
  code.release(type, value);
}

/** A function (address, value) that repeats compare-and-exchange until no other thread came between. */
function exchangeLoop(code: KernelCode, op: ScatterOp, element: NumericType): FunctionBuilder {
  const name = `atomic_${op}_${element}`;
  const known = code.helpers.get(name);
  if (known) return known;
  const type = valType(element);
  const bits = BYTES[element] === 8 ? "i64" : "i32";
  const fn = code.module.function(name, [code.address.type, type]);
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
  if (type === "i32") {
    const value = fn.local("i32");
    fn.set(value);
    fn.get(value);
    fn.get(old);
    fn.get(value);
    fn.op(`i32.${op === "min" ? "lt" : "gt"}_${element === "i32" ? "s" : "u"}`);
    fn.op("select");
  } else fn.op(`${type}.${op === "sum" ? "add" : op}`);
  if (type !== bits) fn.op(`${bits}.reinterpret_${type}`);
  fn.memory(`${bits}.atomic.rmw.cmpxchg`, 0);
  fn.tee(seen);
  fn.get(old);
  fn.op(`${bits}.ne`);
  fn.brIf(top);
  fn.end();
  return fn;
}
