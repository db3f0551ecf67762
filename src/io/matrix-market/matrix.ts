/*
 * Matrices as files of the Matrix Market have them (Boisvert, Pozo and Remington 1996, NIST IR 5935).
 */

/** Kinds of values of a file. */
export const MARKET_FIELDS = ["real", "integer", "pattern", "complex"] as const;
/** Kind of values of a file. */
export type MarketField = (typeof MARKET_FIELDS)[number];

/** Kinds of symmetry: the value across the diagonal is the same, its negative, or its complex conjugate. */
export const MARKET_SYMMETRIES = ["general", "symmetric", "skew-symmetric", "hermitian"] as const;
/** Symmetry that a file states. */
export type MarketSymmetry = (typeof MARKET_SYMMETRIES)[number];

/** Elements of a sparse matrix by coordinates, from 0 on. */
export interface MarketCoordinates {
  /** Rows and columns. */
  readonly shape: readonly [number, number];
  readonly rows: ArrayLike<number>;
  readonly columns: ArrayLike<number>;
  /** Real parts where the elements are complex. */
  readonly values: ArrayLike<number>;
  /** Imaginary parts of complex elements. */
  readonly imaginary?: ArrayLike<number>;
}

/** All elements of a matrix, row by row. */
export interface MarketArray {
  readonly shape: readonly [number, number];
  readonly values: ArrayLike<number>;
  readonly imaginary?: ArrayLike<number>;
}

interface MarketFile {
  readonly field: MarketField;
  /** Symmetry that the file states; the elements here are all, those across the diagonal included. */
  readonly symmetry: MarketSymmetry;
  /** Lines of comment without their %. */
  readonly comments: readonly string[];
  readonly shape: readonly [number, number];
  readonly values: Float64Array;
  readonly imaginary?: Float64Array;
}

/** A matrix from a file of the format `coordinate`. Elements are in the order of the file, each followed by its image across the diagonal. */
export interface MarketCoordinatesRead extends MarketFile {
  readonly format: "coordinate";
  readonly rows: Int32Array;
  readonly columns: Int32Array;
}

/** A matrix from a file of the format `array`, its elements row by row. */
export interface MarketArrayRead extends MarketFile {
  readonly format: "array";
}

/** A matrix from a file. */
export type MatrixMarket = MarketCoordinatesRead | MarketArrayRead;

/** Factors of the real and the imaginary part of an element that give its image across the diagonal. */
export const IMAGE: Readonly<Record<MarketSymmetry, readonly [re: number, im: number]>> = {
  general: [1, 1],
  symmetric: [1, 1],
  "skew-symmetric": [-1, -1],
  hermitian: [1, -1],
};

/** Most rows, columns and elements: indices are i32. */
export const MOST_OF_MARKET = 2 ** 31 - 1;
