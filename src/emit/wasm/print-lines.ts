import { PRINT_LIMIT, recordOf } from "../../ir/print-records.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { BYTES } from "../../ir/scalars.js";
import { type KernelCode, valType } from "./kernel-code.js";

/** Records a line (see `recordPrints`). `value` leaves the value of an expression on the stack. */
export function emitPrint(code: KernelCode, stmt: Extract<Stmt, { kind: "print" }>, value: (e: Expr) => void): void {
  const { fn } = code;
  const { ir } = code.spec;
  const records = recordOf(ir, stmt).map((record) => {
    const local = code.temp(valType(record.type));
    value(record.value);
    fn.set(local);
    return { ...record, local };
  });
  const line = code.temp("i32");
  const count = code.arrays.get(ir.prints!.count)!.base;
  fn.get(count);
  if (code.spec.shared) {
    fn.i32(1);
    fn.memory("i32.atomic.rmw.add", 0);
    fn.set(line);
  } else {
    fn.get(count);
    fn.memory("i32.load", 0);
    fn.tee(line);
    fn.i32(1);
    fn.op("i32.add");
    fn.memory("i32.store", 0);
  }
  fn.get(line);
  fn.i32(PRINT_LIMIT);
  fn.op("i32.lt_u");
  fn.if();
  for (const { view, type, width, at, local } of records) {
    fn.get(code.arrays.get(view)!.base);
    fn.get(line);
    code.address.scale(width * BYTES[type]);
    code.address.add();
    fn.get(local);
    fn.memory(`${valType(type)}.store`, at * BYTES[type]);
  }
  fn.end();
  code.release("i32", line);
  for (const { type, local } of records) code.release(valType(type), local);
}
