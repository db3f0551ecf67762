import { identityOf } from "../../../ir/identity.js";
import { hashShift, LINE_ELEMENTS, LINE_HASH } from "../../../ir/scatter-cache.js";
import type { ScatterParam } from "../../../ir/types.js";
import type { BodyWriter } from "../body.js";
import type { EntryWriter, StmtOf } from "./writer.js";

/** A block's scatter cache of one target (see ir/scatter-cache.ts), in its shared memory. Needs `thread` and `threads`. */
export class ScatterCache {
  private readonly values: string;
  /** Numbers of the lines, from 1 on: 0 stands for none. */
  private readonly held: string;

  constructor(
    private readonly entry: EntryWriter,
    private readonly target: ScatterParam,
    private readonly lines: number,
  ) {
    this.values = entry.names.fresh(`${target.name}_cache`);
    this.held = entry.names.fresh(`${target.name}_lines`);
    entry.sharedArray(this.values, target.element, LINE_ELEMENTS * lines);
    entry.sharedArray(this.held, "u32", lines);
  }

  /** Empties it; a barrier must follow. */
  open(): void {
    const { entry, lines } = this;
    const n = entry.names.fresh("n");
    entry.code.line(`for (int ${n} = thread; ${n} < ${LINE_ELEMENTS * lines}; ${n} += threads) ${this.values}[${n}] = ${this.identity};`);
    entry.code.line(`for (int ${n} = thread; ${n} < ${lines}; ${n} += threads) ${this.held}[${n}] = 0;`);
  }

  /** Folds a value into the element at `offset` of the target. */
  update(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void {
    const { entry, target } = this;
    body.line(stmt, `${this.updateFunction(body)}(${this.values}, ${this.held}, ${entry.pointer(target.name)}, ${offset}, ${value});`);
  }

  /** Brings its values to the target; a barrier must have come before. */
  close(): void {
    const { entry, target, lines } = this;
    const { code, names, T } = entry;
    const n = names.fresh("n");
    code.block(`for (int ${n} = thread; ${n} < ${LINE_ELEMENTS * lines}; ${n} += threads)`, () =>
      code.block(`if (${this.values}[${n}] != ${this.identity})`, () => {
        const offset = `(${T.index})(${this.held}[${n} / ${LINE_ELEMENTS}] - 1) * ${LINE_ELEMENTS} + ${n} % ${LINE_ELEMENTS}`;
        code.line(`${entry.atomic(target, "global", `&${entry.pointer(target.name)}[${offset}]`, `${this.values}[${n}]`)};`);
      }),
    );
  }

  private get identity(): string {
    const { op, element } = this.target;
    return this.entry.constant(element, identityOf(op, element));
  }

  /** The function that folds a value into an element: a kernel may do so at many places, and its code is long. */
  private updateFunction(body: BodyWriter): string {
    const { entry, target, lines } = this;
    const { dialect, program, T } = entry;
    const { op, element } = target;
    const name = `${op}_into_cache_${element}`;
    const run = dialect.runs?.fold(op, element, body.fold(op, element, "value", "other"));
    if (run) program.definitions.add(run.definition);
    const own = entry.atomic(target, "shared", `&values[place * ${LINE_ELEMENTS} + (int)(at & ${LINE_ELEMENTS - 1})]`, "value");
    const shared = entry.atomic(target, "global", "&target[at]", "value");
    const [values, held, far] = [dialect.pointer("shared", element), dialect.pointer("shared", "u32"), dialect.pointer("global", element)];
    program.definitions.add(
      [
        `${dialect.apartPrefix} void ${name}(${values}values, ${held}held, ${far}target, const ${T.index} at, ${T[element]} value) {`,
        ...(run ? [`  if (!${run.name}(at, value)) return;`] : []),
        `  const ${T.u32} line = (${T.u32})(at >> ${Math.log2(LINE_ELEMENTS)});`,
        `  const ${T.u32} place = line * ${LINE_HASH}u >> ${hashShift(lines)};`,
        `  ${T.u32} seen = held[place];`,
        `  if (seen == 0) seen = ${dialect.exchange}(&held[place], 0u, line + 1);`,
        `  if (seen == 0 || seen == line + 1) ${own};`,
        `  else ${shared};`,
        `}`,
      ].join("\n"),
    );
    return name;
  }
}
