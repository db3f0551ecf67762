import type { Direction, Run } from "./cells.js";
import type { CsvField } from "./csv.js";
import type { Coverage } from "./divergence.js";

/** How a file of timings is to be read. */
export interface ReadingOptions {
  /** Quantity that takes the place of `iteration`, whose rows are then left out. */
  quantity?: string;
  /** Which figures of merit are better. Files with `seconds` do not need it, others have no default. */
  fom?: Direction;
  /** Names of columns in the file, by the names of this page: `{ problem: "name" }`. */
  columns?: Readonly<Record<string, string>>;
  /** Problem of a wide table. Default: the file's name. */
  problem?: string;
  /** A file with the columns coverage_key and coverage. */
  coverage?: string;
}

/** A row of a file, or a cell of a wide table. */
export interface ReadRow {
  readonly names: Pick<Run, "application" | "platform" | "problem" | "quantity"> & { readonly run?: number };
  /** Undefined where it was not measured. */
  readonly value: number | undefined;
  readonly bytes?: number;
  readonly flops?: number;
  readonly coverage?: Coverage["files"];
  /** Fields of the run, of the quantity, and of the value. */
  readonly at: { readonly run?: CsvField; readonly quantity?: CsvField; readonly value: CsvField };
}

/** Rows of a file, and what their values are. */
export interface ReadRows {
  readonly rows: readonly ReadRow[];
  readonly kind: "seconds" | "fom";
}
