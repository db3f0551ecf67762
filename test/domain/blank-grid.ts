import { open } from "isoform";
import type { NumberType } from "../../src/ir/types.js";
import type { Dimension } from "../../src/kernel/declare/cells.js";
import { callSite } from "../../src/kernel/declare/location.js";
import type { ScalarToken } from "../../src/kernel/declare/params.js";
import type { DeviceSet } from "../../src/set/device-set.js";
import { Scalar } from "../../src/set/scalar.js";
import { Field, type Container, type ContainerBody, type ContainerParams, type Grid } from "../../src/domain/grid/grid.js";
import { declareContainer } from "../../src/domain/container/declare.js";
import type { FieldToken, FieldType } from "../../src/domain/grid/options.js";

const device = await open("js");
const members = [{ index: 0, rank: 0, device, name: "js", queue: () => device.queue }];
const set: DeviceSet = {
  name: "js",
  members,
  locals: members,
  virtual: false,
  link: undefined,
  close: () => device.close(),
};

/** A grid without cells in memory: enough for the code of containers. */
export class BlankGrid<D extends Dimension> {
  readonly dimension: D;
  /** The functions of its containers. */
  readonly bodies = new Map<Container, (...args: never[]) => void>();

  constructor(
    readonly extents: readonly number[],
    readonly coarse?: BlankGrid<D>,
  ) {
    this.dimension = extents.length as D;
  }

  field<T extends FieldType, const C extends number = 1>(name: string, { type }: FieldToken<T>, cardinality = 1 as C): Field<T, C, D> {
    return new Field(this as never, name, type, cardinality, { layout: "soa", fillValue: 0, scale: 1 });
  }

  scalar<T extends NumberType>(name: string, type: ScalarToken<T>): Scalar<T> {
    return new Scalar(set, name, type);
  }

  container<const P extends ContainerParams>(name: string, params: P, body: ContainerBody<P, D>): Container {
    const made = declareContainer(this as unknown as Grid<D>, name, params, body, callSite(this.container));
    this.bodies.set(made, body as (...args: never[]) => void);
    return made;
  }
}

export const box = (): BlankGrid<3> => new BlankGrid<3>([16, 8, 4]);
export const plane = (): BlankGrid<2> => new BlankGrid<2>([16, 8]);
