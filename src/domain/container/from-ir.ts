import { ContainerError } from "../../base/errors.js";
import type { KernelIR, Location } from "../../ir/types.js";
import type { Scalar } from "../../set/scalar.js";
import type { AxisArray } from "../grid/axis-array.js";
import type { Container, Field, FieldUse, Grid } from "../grid/grid.js";
import { analyseContainer } from "./analysis.js";
import { asContainer } from "./declare.js";

/** Meanings of the parameters of a container's code. */
interface CodeParams {
  /** By view parameter: a field of the container's own grid. */
  readonly fields: ReadonlyMap<string, Field>;
  /** Scalars that it reads, by view parameter of one number. */
  readonly scalars?: ReadonlyMap<string, Scalar>;
  /** Scalars that take results, by reduce parameter. */
  readonly reductions?: ReadonlyMap<string, Scalar>;
  readonly values?: ReadonlyMap<string, number | bigint | boolean>;
  readonly axisArrays?: ReadonlyMap<string, AxisArray>;
}

/**
 * A container that is made of code in place of a function: the code is over (z, y, x) or (y, x), each field one dense array of cells, as `Container.ir` is. What it
 * reads, writes and reduces is found from it, and all that is refused in functions is refused here.
 * @param box the cells that it runs over. Default: all of the grid's
 * @throws ContainerError with the code's places
 */
export function containerFromIR(
  grid: Grid,
  ir: KernelIR,
  { fields, scalars = new Map(), reductions = new Map(), values = new Map(), axisArrays = new Map() }: CodeParams,
  location: Location,
  box?: Container["box"],
): Container {
  const axes = ir.policy.kind === "range" ? ir.policy.rank : 0;
  if (axes !== grid.dimension)
    throw new ContainerError(
      ir.name,
      location,
      `its code runs over ${axes} axes, and the grid has ${grid.dimension}`,
      "write it over the cells",
    );
  const given = new Set([...fields.keys(), ...scalars.keys(), ...reductions.keys(), ...values.keys(), ...axisArrays.keys()]);
  const missing = ir.params.find(({ name, kind }) => !given.has(name) && kind !== "view");
  if (missing)
    throw new ContainerError(ir.name, location, `its code has a parameter "${missing.name}" that stands for nothing`, "give it a value");
  return asContainer((): Container => {
    const accesses = new Map([...fields].map(([param, field]) => [param, { field, level: "own" as FieldUse["level"] }]));
    const found = analyseContainer(ir, accesses, grid, axisArrays, box);
    return {
      name: ir.name,
      grid,
      box,
      location,
      ir: found.ir,
      uses: found.uses,
      scalars,
      reductions,
      values,
      axisArrays,
      mask: found.mask,
      stencil: found.uses.some((use) => use.offsets.length > 0),
      reduces: reductions.size > 0,
    };
  });
}
