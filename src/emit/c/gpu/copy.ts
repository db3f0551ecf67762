import { COPY_AXES, COPY_AXIS_SLOTS, INNER_COPY_AXES, type CopyAxisSlot } from "../../copy-axes.js";
import type { ElementType } from "../../../ir/types.js";
import type { GpuDialect } from "./dialect.js";
import type { Entry, ValueParam } from "../../../schedule/program.js";

/** Bytes of the elements that can be copied. */
export const COPIED_SIZES = [1, 2, 4, 8] as const;
export type CopiedSize = (typeof COPIED_SIZES)[number];
/** Threads of a block, one an element. */
export const COPY_BLOCK = 256;

const ELEMENTS: Record<CopiedSize, ElementType | "long"> = { 1: "u8", 2: "u16", 4: "u32", 8: "long" };

/** Parameters of a copy: source and target, the number of elements, extents of the inner axes, and strides on both sides. */
export interface CopySlot {
  readonly kind: "from" | "to" | "count" | CopyAxisSlot;
}

const NUMBERS: readonly CopySlot["kind"][] = ["count", ...COPY_AXIS_SLOTS];

/** The entry that copies elements of `size` bytes between strided views of up to 7 axes. */
export const copyEntry = (size: CopiedSize): Entry<CopySlot> => ({ name: `copy_${size}`, params: copyParams(size) });

function copyParams(size: CopiedSize): ValueParam<CopySlot>[] {
  const element = ELEMENTS[size];
  return [
    { slot: { kind: "from" }, type: "pointer", element },
    { slot: { kind: "to" }, type: "pointer", element },
    ...NUMBERS.map((kind) => ({ slot: { kind }, type: "long" as const })),
  ];
}

/** The source of all of them. */
export function copySource(dialect: GpuDialect): string {
  return COPIED_SIZES.map((size) => copyFunction(dialect, size)).join("");
}

function copyFunction(dialect: GpuDialect, size: CopiedSize): string {
  const { name } = copyEntry(size);
  const { i64, block, threads, thread } = dialect;
  const spelled = copyParams(size).map(({ slot: { kind }, type, element }) => {
    const type_ = element ? `${kind === "from" ? "const " : ""}${dialect.pointer("global", element)}` : `const ${i64} `;
    return dialect.parameter({ type, identifier: kind, declaration: `${type_}${kind}` }, (wish) => wish);
  });
  const opening = spelled.flatMap((param) => param.opening).map((line) => `  ${line}\n`);
  const peeled = INNER_COPY_AXES.toReversed().map((axis) => `  const ${i64} i${axis} = i0 % extent${axis};\n  i0 /= extent${axis};`);
  const offset = (of: string) => COPY_AXES.map((axis) => `i${axis} * ${of}${axis}`).join(" + ");
  return `
${dialect.entry(name, COPY_BLOCK)}(
  ${spelled.flatMap((param) => param.declarations).join(", ")})
{
${opening.join("")}  const ${i64} n = (${i64})${block("x")} * ${threads("x")} + ${thread("x")};
  if (n >= count) return;
  ${i64} i0 = n;
${peeled.join("\n")}
  to[${offset("to")}] = from[${offset("from")}];
}
`;
}
