import type { NumericType, TeamResult } from "../../ir/types.js";
import { arrayTypeOf, type ArrayType, type Team } from "../../kernel/params.js";
import { foldOf } from "../cpu/partials.js";
import { checkedScratch } from "./checked-view.js";
import type { Watch } from "./watch.js";

const START = { sum: 0, min: Infinity, max: -Infinity };

/** A team of one worker, that runs its members one after the other and tells the watch which. */
export class WatchedTeam implements Team {
  readonly size = 1;

  constructor(
    readonly index: number,
    private readonly watch: Watch,
  ) {
    this.nextStep();
  }

  range(count: number, body: (j: number) => void): void {
    this.nextStep();
    for (let j = 0; j < count; j++) {
      this.watch.member++;
      this.watch.memberName = `, member ${j}`;
      body(j);
    }
    this.watch.memberName = "";
    this.nextStep();
  }

  sum(count: number, value: (j: number) => number): number {
    return this.fold("sum", count, value);
  }
  min(count: number, value: (j: number) => number): number {
    return this.fold("min", count, value);
  }
  max(count: number, value: (j: number) => number): number {
    return this.fold("max", count, value);
  }

  reduce<R extends Record<string, TeamResult["op"]>>(
    count: number,
    results: R,
    body: (j: number, r: never) => void,
  ): { [K in keyof R]: number } {
    const values = Object.fromEntries(Object.entries(results).map(([name, op]) => [name, START[op]]));
    const folds = Object.fromEntries(
      Object.entries(results).map(([name, op]) => [
        name,
        { [op === "sum" ? "add" : op]: (value: number) => (values[name] = foldOf(op, "f64")(values[name], value)) },
      ]),
    );
    this.range(count, (j) => body(j, folds as never));
    return values as { [K in keyof R]: number };
  }

  single(body: () => void): void {
    this.nextStep();
    body();
    this.nextStep();
  }

  scratch(type: NumericType | ArrayType, length: number): { [index: number]: number; readonly length: number } {
    const element = typeof type === "string" ? type : arrayTypeOf(type)!;
    return checkedScratch(element, length, this.watch) as { [index: number]: number; readonly length: number };
  }

  private fold(op: TeamResult["op"], count: number, value: (j: number) => number): number {
    let result = START[op];
    this.range(count, (j) => (result = foldOf(op, "f64")(result, value(j))));
    return result;
  }

  /** What was touched before has happened for all members. */
  private nextStep(): void {
    this.watch.member++;
    this.watch.step = this.watch.member;
  }
}
