import { unreachable } from "../../../base/unreachable.js";
import type { Param, ScheduledEntry } from "../../../schedule/entry.js";
import type { Func, Memory } from "../../../schedule/nodes.js";
import type { Entry, KernelParam } from "../../../schedule/program.js";
import { Code } from "../code.js";
import type { Declared, EntryFrame, GpuDialect } from "./dialect.js";
import { Printer, type SourceParts } from "./print.js";
import { typeText } from "./types.js";

const LINE = 120;

/** An entry as the source has it, and what a launch gives to it. */
export function printEntry(entry: ScheduledEntry, parts: SourceParts): { entry: Entry; text: string } {
  const { dialect } = parts;
  const fresh = (wish: string) => entry.names.fresh(wish);
  const listed = entry.params.filter(({ kind }) => kind !== "dynamic" || !dialect.dynamicShared);
  const dynamic = entry.params.flatMap((param) =>
    param.kind === "dynamic" && dialect.dynamicShared ? [dialect.dynamicShared(param.memory.id)] : [],
  );
  const frame = frameOf(
    entry.id,
    listed.map((param) => declared(param, dialect)),
    dialect,
    fresh,
  );
  const [early, body] = [entry.early, entry.body].map((list) => {
    const code = new Code();
    new Printer(parts, code, fresh).statements(list);
    return code.toString().trimEnd();
  }) as [string, string];
  const code = new Code();
  for (const line of frame.before) code.line(line);
  code.line(`${dialect.entry(entry.id, entry.most, entry.block, entry.resident)}(`);
  code.indented(() => wrap(frame.declarations, LINE).forEach((line) => code.line(line)));
  code.block(")", () => {
    for (const { memory, length } of entry.shared)
      code.line(`${dialect.sharedPrefix} ${elementText(memory, dialect)} ${memory.id}[${length}];`);
    for (const line of [...dynamic, ...frame.opening, ...listed.flatMap((param) => assumptionOf(param, dialect))]) code.line(line);
    if (early !== "") code.text(early);
    if (dialect.startNext && entry.startsNext) code.line(dialect.startNext);
    if (dialect.opening) code.line(dialect.opening);
    code.text(body);
  });
  return { entry: { name: entry.id, params: listed.map(paramOf), waits: dialect.opening !== undefined }, text: code.toString() };
}

function frameOf(name: string, params: readonly Declared[], dialect: GpuDialect, fresh: (wish: string) => string): EntryFrame {
  if (dialect.frame) return dialect.frame(name, params);
  const spelled = params.map((param) => dialect.parameter(param, fresh));
  return { before: [], declarations: spelled.flatMap((param) => param.declarations), opening: spelled.flatMap((param) => param.opening) };
}

/** A function that entries call. */
export function printFunction(fn: Func, parts: SourceParts): string {
  const { dialect } = parts;
  const params = fn.params.map((param) => {
    if ("memory" in param) return `${param.memory.volatile ? "volatile " : ""}${pointerText(param.memory, dialect)}${param.memory.id}`;
    const type = typeText(param.type, dialect);
    return param.changes === "outside" ? `${type} &${param.id}` : `${param.changes ? "" : "const "}${type} ${param.id}`;
  });
  const code = new Code();
  const result = fn.result ? typeText(fn.result, dialect) : "void";
  code.block(`${fn.apart ? dialect.apartPrefix : dialect.helperPrefix} ${result} ${fn.id}(${params.join(", ")})`, () =>
    new Printer(parts, code, (wish) => wish).statements(fn.body),
  );
  return code.toString();
}

/** Tells the compiler what a parameter is a multiple of, so that it may load several neighbouring elements at once. */
function assumptionOf(param: Param, { assumed }: GpuDialect): string[] {
  if (!assumed || param.kind === "dynamic" || param.multipleOf === undefined) return [];
  const number = param.kind === "number" ? param.id : assumed.address(param.memory.id);
  return [assumed.statement(`(${number} & ${param.multipleOf - 1}) == 0`)];
}

function declared(param: Param, dialect: GpuDialect): Declared {
  switch (param.kind) {
    case "number":
      return { type: param.type, identifier: param.id, declaration: `const ${dialect.paramTypes[param.type]} ${param.id}` };
    case "memory": {
      const { memory, constant, apart } = param;
      const declaration = `${constant ? "const " : ""}${pointerText(memory, dialect)}${apart ? `${dialect.restrict} ` : ""}${memory.id}`;
      return { type: "pointer", identifier: memory.id, declaration };
    }
    case "dynamic":
      return { type: "shared", identifier: param.memory.id, declaration: `${dialect.pointer("shared", "long")}${param.memory.id}` };
    default:
      return unreachable(param);
  }
}

function paramOf(param: Param): KernelParam {
  switch (param.kind) {
    case "number":
      return { slot: param.slot, type: param.type };
    case "memory":
      return { slot: param.slot, type: "pointer", element: param.memory.element };
    case "dynamic":
      return { type: "shared" };
    default:
      return unreachable(param);
  }
}

const pointerText = ({ space, element }: Memory, dialect: GpuDialect): string =>
  dialect.pointer(space === "block" ? "shared" : "global", element);
const elementText = ({ element }: Memory, dialect: GpuDialect): string => (element === "long" ? dialect.i64 : dialect.types[element]);

/** Joined by commas into lines of at most `width` characters. */
function wrap(items: readonly string[], width: number): string[] {
  const lines: string[] = [];
  items.forEach((item, n) => {
    const text = item + (n < items.length - 1 ? "," : "");
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= width) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  });
  return lines;
}
