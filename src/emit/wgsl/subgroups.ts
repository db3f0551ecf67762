import { isDouble, isInteger, isWide } from "../../ir/scalars.js";
import type { NumericType, ReduceOp, ReduceParam, ScatterOp, TeamResult } from "../../ir/types.js";
import type { EntryWriter } from "./writer.js";

/** A result that a workgroup folds, and the variable in which each invocation has its own part. */
export interface WorkgroupFold {
  readonly result: ReduceParam | TeamResult;
  readonly accumulator: string;
}

/** An array in the workgroup's memory for folds, of a type, a number and a length. */
export type Cells = (type: NumericType, n: number, length: number) => string;

/** Place of a result's fold in a subgroup: a variable of one lane, or of all. */
interface SubgroupResult {
  readonly variable: string;
  readonly lane?: number;
}

/** WGSL's built-in fold over a subgroup; its least and greatest of floats differ from Math.min and Math.max. */
export function subgroupFold(op: ReduceOp, type: NumericType): string | undefined {
  if (isWide(type)) return undefined;
  if (op === "sum") return isDouble(type) ? undefined : "subgroupAdd";
  const whole = isInteger(type);
  return whole && op !== "custom" ? (op === "min" ? "subgroupMin" : "subgroupMax") : undefined;
}

/**
 * Folds over a workgroup of `count` invocations by subgroups of `size`, which divides `count`, in any order. WGSL does not promise
 * that subgroups are full: they are if their number is the number of full ones, as each invocation is in one and none has more
 * than `size`. Otherwise one invocation after the other folds its part in.
 */
export class SubgroupFold<F extends WorkgroupFold> {
  private readonly subgroups: number;
  /** Foldings with one operator and type. */
  private readonly groups: readonly (readonly F[])[];
  /** The first of the cells of each result, one a subgroup. */
  private readonly cells = new Map<F, { array: string; first: number }>();
  /** By mask: the variable that tells whether the lane has that bit. */
  private readonly upper = new Map<number, string>();

  constructor(
    private readonly entry: EntryWriter,
    private readonly foldings: readonly F[],
    private readonly count: number,
    private readonly size: number,
    cellsOf: Cells,
  ) {
    this.subgroups = count / size;
    this.groups = [...groupBy(foldings, ({ result: { op, type, name } }) => `${op === "custom" ? `custom ${name}` : op} ${type}`).values()];
    for (const [type, alike] of groupBy(this.groups.flat(), ({ result }) => result.type)) {
      const array = cellsOf(type, alike.length, alike.length * this.subgroups);
      alike.forEach((folding, n) => this.cells.set(folding, { array, first: n * this.subgroups }));
    }
  }

  /** `use` writes what becomes of a result, from a value that is there for all invocations. All invocations must come here. */
  write(use: (folding: F, value: string) => void): void {
    const { code } = this.entry;
    const alone = this.subgroups === 1;
    const useCells = () => {
      code.line("workgroupBarrier();");
      for (const folding of this.foldings) use(folding, this.cell(folding));
    };
    code.line(`if subgroup_count == ${this.subgroups}u {`).indented(() => {
      const folded = new Map(this.groups.flatMap((group) => this.foldTogether(group).map((result, n) => [group[n], result])));
      if (alone) for (const folding of this.foldings) use(folding, inAllLanes(folded.get(folding)!));
      else this.foldParts(folded);
    });
    code.line("} else {").indented(() => {
      this.takeTurns();
      if (alone) useCells();
    });
    code.line("}");
    if (!alone) useCells();
  }

  /**
   * Folds results of one operator over each subgroup. As long as lanes have several they share them out with their neighbours, by one bit of
   * their numbers after the other: a lane keeps one half, to which it adds what the neighbour has of it, and gives the other.
   */
  private foldTogether(group: readonly F[]): SubgroupResult[] {
    const { result, accumulator } = group[0];
    const own = group.length === 1 ? subgroupFold(result.op, result.type) : undefined;
    if (own) {
      this.entry.code.line(`${accumulator} = ${own}(${accumulator});`);
      return [{ variable: accumulator }];
    }
    const variables = group.map((folding) => folding.accumulator);
    const held = group.map((_, n) => ({ n, lane: 0 }));
    for (let mask = this.size / 2; mask >= 1; mask /= 2) {
      const half = Math.ceil(variables.length / 2);
      const others = variables.splice(half);
      variables.forEach((variable, n) => this.exchange(result, variable, others[n], mask));
      for (const result of held)
        if (result.n >= half) {
          result.n -= half;
          result.lane += mask;
        }
    }
    return held.map(({ n, lane }) => ({ variable: variables[n], lane }));
  }

