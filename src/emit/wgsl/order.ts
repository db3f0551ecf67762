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
export class WgslTeamOrder {
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
