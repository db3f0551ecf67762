import type { Region } from "../../src/domain/index.js";
import type { Margins } from "../../src/domain/grid/ghosts.js";
import { boxOf } from "../../src/domain/grid/region.js";

/** A grid in plain arrays, on which the functions of containers run as they are written, one cell after the other. */
export class HostGrid {
  private readonly values = new Map<string, Map<string, number>>();

  constructor(
    readonly extents: readonly number[],
    readonly periodic: readonly boolean[],
    readonly ghosts: Margins,
    readonly fillValue = 0,
  ) {}

  /** The values of a field by cell and component; what is not there has the fill value. */
  field(name: string): Map<string, number> {
    let values = this.values.get(name);
    if (!values) this.values.set(name, (values = new Map()));
    return values;
  }

  /** The cells of the box, or of the box and its ghosts, in the order of host arrays. */
  cells(on?: Region | readonly Region[], withGhosts = false): number[][] {
    const whole = this.extents.map((n, axis) => (withGhosts ? [-this.ghosts[axis][0], n + this.ghosts[axis][1]] : [0, n]));
    const bounds = on ? boxOf(on, this, (problem) => assertNever(problem)).bounds : whole;
    return bounds.reduce<number[][]>(
      (cells, [first, end]) => Array.from({ length: end - first }, (_, n) => cells.map((cell) => [...cell, first + n])).flat(),
      [[]],
    );
  }

  key(cell: readonly number[], k = 0): string {
    const inside = cell.map((n, axis) => (this.periodic[axis] ? (n + this.extents[axis]) % this.extents[axis] : n));
    return [...inside, k].join();
  }

  fill(name: string, value: (...cell: number[]) => number, withGhosts = false, cardinality = 1): void {
    for (const cell of this.cells(undefined, withGhosts))
      for (let k = 0; k < cardinality; k++) this.field(name).set(this.key(cell, k), value(cell[0], cell[1], cell[2] ?? 0, k));
  }

  /** As `download` gives it. */
  array(name: string, withGhosts = false, cardinality = 1): number[] {
    return this.cells(undefined, withGhosts).flatMap((cell) =>
      Array.from({ length: cardinality }, (_, k) => this.field(name).get(this.key(cell, k)) ?? this.fillValue),
    );
  }

  /** Runs a container's function for each cell; scalars are given as objects with the methods of their reductions. */
  run(fields: readonly string[], body: (params: never, c: never) => void, on?: Region | readonly Region[], others: object = {}): void {
    for (const cell of this.cells(on)) {
      const params = Object.fromEntries(fields.map((name) => [name, this.access(name, cell)]));
      const c = { x: cell[0], y: cell[1], z: cell[2], [Symbol.toPrimitive]: () => "own" };
      body({ ...params, ...others } as never, c as never);
    }
  }

  /** Of a field of one component; those of more have theirs by number. */
  private access(name: string, cell: readonly number[]): object {
    const values = this.field(name);
    const around = (offset: readonly number[]): number[] => cell.map((n, axis) => n + (offset[axis] ?? 0));
    const get = (at: readonly number[], k: number) => values.get(this.key(at, k)) ?? this.fillValue;
    const components = (at: readonly number[]) =>
      new Proxy(
        {},
        {
          get: (_, k) => (k === Symbol.toPrimitive ? () => get(at, 0) : get(at, Number(k))),
          set: (_, k, value: number) => !!values.set(this.key(at, Number(k)), Number(value)),
        },
      );
    const methods = {
      at: (_: unknown, ...offset: number[]) => components(around(offset)),
      put: (_: unknown, ...args: number[]) => void values.set(this.key(around(args.slice(0, -1))), Number(args.at(-1))),
    };
    return new Proxy(methods, {
      get: (_, key) => (key === "own" ? components(cell) : methods[key as "at"]),
      set: (_, _key, value: number) => !!values.set(this.key(cell), Number(value)),
    });
  }
}

function assertNever(problem: string): never {
  throw new Error(problem);
}
