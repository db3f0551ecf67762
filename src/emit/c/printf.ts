import { EmitError } from "../../base/errors.js";
import { NO_PRINT, PRINT_LIMIT, recordOf } from "../../ir/print-records.js";
import type { Expr, KernelIR, ScalarType, Stmt, WideType } from "../../ir/types.js";
import { formatText } from "../text.js";
import type { Names } from "../../base/names.js";
import type { Code } from "./code.js";
import type { Dialect } from "./dialect.js";

type Print = Extract<Stmt, { kind: "print" }>;

/** Writer of the code around. */
interface Body {
  readonly code: Code;
  readonly ir: KernelIR;
  readonly names: Names;
  value(e: Expr): string;
  line(stmt: Stmt, text: string): void;
}

/** Writes a line's record where the kernel keeps such; elsewhere the language prints it. */
export function writePrint(body: Body, stmt: Print, frame: { pointer(view: string): string }, dialect: Dialect): void {
  const { ir, code, names } = body;
  if (!ir.prints) {
    const items = stmt.items.map((item) => (typeof item === "string" ? item : { type: item.type, value: body.value(item) }));
    return body.line(stmt, formatted(ir.name, items, dialect));
  }
  const { count } = ir.prints;
  code.block("", () => {
    const records = recordOf(ir, stmt).map((record) => {
      const value = body.value(record.value);
      if (record.value.op === "const") return { ...record, text: value };
      const text = names.fresh("printed");
      code.line(`const ${dialect.types[record.value.type]} ${text} = ${value};`);
      return { ...record, text };
    });
    const line = names.fresh("line");
    body.line(stmt, `const ${dialect.types.u32} ${line} = ${dialect.next(frame.pointer(count))};`);
    code.block(`if (${line} < ${PRINT_LIMIT}u)`, () => {
      for (const { view, width, at, text } of records) code.line(`${frame.pointer(view)}[${line} * ${width} + ${at}] = ${text};`);
    });
  });
}

/** Floats have as many digits as tell them apart. */
const FORMATS: Readonly<Record<Exclude<ScalarType, "bool" | WideType>, string>> = { i32: "%d", u32: "%u", f32: "%.9g", f64: "%.17g" };

/** An item of a line: text, or a value of a type. */
type Item = string | { readonly type: ScalarType; readonly value: string };

/** A call of `printf`. Throws EmitError if the language has none. */
export function formatted(kernel: string, items: readonly Item[], { name, printf }: Dialect): string {
  if (!printf) throw new EmitError(kernel, name, ...NO_PRINT);
  const forms = items.map((item) =>
    typeof item === "string" ? formatText(item) : item.type === "bool" ? printf.format : FORMATS[item.type as keyof typeof FORMATS],
  );
  const values = items.flatMap((item) => (typeof item === "string" ? [] : [item.type === "bool" ? printf.bool(item.value) : item.value]));
  return `printf(${[`"${forms.join(" ")}\\n"`, ...values].join(", ")});`;
}
