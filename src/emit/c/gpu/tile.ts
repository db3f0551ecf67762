import { identityOf } from "../../../ir/identity.js";
import { TILE_HASH, TILE_LINE, tileShift } from "../../../ir/tile.js";
import type { ScatterParam } from "../../../ir/types.js";
import type { BodyWriter } from "../body.js";
import type { EntryWriter, StmtOf } from "./writer.js";

/** A block's tile of one scatter target (see ir/tile.ts), in its shared memory. Needs `thread` and `threads`. */
export class Tile {
  private readonly values: string;
  /** Numbers of the lines, from 1 on: 0 stands for none. */
  private readonly held: string;

  constructor(
    private readonly entry: EntryWriter,
    private readonly target: ScatterParam,
    private readonly lines: number,
  ) {
    this.values = entry.names.fresh(`${target.name}_tile`);
    this.held = entry.names.fresh(`${target.name}_lines`);
    entry.sharedArray(this.values, target.element, TILE_LINE * lines);
    entry.sharedArray(this.held, "u32", lines);
  }

  /** Empties it; a barrier must follow. */
  open(): void {
    const { entry, lines } = this;
    const n = entry.names.fresh("n");
    entry.code.line(`for (int ${n} = thread; ${n} < ${TILE_LINE * lines}; ${n} += threads) ${this.values}[${n}] = ${this.identity};`);
    entry.code.line(`for (int ${n} = thread; ${n} < ${lines}; ${n} += threads) ${this.held}[${n}] = 0;`);
  }

  /** Folds a value into the element at `offset` of the target. */
  update(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void {
    const { entry, target } = this;
    const { dialect, names, T } = entry;
    const [at, added, place] = ["at", "added", "place"].map((wish) => names.fresh(wish));
    body.code.block("", () => {
      body.line(stmt, `const ${T.index} ${at} = ${offset};`);
      const run = dialect.runs?.fold(target.op, target.element, body.fold(target.op, target.element, "value", "other"));
      body.code.line(`${run ? "" : "const "}${T[target.element]} ${added} = ${value};`);
      if (run) entry.program.definitions.add(run.definition);
      body.code.block(run ? `if (${run.name}(${at}, ${added}))` : "", () => {
        body.code.line(`const int ${place} = ${this.placeFunction()}(${this.held}, (${T.u32})(${at} >> ${Math.log2(TILE_LINE)}));`);
        const own = entry.atomic(target, "shared", `&${this.values}[${place} + (int)(${at} & ${TILE_LINE - 1})]`, added);
        const shared = entry.atomic(target, "global", `&${entry.pointer(target.name)}[${at}]`, added);
        body.code.line(`if (${place} >= 0) ${own};`);
        body.code.line(`else ${shared};`);
      });
    });
  }

  /** Brings its values to the target; a barrier must have come before. */
  close(): void {
    const { entry, target, lines } = this;
    const { code, names, T } = entry;
    const n = names.fresh("n");
    code.block(`for (int ${n} = thread; ${n} < ${TILE_LINE * lines}; ${n} += threads)`, () =>
      code.block(`if (${this.values}[${n}] != ${this.identity})`, () => {
        const offset = `(${T.index})(${this.held}[${n} / ${TILE_LINE}] - 1) * ${TILE_LINE} + ${n} % ${TILE_LINE}`;
        code.line(`${entry.atomic(target, "global", `&${entry.pointer(target.name)}[${offset}]`, `${this.values}[${n}]`)};`);
      }),
    );
  }

  private get identity(): string {
    const { op, element } = this.target;
    return this.entry.constant(element, identityOf(op, element));
  }

  /** The function that gives the first value of a line in the tile, or -1 where another line has its place. */
  private placeFunction(): string {
    const { dialect, program, T } = this.entry;
    const name = "place_in_tile";
    program.definitions.add(
      [
        `${dialect.helperPrefix} int ${name}(${dialect.pointer("shared", "u32")}held, const ${T.u32} line) {`,
        `  const ${T.u32} place = line * ${TILE_HASH}u >> ${tileShift(this.lines)};`,
        `  ${T.u32} seen = held[place];`,
        `  if (seen == 0) seen = ${dialect.exchange}(&held[place], 0u, line + 1);`,
        `  return seen == 0 || seen == line + 1 ? (int)place * ${TILE_LINE} : -1;`,
        `}`,
      ].join("\n"),
    );
    return name;
  }
}
