import { FAULT } from "../../../ir/passes/check-indices.js";
import type { GpuDialect } from "./dialect.js";

/** The function that notes a failure; see `noteFailure`. */
export const NOTE_FAILURE = "note_failure";

/**
 * Notes a failure in the record, unless one of an element before this one is there. The lock is odd while somebody writes, and another number
 * after each time: what was read between two looks at it that find the same belongs together. Who writes does so inside of the loop, as
 * threads that run in step with it wait for it there.
 */
export function noteFailure({ apartPrefix, pointer, fence, exchange }: GpuDialect): string {
  const { lock, failed, site, index, element } = FAULT;
  const axes = ["i", "j", "k", "l"];
  const place = pointer("global", "i32");
  const upTo = orderedBefore((n) => `record[${element + n}]`, axes);
  return [
    `${apartPrefix} void ${NOTE_FAILURE}(volatile ${place}record, const int site, const int index, ${axes.map((axis) => `const int ${axis}`).join(", ")}) {`,
    `  for (bool done = false; !done;) {`,
    `    const int seen = record[${lock}];`,
    `    if (!(seen & 1)) {`,
    `      ${fence};`,
    `      const bool earlier = record[${failed}] && ${upTo};`,
    `      ${fence};`,
    `      if (earlier) done = record[${lock}] == seen;`,
    `      else if (${exchange}((${place.trimEnd()})record, seen, seen + 1) == seen) {`,
    `        record[${site}] = site;`,
    `        record[${index}] = index;`,
    ...axes.map((axis, n) => `        record[${element + n}] = ${axis};`),
    `        record[${failed}] = 1;`,
    `        ${fence};`,
    `        record[${lock}] = seen + 2;`,
    `        done = true;`,
    `      }`,
    `    }`,
    `  }`,
    `}`,
  ].join("\n");
}

/** Condition that the element with the indices `known` comes no later than the element at `axes`, in row-major order. */
export const orderedBefore = (known: (n: number) => string, axes: readonly string[]): string =>
  axes.reduceRight((rest, axis, n) => {
    const at = known(n);
    return rest === "" ? `${at} <= ${axis}` : `(${at} < ${axis} || (${at} == ${axis} && ${rest}))`;
  }, "");

/**
 * Position of the code of a team that is being written: the statements shared by members that come before or around it, and the iterations of
 * their loops. Of the failures of one team, the first in this order is recorded, as members run at the same time.
 */
export class TeamOrder {
  private phase = 0;
  private turns: readonly string[] = [];

  /** At most three terms. */
  get place(): readonly string[] {
    return [String(this.phase), ...this.turns].slice(0, 3);
  }

  /** Inside of a shared statement; `turn` is its variable where it is a loop, else 0. */
  inside(turn: string, write: () => void): void {
    const outer = this.turns;
    if (outer.length === 0) this.phase++;
    this.turns = [...outer, turn];
    write();
    this.turns = outer;
    if (outer.length === 0) this.phase++;
  }
}
