import { isFloat, valueType } from "../../ir/scalars.js";
import { Runs } from "../../domain/container/runs.js";
import type { Container, Field } from "../../domain/grid/grid.js";
import type { FieldType } from "../../domain/grid/options.js";
import { cutsRows } from "../../domain/grid/split.js";
import { f64, sum } from "../../kernel/declare/params.js";
import type { Scalar } from "../../set/index.js";

/** Place of a NaN that was found. */
export interface NanLocation {
  readonly field: Field;
  /** Global coordinates [x, y, z], or [x, y]. */
  readonly cell: readonly number[];
  readonly component: number;
}

const canHold = (field: Field): boolean => isFloat(valueType(field.type));

/** Looks for NaN in fields, on the devices as long as there is none. */
export class NanWatch {
  /** Its own: a grid's wait for the run of a skeleton, which this is a part of. */
  private readonly runs = new Runs();
  private readonly counts: { readonly field: Field; readonly count: Scalar; readonly container: Container }[];

  constructor(fields: Iterable<Field>) {
    this.counts = [...fields].filter(canHold).map((field) => {
      const count = field.grid.scalar(`NaN in ${field.name}`, f64) as Scalar;
      return { field, count, container: counting(field, count) };
    });
  }

  /** The first field with NaN, and where in it the first one is. */
  async find(): Promise<NanLocation | undefined> {
    for (const { field, count, container } of this.counts) {
      await this.runs.run(container);
      if ((await count.get()) > 0) return findNan(field);
    }
    return undefined;
  }

  free(): void {
    this.runs.free();
    for (const { count } of this.counts) count.free();
  }
}

/** The first NaN of a field, in the order of its host array; the same in all processes. */
export async function findNan(field: Field): Promise<NanLocation | undefined> {
  if (!canHold(field) || !field.stored) return undefined;
  // Processes that have some rows of planes are given whole ones, and find the same.
  if (cutsRows(field.grid)) return withField(field, await findIn(field, field.wholePlanes()));
  const own = findIn(field, field.planes());
  const { ranks } = field.grid.set;
  const first = ranks ? (await ranks.gather(own, `NaN in "${field.name}"`)).find((place) => place !== undefined) : await own;
  return withField(field, first);
}

const withField = (field: Field, place: Omit<NanLocation, "field"> | undefined): NanLocation | undefined => place && { field, ...place };

/** The same among some planes. */
async function findIn(field: Field, planes: ReturnType<Field["planes"]>): Promise<Omit<NanLocation, "field"> | undefined> {
  for await (const { first, values } of planes) {
    const found = values.findIndex(Number.isNaN);
    if (found < 0) continue;
    const n = first * field.grid.planeLength(field) + found;
    let rest = Math.floor(n / field.cardinality);
    const cell = field.grid.extents.map((extent) => {
      const coordinate = rest % extent;
      rest = Math.floor(rest / extent);
      return coordinate;
    });
    return { cell, component: n % field.cardinality };
  }
  return undefined;
}

function counting(field: Field, count: Scalar): Container {
  const { grid, cardinality } = field;
  const name = `count NaN of ${field.name}`;
  if (cardinality === 1)
    return grid.container(name, { f: field as Field<FieldType, 1>, count: sum(count) }, ({ f, count }, c) =>
      count.add(f[c] === f[c] ? 0 : 1),
    );
  return grid.container(name, { f: field as Field<FieldType, 2>, count: sum(count) }, ({ f, count }, c) => {
    let found = 0;
    for (let k = 0; k < f[c].length; k++) found += f[c][k] === f[c][k] ? 0 : 1;
    count.add(found);
  });
}
