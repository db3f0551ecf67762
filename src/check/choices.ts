/* Choices of calls and launches that are not known: a kernel that some choice makes right is right, as far as can be known without a run. */

/** Numbers that are tried, whole ones and another. */
const TRIED: readonly number[] = [1, 2, 4, 0.5];

/** Values that are tried in place of numbers and types that are not known. */
export class Choices {
  private turn = 0;
  private asked = false;

  /** The number whose turn it is. */
  number(): number {
    this.asked = true;
    return TRIED[this.turn];
  }

  /** One of several, the same of any list of one length. */
  of<T>(several: readonly T[]): T {
    this.asked = true;
    return several[this.turn % several.length];
  }

  /**
   * Makes something by one of the choices. Throws the error that all give; `otherwise` where they give different ones, which the right choice may not give.
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
