import type { Interval } from "./affine.js";
import { fits } from "./intervals.js";
import type { Access, AccessAnalysis } from "./access.js";

/*
 * Most launches of a kernel differ in their range and their integers alone, and most of their indices are linear forms of these. As numbers, forms are
 * checked in a tenth of the time that names take.
 */

/** Index of an access along an axis: a constant, and factors of atoms by their places in `LaunchBounds.atoms`. */
interface IndexForm {
  readonly access: Access;
  readonly axis: number;
  readonly constant: number;
  readonly places: readonly number[];
  readonly factors: readonly number[];
}

/** Accesses, prepared for checks of many launches. */
class LaunchBounds {
  private readonly atoms: string[] = [];
  private readonly forms: readonly IndexForm[];
  /** Accesses in loops, whose indices take more than numbers. */
  private readonly inLoops: readonly Access[];
  private readonly low: Float64Array;
  private readonly high: Float64Array;

  constructor(private readonly accesses: readonly Access[]) {
    // Nothing is known of accesses that may not happen, as in `takenRange`.
    const certain = accesses.filter(({ conditional }) => !conditional);
    this.inLoops = certain.filter(({ loops }) => loops.length > 0);
    const places = new Map<string, number>();
    const placeOf = (atom: string): number => {
      if (!places.has(atom)) places.set(atom, this.atoms.push(atom) - 1);
      return places.get(atom)!;
    };
    this.forms = certain
      .filter(({ loops }) => loops.length === 0)
      .flatMap((access) =>
        access.affine.flatMap((form, axis): IndexForm[] => {
          if (!form) return [];
          const { constant, terms } = form;
          return [{ access, axis, constant, places: Object.keys(terms).map(placeOf), factors: Object.values(terms) }];
        }),
      );
    this.low = new Float64Array(this.atoms.length);
    this.high = new Float64Array(this.atoms.length);
  }

  /**
   * Accesses that may be outside their array, in the order of the source: all others are inside, or nothing is known of them before the launch.
   * @param known ranges of atoms
   * @param shapeOf shapes of arrays by name
   */
  doubtful(known: (atom: string) => Interval | undefined, shapeOf: (array: string) => readonly number[]): readonly Access[] {
    for (let n = 0; n < this.atoms.length; n++) {
      const range = known(this.atoms[n]!);
      this.low[n] = range ? range[0] : NaN;
      this.high[n] = range ? range[1] : NaN;
    }
    const found = this.forms.filter((form) => this.isOutside(form, shapeOf));
    if (found.length === 0) return this.inLoops;
    const all = new Set([...found.map(({ access }) => access), ...this.inLoops]);
    return this.accesses.filter((access) => all.has(access));
  }

  private isOutside({ access, axis, constant, places, factors }: IndexForm, shapeOf: (array: string) => readonly number[]): boolean {
    let low = constant;
    let high = constant;
    for (let n = 0; n < places.length; n++) {
      const factor = factors[n]!;
      const [least, greatest] = [this.low[places[n]!]!, this.high[places[n]!]!];
      low += factor * (factor > 0 ? least : greatest);
      high += factor * (factor > 0 ? greatest : least);
    }
    // NaN, of an atom that is not known, compares as inside.
    if (!(low < 0 || high >= shapeOf(access.view)[axis]!)) return false;
    return !access.wraps || fits([low, high]);
  }
}

/** Accesses of a kernel: to views, and to its private and scratch arrays and tables. */
interface KernelBounds {
  readonly views: LaunchBounds;
  readonly arrays: LaunchBounds | undefined;
}

const prepared = new WeakMap<AccessAnalysis, KernelBounds>();

/** Bounds of a kernel's accesses, made once. */
export function launchBounds(analysis: AccessAnalysis): KernelBounds {
  let bounds = prepared.get(analysis);
  if (!bounds) {
    const { accesses, arrays } = analysis;
    bounds = { views: new LaunchBounds(accesses), arrays: arrays.length > 0 ? new LaunchBounds(arrays) : undefined };
    prepared.set(analysis, bounds);
  }
  return bounds;
}
