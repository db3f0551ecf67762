import type { AxisArray, Container, Grid } from "isoform/grid";
import type { Scalar } from "isoform/set";

/** Means over time of a flow, whose sums are on the devices. */
export interface Sampled<T> {
  /** Steps that add the flow as it is now. */
  readonly sample: readonly (Container | ReturnType<Grid<3>["scalarStep"]>)[];
  /** All arrays that `sample` writes. */
  readonly sums: readonly AxisArray[];
  /** How often the flow was added. */
  readonly samples: Scalar<"f64">;
  /** Begins anew. */
  clear(): void;
  read(): Promise<T>;
}
