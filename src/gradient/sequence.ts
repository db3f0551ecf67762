import { Field, type Container } from "../domain/grid/grid.js";
import { containersIn, swap, swapsIn, unrollSteps, type Pair, type Step } from "../skeleton/fusion/sequence.js";
import type { Scalar } from "../set/index.js";
import {
  adjointContainers,
  containerDerivative,
  copied,
  copiedScalar,
  spreadActivity,
  writtenData,
  type AdjointData,
  type ContainerDerivative,
  type Data,
} from "./container-adjoint.js";

/** All data that depend on `wrt`, these included: the least set that is closed under a sequence's containers and swaps. */
export function activeData(steps: readonly Step[], wrt: readonly Data[]): ReadonlySet<Data> {
  const active = new Set(wrt);
  const [containers, swaps] = [containersIn(steps), swapsIn(steps)];
  for (let before = -1; before !== active.size;) {
    before = active.size;
    for (const container of containers) spreadActivity(container, active);
    for (const pair of swaps) if (pair.some((data) => active.has(data))) pair.forEach((data) => active.add(data));
  }
  return active;
}

/** Memory of adjoints, and of values that are kept within an iteration; made at first use, and used again by all iterations. */
export class AdjointMemory {
  private readonly bars = new Map<Data, Data>();
  private readonly spare = new Map<string, Data>();

  /** @param name of the skeleton */
  constructor(private readonly name: string) {}

  get fields(): Field[] {
    return [...this.bars.values()].filter(isField);
  }

  get scalars(): Scalar[] {
    return [...this.bars.values()].filter((data): data is Scalar => !isField(data));
  }

  bar<T extends Data>(of: T, grid: Container["grid"]): T {
    let bar = this.bars.get(of);
    if (!bar)
      this.bars.set(
        of,
        (bar = isField(of) ? this.field(of, `${of.name} bar`, of.cardinality, 0) : grid.scalar(`${of.name} bar`, tokenOf(of))),
      );
    return bar as T;
  }

  /** A field like another one, told apart by `key`. */
  like(of: Field, key: string, cardinality: number, fillValue: number): Field {
    return this.spared(`${key} ${cardinality} ${of.type} ${fillValue}`, of.grid, () => this.field(of, key, cardinality, fillValue));
  }

  scalarLike(of: Scalar, key: string, grid: Container["grid"]): Scalar {
    return this.spared(`${key} ${of.type}`, grid, () => grid.scalar(`${this.name} ${key}`, tokenOf(of)));
  }

  free(): void {
    for (const data of [...this.bars.values(), ...this.spare.values()]) data.free();
    this.bars.clear();
    this.spare.clear();
  }

  private readonly grids = new Map<unknown, number>();

  private spared<T extends Data>(key: string, grid: unknown, make: () => T): T {
    if (!this.grids.has(grid)) this.grids.set(grid, this.grids.size);
    const whole = `${this.grids.get(grid)} ${key}`;
    const data = this.spare.get(whole) ?? make();
    this.spare.set(whole, data);
    return data as T;
  }

  private field(of: Field, name: string, cardinality: number, fillValue: number): Field {
    const { grid, type, layout } = of;
    return grid.field(`${this.name} ${name}`, { type: type as "f64" }, { cardinality, layout, fillValue }) as unknown as Field;
  }
}

/** One iteration with its values kept, and back. */
export interface ReversedIteration {
  readonly steps: readonly Step[];
  /** In this order, they would bring values to where their names are after the iteration. */
  readonly swaps: readonly Pair[];
  readonly remarks: readonly string[];
  /** Names of containers whose values are compared with their least or greatest one, bit by bit. */
  readonly compared: readonly string[];
}

/**
 * The steps that run an iteration again and go back over it. Fields are where they are at its beginning, also after it.
 * @param isWhole whether all of it is run, as somebody looks at its results; else what the way back needs
 */
