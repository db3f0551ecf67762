import type { Location } from "../../ir/types.js";

/** `use m, only : a, b => c`. */
export interface Use {
  readonly module: string;
  readonly intrinsic: boolean;
  /** Absent: everything. `name => original`. */
  readonly only?: readonly { readonly name: string; readonly original: string }[];
  readonly renames: readonly { readonly name: string; readonly original: string }[];
  readonly at: Location;
  readonly before?: readonly string[];
  /** For a line `!@cuf use …`. */
  readonly cudaOnly?: true;
}
