import type { View } from "../../device/memory/view.js";
import type { NumberType } from "../../ir/types.js";
import type { ScalarToken } from "../../kernel/declare/params.js";
import type { GridSpecies } from "../grid/grid.js";
import type { MemberArray } from "../grid/parts.js";

/** Type of a column's values for each particle: one number, or several. */
export type ColumnType = ScalarToken<NumberType> | readonly [type: ScalarToken<NumberType>, count: number];
/** The columns of a species, by name. */
export type ColumnTypes = Readonly<Record<string, ColumnType>>;

/** `soa`: all particles' component 0, then component 1; `aos`: the components of a particle side by side. */
export type ColumnLayout = "soa" | "aos";

/** One property of the particles of a species, in the memories of the members of its grid's set: views [particle], or [particle][k]. */
export class Column<C extends number = number> implements MemberArray {
  constructor(
    readonly species: GridSpecies,
    /** `electrons.v` */
    readonly name: string,
    readonly type: NumberType,
    /** Numbers of each particle. */
    readonly components: C,
    private readonly memory: () => readonly View<NumberType>[],
  ) {}

  /** Views of each member's particles, cell after cell once they are sorted; the rest is room. */
  get views(): readonly View<NumberType>[] {
    return this.memory();
  }
}

/** A field that particles add to. */
export interface Deposit<F = unknown> {
  readonly kind: "deposit";
  readonly field: F;
}

/** Declares that a container over particles adds to a field: `rho.add(c, dx, dy, dz, value)`. */
export const deposit = <F>(field: F): Deposit<F> => ({ kind: "deposit", field });
