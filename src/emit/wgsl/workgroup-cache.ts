import { isDouble, isSigned } from "../../ir/scalars.js";
import { unreachable } from "../../base/unreachable.js";
import { identityOf } from "../../ir/identity.js";
import { hashShift, LINE_ELEMENTS, LINE_HASH } from "../../ir/cache-lines.js";
import type { ScatterParam } from "../../ir/types.js";
import { storageWord, type WgslBodyWriter } from "./body.js";
import type { WgslStmtOf } from "./frame.js";
import { WGSL_TYPES, viewPlace, wordsOf, WORKGROUP } from "./shader-program.js";
import type { EntryWriter } from "./writer.js";

/** How a workgroup's own copy of elements of a scatter target is declared. */
export const copyType = (element: ScatterParam["element"]) => (isSigned(element) ? "atomic_i32" : "atomic_u32");

/** A word of the identity in such a copy; both words of an emulated f64, whose only operation is the sum, are zero. */
function identityWord(entry: EntryWriter, { op, element }: ScatterParam): string {
  switch (element) {
    case "i32":
    case "u32":
      return entry.body.constant(element, identityOf(op, element));
    case "f32":
      return storageWord(identityOf(op, element));
    case "f64":
      return "0u";
    case "i64":
    case "u64":
      throw new Error(`a copy of ${element}`);
    default:
      return unreachable(element);
  }
}

/** A statement that sets word `at` of such a copy to the identity. */
export const clearWord = (entry: EntryWriter, target: ScatterParam, copy: string, at: string): string =>
  `atomicStore(&${copy}[${at}], ${identityWord(entry, target)});`;

/**
 * A condition: the element at `at` of such a copy is not the identity. Its bits are compared, as WGSL lets a compiler assume that no float is NaN, and
 * `!=` of floats is false of NaN on devices.
 */
export function isChanged(entry: EntryWriter, target: ScatterParam, copy: string, at: string): string {
  const differs = (word: string) => `atomicLoad(&${copy}[${word}]) != ${identityWord(entry, target)}`;
  return isDouble(target.element) ? `${differs(`2 * ${at}`)} || ${differs(`2 * ${at} + 1`)}` : differs(at);
}

/** The element at `at` of such a copy. */
export function readCopy({ element }: ScatterParam, copy: string, at: string): string {
  const part = (word: string) => `atomicLoad(&${copy}[${word}])`;
  return isDouble(element)
    ? `vec2<f32>(bitcast<f32>(${part(`2 * ${at}`)}), bitcast<f32>(${part(`2 * ${at} + 1`)}))`
    : `bitcast<${WGSL_TYPES[element]}>(${part(at)})`;
}

/** A workgroup's scatter cache of one target (see ir/cache-lines.ts). Needs `thread`. */
export class WorkgroupCache {
  private readonly values: string;
  /** Numbers of the lines, from 1 on: 0 stands for none. */
  private readonly held: string;

  constructor(
    private readonly entry: EntryWriter,
    private readonly target: ScatterParam,
    private readonly lines: number,
  ) {
    const word = copyType(target.element) === "atomic_i32" ? "i32" : "u32";
    this.values = entry.shared(`${target.name}_cache`, `array<atomic<${word}>, ${LINE_ELEMENTS * lines * wordsOf(target.element)}>`);
    this.held = entry.shared(`${target.name}_lines`, `array<atomic<u32>, ${lines}>`);
  }

  /** Sets its values to the identity where that is not zero, as the workgroup's memory is at first; a barrier must follow. */
  open(): void {
    const { entry, target, lines } = this;
    if (target.op === "sum") return;
    entry.code.line(
      `for (var n = thread; n < ${LINE_ELEMENTS * lines}; n += ${WORKGROUP}) { ${clearWord(entry, target, this.values, "n")} }`,
    );
  }

  /** Folds a value into the element at `offset` of the target. */
  update(body: WgslBodyWriter, stmt: WgslStmtOf<"scatter">, offset: string, value: string): void {
    const { entry, target } = this;
    const { op, element } = target;
    const [at, added, place] = ["at", "added", "place"].map((wish) => entry.names.fresh(wish));
    const shared = entry.buffer(viewPlace(target.name), true);
    body.code.block("", () => {
      body.line(stmt, `let ${at} = ${offset};`);
      body.code.line(`let ${added} = ${value};`);
      body.code.line(`let ${place} = ${this.slotFunction()}(u32(${at} / ${LINE_ELEMENTS}));`);
      const own = entry.atomic(this.values, copyType(element), op, element, `${place} + ${at} % ${LINE_ELEMENTS}`, added);
      body.code.line(`if ${place} >= 0 { ${own} }`);
      body.code.line(`else { ${entry.atomic(shared.name, shared.representation, op, element, at, added)} }`);
    });
  }

  /** Brings its values to the target; a barrier must have come before. */
  close(): void {
    const { entry, target, lines } = this;
    const { op, element } = target;
    const [n, own] = [entry.names.fresh("n"), entry.names.fresh("own")];
    const { name, representation } = entry.buffer(viewPlace(target.name), true);
    entry.code.block(`for (var ${n} = thread; ${n} < ${LINE_ELEMENTS * lines}; ${n} += ${WORKGROUP})`, () => {
      entry.code.block(`if ${isChanged(entry, target, this.values, n)}`, () => {
        entry.code.line(`let ${own} = ${readCopy(target, this.values, n)};`);
        const offset = `i32(atomicLoad(&${this.held}[${n} / ${LINE_ELEMENTS}]) - 1u) * ${LINE_ELEMENTS} + ${n} % ${LINE_ELEMENTS}`;
        entry.code.line(entry.atomic(name, representation, op, element, offset, own));
      });
    });
  }

  /** The function that gives the first value of a line in the cache, or -1 where another line has its place. */
  private slotFunction(): string {
    const { entry, held } = this;
    const name = `${held}_place`;
    entry.accessors.define(
      name,
      [
        `fn ${name}(line: u32) -> i32 {`,
        `  let place = (line * ${LINE_HASH}u) >> ${hashShift(this.lines)}u;`,
        `  var seen = atomicLoad(&${held}[place]);`,
        `  if seen == 0u {`,
        `    let found = atomicCompareExchangeWeak(&${held}[place], 0u, line + 1u);`,
        `    seen = select(found.old_value, line + 1u, found.exchanged);`,
        `  }`,
        `  return select(-1, i32(place) * ${LINE_ELEMENTS}, seen == line + 1u);`,
        `}`,
      ].join("\n"),
    );
    return name;
  }
}
