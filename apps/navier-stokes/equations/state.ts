import type { Field, Grid } from "isoform/grid";
import type { Real } from "./pointwise.js";

export type RealField<C extends number> = Field<"f64" | "f32", C, 3>;

/** The fields of a flow; fields that a scheme does not use take no memory. */
export interface Fields {
  /** Density, momentum and total energy by volume; and what a stage makes of them. */
  readonly w: RealField<5>;
  readonly next: RealField<5>;
  /** The right-hand side of the stage before. */
  readonly rate: RealField<5>;
  /** A third of the divergence of the velocity. */
  readonly third: RealField<1>;
  /** Temperatures of `w` and `next`, of thermally perfect gases. */
  readonly T: RealField<1>;
  readonly nextT: RealField<1>;
  /** Shock sensor: 0 to 1, high where there may be a shock. */
  readonly sensor: RealField<1>;
  /** Fluxes through the faces after the cells, by axis. */
  readonly fluxes: readonly RealField<5>[];
}

export function fieldsOf(grid: Grid<3>, real: Real): Fields {
  const vector = (name: string): RealField<5> => grid.field(name, real, { cardinality: 5 });
  const number = (name: string): RealField<1> => grid.field(name, real);
  return {
    w: vector("w"),
    next: vector("next w"),
    rate: vector("rate"),
    third: number("div/3"),
    T: number("T"),
    nextT: number("next T"),
    sensor: number("sensor"),
    fluxes: ["x", "y", "z"].map((axis) => vector(`flux along ${axis}`)),
  };
}
