import type { ScatterParam } from "../../../ir/types.js";
import type { Entry } from "./program.js";
import { wordOf } from "../../names.js";
import { BLOCK, entryName, EntryWriter, type ProgramWriter } from "./writer.js";

/**
 * Adds contributions, sorted by their target and in element order for each, to a scatter array: the thread at the first contribution
 * to an element takes them all, one after the other.
 */
export class ApplyWriter extends EntryWriter {
  protected readonly indexNames: readonly string[] = [];

  constructor(
    program: ProgramWriter,
    private readonly target: ScatterParam,
  ) {
    super(program, `${entryName(program.ir.name)}_apply${program.ir.params.indexOf(target)}_${wordOf(target.name)}`, false);
  }

  reduce(): void {
    throw new Error("sorted contributions are not reduced");
  }

  write(): { entry: Entry; text: string } {
    const { code, target } = this;
    const type = this.T[target.element];
    const array = this.pointer(target.name);
    const sorted = { constant: true, restrict: true };
    const keys = this.pointerParam({ kind: "sortedKeys", name: target.name }, "keys", "u32", sorted);
    const order = this.pointerParam({ kind: "sortedOrder", name: target.name }, "order", "u32", sorted);
    const values = this.pointerParam({ kind: "values", name: target.name }, "values", target.element, sorted);
    const count = this.param({ kind: "contributionCount", name: target.name }, "u32", "slot_count");
    const size = this.param({ kind: "size", name: target.name }, "u32", "size");
    const { block, threads, thread } = this.dialect;
    code.line(`unsigned int at = ${block("x")} * ${threads("x")} + ${thread("x")};`);
    code.block(`if (at < ${count} && ${keys}[at] < ${size} && (at == 0 || ${keys}[at - 1] != ${keys}[at]))`, () => {
      code.line(`const unsigned int key = ${keys}[at];`);
      const offset = this.offsetOf(target.name, "key");
      code.line(`${type} total = ${array}[${offset}];`);
      code.block(`for (; at < ${count} && ${keys}[at] == key; at++)`, () =>
        this.foldInto(this.body, target.op, target.element, "total", `${values}[${order}[at]]`),
      );
      code.line(`${array}[${offset}] = total;`);
    });
    return this.finish(BLOCK, [BLOCK, 1, 1]);
  }
}