  /** Folds with the lane whose number differs in the bit `mask`: the one with the bit keeps `second`, if there is one, and the other `first`. */
  private exchange(result: WorkgroupFold["result"], first: string, second: string | undefined, mask: number): void {
    const { body, code, names } = this.entry;
    const [kept, given] =
      second === undefined
        ? [first, first]
        : [`select(${first}, ${second}, ${this.hasBit(mask)})`, `select(${second}, ${first}, ${this.hasBit(mask)})`];
    const other = names.fresh("other");
    code.line(`let ${other} = subgroupShuffleXor(${given}, ${mask}u);`);
    code.line(`${first} = ${body.fold(result.op === "custom" ? result.combine! : (result.op as ScatterOp), result.type, kept, other)};`);
  }

  private hasBit(mask: number): string {
    let name = this.upper.get(mask);
    if (name === undefined) {
      name = this.entry.names.fresh(`upper_${mask}`);
      this.upper.set(mask, name);
      this.entry.code.line(`let ${name} = (subgroup_lane & ${mask}u) != 0u;`);
    }
    return name;
  }

  /** Puts the subgroups' folds into their cells, and folds the cells of each result into the first. */
  private foldParts(folded: ReadonlyMap<F, SubgroupResult>): void {
    const { code } = this.entry;
    for (const [lane, found] of groupBy(folded, ([, result]) => result.lane ?? 0))
      code.block(`if subgroup_lane == ${lane}u`, () => {
        for (const [folding, { variable }] of found) code.line(`${this.cell(folding, "subgroup_number")} = ${variable};`);
      });
    code.line("workgroupBarrier();");
    for (const group of this.groups) this.foldCells(group);
  }

  private foldCells(group: readonly F[]): void {
    const { entry, subgroups, count } = this;
    const { code } = entry;
    const { result } = group[0];
    const { array, first } = this.cells.get(group[0])!;
    const start = `${first === 0 ? "" : `${first} + `}thread * ${subgroups}`;
    code.block(`for (var first = ${start}; first < ${first + group.length * subgroups}; first += ${count * subgroups})`, () => {
      code.line(`var total = ${array}[first];`);
      code.line(
        `for (var n = first + 1; n < first + ${subgroups}; n += 1) { ${entry.foldInto(result, result.type, "total", `${array}[n]`)} }`,
      );
      code.line(`${array}[first] = total;`);
    });
  }

  private takeTurns(): void {
    const { code } = this.entry;
    const turn = this.entry.names.fresh("turn");
    code.block("if thread == 0", () => {
      for (const folding of this.foldings) code.line(`${this.cell(folding)} = ${folding.accumulator};`);
    });
    code.block(`for (var ${turn} = 1; ${turn} < ${this.count}; ${turn} += 1)`, () => {
      code.line("workgroupBarrier();");
      code.block(`if thread == ${turn}`, () => {
        for (const folding of this.foldings) {
          const { result, accumulator } = folding;
          code.line(this.entry.foldInto(result, result.type, this.cell(folding), accumulator));
        }
      });
    });
  }

  /** The first cell of a result, or the cell of a subgroup. */
  private cell(folding: F, subgroup = ""): string {
    const { array, first } = this.cells.get(folding)!;
    if (subgroup === "") return `${array}[${first}]`;
    return `${array}[${first === 0 ? "" : `${first}u + `}${subgroup}]`;
  }
}

const inAllLanes = ({ variable, lane }: SubgroupResult): string =>
  lane === undefined ? variable : `subgroupBroadcast(${variable}, ${lane}u)`;

function groupBy<T, K>(list: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
