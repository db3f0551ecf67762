import { layOut, type StructField, type StructFieldType } from "../../emit/c/arguments.js";
import { openmpDialect } from "../../emit/c/openmp-dialect.js";
import type { EmitRequest } from "../../emit/standalone/index.js";
import { launchArguments, type Argument } from "../../emit/standalone/signature.js";
import { Names } from "../../base/names.js";
import type { SignatureSlot } from "../../schedule/slots.js";
import type { ScalarType } from "../../ir/types.js";

/** Function that calls an emitted launch function with the members of a struct. */
export interface PortCall {
  /** Source to be compiled after the emitted file. */
  readonly source: string;
  /** The function of `source`, which takes the struct's address. */
  readonly entry: string;
  /** The struct's members. Results are in the struct itself, and so is what the launch function returns. */
  readonly fields: readonly StructField<PortSlot>[];
  /** Bytes. */
  readonly size: number;
}

/** Values of the struct's members: arguments, and the status that the launch function returns. */
export type PortSlot = SignatureSlot | { readonly kind: "status" };

const ENTRY = "port_call";

/** The call of the launch function in the files that `request` is emitted to. */
export function portCall(request: EmitRequest): PortCall {
  const args = launchArguments(request, new Names());
  const results = new Map<string, StructFieldType>(
    request.ir.params.flatMap((p) => (p.kind === "reduce" ? [[p.name, p.type] as const] : [])),
  );
  const member = (slot: PortSlot, name: string, type: StructFieldType) => ({ slot, name, type, declared: declaredAs(type), length: 1 });
  const { fields, size } = layOut<PortSlot>([
    ...args.map((arg, n) => member(arg.slot, `a${n}`, arg.slot.kind === "result" ? results.get(arg.slot.name)! : fieldType(arg))),
    member({ kind: "status" }, "status", "i32"),
  ]);
  const values = args.map(({ slot }, n) => `${slot.kind === "result" ? "&" : ""}a->a${n}`);
  const source = [
    "struct port_arguments {",
    ...fields.map(({ declared, name }) => `  ${declared}${name};`),
    "};",
    "",
    `void ${ENTRY}(struct port_arguments *a) {`,
    `  a->status = ${request.stem}_launch(${values.join(", ")});`,
    "}",
    "",
  ];
  return { source: source.join("\n"), entry: ENTRY, fields, size };
}

const fieldType = ({ type }: Argument): StructFieldType => (type === "index" ? "i64" : type);

function declaredAs(type: StructFieldType): string {
  if (type === "pointer") return "void *";
  return `${openmpDialect.types[type === "i64" ? "index" : (type satisfies ScalarType)]} `;
}
