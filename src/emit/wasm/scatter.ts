import type { ScatterParam } from "../../ir/types.js";
import { emitAtomicUpdate } from "./atomic.js";
import { valType } from "./kernel-code.js";
import type { ScalarParts } from "./parts.js";
import { cacheSlot } from "./cache-code.js";

/** With the element's address and the value on the stack: the update of a scatter target. */
export function emitUpdate(scalar: ScalarParts, target: string): void {
  const { code } = scalar;
  const { fn } = code;
  const param = code.spec.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === target)!;
  const { op, element } = param;
  const type = valType(element);
  if (code.spec.scatter[target] === "atomic") return emitAtomicUpdate(code, param)(fn);
  const [address, value] = [code.temp(code.address.type), code.temp(type)];
  fn.set(value);
  const cache = code.caches.get(target);
  if (cache !== undefined) {
    const { base } = code.arrays.get(target)!;
    fn.get(base);
    fn.op(`${code.address.type}.sub`);
    fn.get(base);
    fn.get(cache);
    fn.call(cacheSlot(code, param).index);
  }
  fn.tee(address);
  fn.get(address);
  fn.memory(`${type}.load`, 0);
  fn.get(value);
  scalar.binary(op === "sum" ? "add" : op, element);
  fn.memory(`${type}.store`, 0);
  code.release(code.address.type, address);
  code.release(type, value);
}
