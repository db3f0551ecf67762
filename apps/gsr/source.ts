import type { Device, LaunchOptions, View } from "isoform";
import type { Progress } from "isoform/portability";
import type { SparseRows } from "./constraints.js";
import type { Shape } from "./shape.js";

/** Coefficients of the observations and where they belong, on a device. */
export interface Observations {
  /** [row][5] */
  readonly astrometric: View<"f64">;
  /** [row][12], four knots of each axis */
  readonly attitude: View<"f64">;
  /** [row][6] */
  readonly instrument: View<"f64">;
  /** The global unknown's column, a coefficient a row, where the shape has one. */
  readonly global?: View<"f64">;
  /** Star of each row. */
  readonly star: View<"i32">;
  /** First of the row's four consecutive knots. */
  readonly knot: View<"i32">;
  /** [row][6], instrument unknowns */
  readonly column: View<"i32">;
  /** Numbers that the coefficients are made of, for forms that take them. */
  readonly factors?: Factors;
}

/** Rows as factors of their coefficients before scaling (factored.ts). */
export interface Factors {
  /** [row][3]: coefficients of place (alpha*, delta) and parallax; motions have the first two, times years. */
  readonly sight: View<"f64">;
  /** [row][4]: turns about the axes, and the place after the start knot in terms of the distance of knots. */
  readonly turns: View<"f64">;
  /** Coefficient of all displacements on a CCD that have nothing to do with the star. */
  readonly weight: View<"f64">;
  /** Class and pixel column of each row (`placeOf` of factored.ts). */
  readonly place: View<"i32">;
  /** [star][2]: displacements by magnitude and by colour along scan, of a row of weight 1. */
  readonly colours: View<"f64">;
  /** [knot][2]: years from the epoch of motions to the start knot, and to the next from there. */
  readonly times: View<"f64">;
}

/** Places of a member's rows, which a form has put into another order than the source's. */
export interface RowOrder {
  /** Row of the source at each place, and place of each row of the source; counted from the member's first. */
  readonly rowAt: View<"i32">;
  readonly placeOf: View<"i32">;
  free(): void;
}

/** Some stars that follow each other, and their observations. */
export interface Window {
  readonly stars: readonly [first: number, end: number];
  readonly rows: readonly [first: number, end: number];
}

/** Constraint rows, whose columns count from the unknown `first` on. */
export interface Constraints extends SparseRows {
  readonly first: number;
}

/** Whether an unknown occurs in an observation. */
export type Seen = (unknown: number) => boolean;

/** Source of a system's rows. */
export interface RowSource {
  readonly shape: Shape;
  /** Remedy where the device has too little memory: `a smaller --gib`. */
  readonly smaller: string;
  /** First row of each star, and the end of the last. */
  readonly starRow: Int32Array;
  /** Whether unknowns may occur in no row: they leave the system and stay 0. By default they are an error. */
  readonly mayLeave?: boolean;
  /** Whether `write` can write factors of rows as well. */
  readonly hasFactors?: boolean;
  /** Writes the observations of a window, unscaled; stars are numbered from the window's first. */
  write(device: Device, rows: Observations, window: Window, options: LaunchOptions, progress?: Progress): Promise<void>;
  /** The constraint rows on the unknowns that are seen; by default all are. */
  constraints(seen?: Seen): Constraints;
  /**
   * The solution that the known terms are made for, and noise for the observations' known terms, in standard deviations. By default x = 1
   * without noise. With noise the known terms of constraint rows are 0: the solution has to obey them.
   */
  exact?(constraints: Constraints, seen: Seen): { readonly x: Float64Array; readonly noise?: Float64Array };
}
