/* Numbers that each call or each launch gives: a kernel that some number makes right is right, as far as can be known without a run. */

/** Numbers that are tried, whole ones and another. */
const TRIED: readonly number[] = [1, 2, 4, 0.5];

/** The number that is tried in place of unknown ones. */
export class TriedNumber {
  private turn = 0;
  private asked = false;

  /** The number whose turn it is. */
  value(): number {
    this.asked = true;
    return TRIED[this.turn];
  }

  /**
   * What one of the numbers gives. Throws the error that all give; `otherwise` where they give different ones, which the right number may not give.
   */
  some<T>(make: () => T, keyOf: (error: unknown) => string, otherwise: () => Error): T {
    const errors: unknown[] = [];
    for (this.turn = 0; this.turn < TRIED.length; this.turn++) {
      this.asked = false;
      try {
        return make();
      } catch (error) {
        if (!this.asked) throw error;
        errors.push(error);
      }
    }
    throw new Set(errors.map(keyOf)).size === 1 ? errors[0] : otherwise();
  }
}
