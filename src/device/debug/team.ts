import type { NumericType, TeamResult } from "../../ir/types.js";
import { arrayTypeOf, type ArrayType, type ScalarToken } from "../../kernel/declare/params.js";
import type { Lanes, Team, TeamSpec, TeamValues } from "../../kernel/declare/body.js";
import { foldOf } from "../cpu/partials.js";
import { checkedScratch } from "./checked-view.js";
import type { Watch } from "./watch.js";

const START = { sum: 0, min: Infinity, max: -Infinity };

/** Loops that members of a team share, or lanes of a member; what each turn is given beside its index is `Rest`. */
abstract class SharedLoops<Rest extends unknown[]> {
  abstract range(count: number, body: (j: number, ...rest: Rest) => void): void;

  sum(count: number, value: (j: number, ...rest: Rest) => number): number {
    return this.fold("sum", count, value);
  }
  min(count: number, value: (j: number, ...rest: Rest) => number): number {
    return this.fold("min", count, value);
  }
  max(count: number, value: (j: number, ...rest: Rest) => number): number {
    return this.fold("max", count, value);
  }

  reduce<const R extends Record<string, TeamSpec>>(
    count: number,
    results: R,
    body: (j: number, r: never, ...rest: Rest) => void,
  ): TeamValues<R> {
    const each = Object.entries(results).map(([name, spec]) => ({ name, ...resultOf(spec) }));
    const folds = Object.fromEntries(each.map(({ name, method, fold }) => [name, { [method]: fold }]));
    this.range(count, (j, ...rest) => body(j, folds as never, ...rest));
    return Object.fromEntries(each.map(({ name, value }) => [name, value()])) as TeamValues<R>;
  }

  private fold(op: TeamResult["op"], count: number, value: (j: number, ...rest: Rest) => number): number {
    let result = START[op];
    this.range(count, (j, ...rest) => (result = foldOf(op, "f64")(result, value(j, ...rest)) as number));
    return result;
  }
}

/** A result of a shared loop, or several, with the method that folds into it. */
function resultOf(spec: TeamSpec): { method: string; fold: (...args: number[]) => void; value: () => number | number[] } {
  const [op, components] = typeof spec === "string" ? [spec] : spec;
  const values = Array<number>(components ?? 1).fill(START[op]);
  const add = foldOf(op, "f64");
  const into = (k: number, value: number): void => {
    values[k] = add(values[k], value) as number;
  };
  const method = op === "sum" ? "add" : op;
  return components === undefined
    ? { method, fold: (value) => into(0, value), value: () => values[0] }
    : { method, fold: (k, value) => into(k, value), value: () => values };
}

/** A team of one worker, that runs its members one after the other and tells the watch which. */
export class WatchedTeam extends SharedLoops<[lanes: Lanes]> implements Team {
  readonly size = 1;

  constructor(
    readonly index: number,
    private readonly watch: Watch,
  ) {
    super();
    watch.members.nextStep();
  }

  range(count: number, body: (j: number, lanes: Lanes) => void): void {
    const { members } = this.watch;
    members.nextStep();
    for (let j = 0; j < count; j++) {
      members.next(`, member ${j}`);
      body(j, new WatchedLanes(this.watch));
    }
    members.nextStep();
  }

  single(body: () => void): void {
    this.watch.members.nextStep();
    body();
    this.watch.members.nextStep();
  }

  scratch(type: NumericType | ArrayType | ScalarToken<NumericType>, length: number): never {
    const element = typeof type === "string" ? type : "type" in type ? type.type : arrayTypeOf(type)!;
    return checkedScratch(element, length, this.watch) as never;
  }
}

/** The lanes of one member, one after the other. */
class WatchedLanes extends SharedLoops<[]> implements Lanes {
  constructor(private readonly watch: Watch) {
    super();
    watch.lanes.nextStep();
  }

  range(count: number, body: (k: number) => void): void {
    const { lanes } = this.watch;
    lanes.nextStep();
    for (let k = 0; k < count; k++) {
      lanes.next(`, lane ${k}`);
      body(k);
    }
    lanes.nextStep();
  }
}