export function reverseIteration(
  steps: readonly Step[],
  iteration: number,
  { active, memory, isWhole }: { active: ReadonlySet<Data>; memory: AdjointMemory; isWhole: boolean },
): ReversedIteration {
  const { containers, swaps } = unrollSteps(steps, 1, iteration);
  const derivatives = containers.map((container) => containerDerivative(container, active));
  const kept = new KeptWithin(containers, derivatives, memory);
  const forward = kept.forward(isWhole);
  const back: Step[] = [];
  for (const pair of swaps.toReversed()) {
    const [{ grid }] = containers;
    if (pair.some((data) => active.has(data)))
      back.push(swap(...(pair.map((data) => memory.bar(data, grid)) as unknown as [Field, Field])));
  }
  for (let n = containers.length - 1; n >= 0; n--) {
    const derivative = derivatives[n];
    if (derivative) back.push(...adjointContainers(derivative, adjointData(derivative, n, kept, memory)));
  }
  return {
    steps: [...forward, ...back],
    swaps,
    remarks: [...new Set(derivatives.flatMap((each) => each?.remarks ?? []))],
    compared: derivatives.flatMap((each) => (each && each.kernels.length > 1 ? [each.container.name] : [])),
  };
}

function adjointData({ container: { grid } }: ContainerDerivative, n: number, kept: KeptWithin, memory: AdjointMemory): AdjointData {
  return {
    bar: (of) => memory.bar(of, grid),
    scalarBar: (of) => memory.bar(of, grid),
    valueOf: (of) => kept.valueOf(of, n),
    parts: (like, count, place) => memory.like(like, `parts ${place}`, count, 0),
    scratch: (like, name) => memory.scalarLike(like, name, grid),
  };
}

/** Values within an iteration that adjoints need and later containers overwrite: each is copied before it is. */
class KeptWithin {
  /** By data, and the number of containers that have written it before: the copy. */
  private readonly copies = new Map<Data, Map<number, Data>>();

  constructor(
    private readonly containers: readonly Container[],
    private readonly derivatives: readonly (ContainerDerivative | undefined)[],
    memory: AdjointMemory,
  ) {
    for (const [n, derivative] of derivatives.entries())
      for (const data of derivative?.needs ?? []) {
        if (!this.isWrittenFrom(data, n)) continue;
        const version = this.versionAt(data, n);
        const own = this.copies.get(data) ?? new Map<number, Data>();
        this.copies.set(data, own);
        if (own.has(version)) continue;
        const key = `${data.name} before ${version}`;
        own.set(
          version,
          isField(data) ? memory.like(data, key, data.cardinality, data.fillValue) : memory.scalarLike(data, key, containers[n].grid),
        );
      }
  }

  /** The containers, with the copies; without those that nobody needs, unless all are asked for. */
  forward(isWhole: boolean): Step[] {
    const steps: Step[] = [];
    const live = new Set<Data>();
    for (const [n, derivative] of this.derivatives.entries())
      for (const data of derivative?.needs ?? []) if (this.valueOf(data, n) === data) live.add(data);
    for (let n = this.containers.length - 1; n >= 0; n--) {
      const container = this.containers[n];
      const written = writtenData(container);
      if (isWhole || written.some((data) => live.has(data))) {
        steps.push(container);
        for (const { field, read } of container.uses) if (read) live.add(field);
        for (const scalar of container.scalars.values()) live.add(scalar);
      }
      for (const data of written) {
        const copy = this.copies.get(data)?.get(this.versionAt(data, n));
        if (!copy) continue;
        steps.push(isField(data) ? copied(container, data, copy as Field) : copiedScalar(container, data, copy as Scalar));
        live.add(data);
      }
    }
    return steps.reverse();
  }

  /** Place of the values that container `n` found. */
  valueOf<T extends Data>(data: T, n: number): T {
    return (this.copies.get(data)?.get(this.versionAt(data, n)) ?? data) as T;
  }

  private versionAt(data: Data, n: number): number {
    return this.containers.slice(0, n).filter((container) => writtenData(container).includes(data)).length;
  }

  private isWrittenFrom(data: Data, n: number): boolean {
    return this.containers.slice(n).some((container) => writtenData(container).includes(data));
  }
}

const tokenOf = ({ type }: Scalar): { readonly kind: "scalar"; readonly type: Scalar["type"] } => ({ kind: "scalar", type });

const isField = (data: Data): data is Field => data instanceof Field;
