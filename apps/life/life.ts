import { i32, LaunchError, sum, u8 } from "isoform";
import { makeGrid, type Container, type Field, type Grid } from "isoform/grid";
import { requireMemory, type DeviceSet, type Scalar } from "isoform/set";
import {
  skeleton,
  swap,
  tuned,
  DEFAULT_SETTINGS,
  type GridSettings,
  type Resolved,
  type Skeleton,
  type SkeletonOptions,
  type SkeletonSettings,
} from "isoform/skeleton";
import { askedBox } from "../box.js";
import { centred, type PatternName } from "./patterns.js";

/** Options of `Life`; `DEFAULTS` has a value for each. */
export interface LifeSettings extends Resolved<GridSettings> {
  /** Cells along x. */
  width: number;
  /** Cells along y. */
  height: number;
}

/** The defaults of `LifeSettings`. */
export const DEFAULTS: LifeSettings = { ...DEFAULT_SETTINGS, width: 64, height: 48 };

/** Two fields. */
const BYTES_PER_CELL = 2;

/** Conway's Game of Life on a rectangle, one byte a cell; beyond the rectangle nothing lives. */
export class Life {
  readonly grid: Grid<2>;
  /** The cells: 1 where one lives. */
  readonly now: Field<"u8", 1, 2>;
  /** Sequence of one generation. */
  readonly skeleton: Skeleton;
  /** Generations done. */
  generations = 0;
  private readonly total: Scalar<"i32">;
  private readonly census: Container;

  /**
   * @param start a pattern for the middle, or a function that is 1 where a cell lives and 0 elsewhere
   * @throws LaunchError for a pattern or a grid that does not fit, and for a start that is neither 0 nor 1 somewhere
   */
  constructor(
    set: DeviceSet,
    readonly settings: LifeSettings,
    start: PatternName | ((x: number, y: number) => number),
    options: SkeletonOptions = {},
  ) {
    const { width, height, occ, precision } = settings;
    const what = `life on ${width} x ${height} cells`;
    requireMemory(set, { what, bytes: BYTES_PER_CELL * width * height, choose: "a smaller --width or --height" });
    this.grid = makeGrid(set, [width, height], { kind: settings.grid, layout: settings.layout });
    const { grid } = this;
    const [now, next] = ["now", "next"].map((name) => grid.field(name, u8));
    [this.now, this.total] = [now, grid.scalar("total", i32)];

    const generation = grid.container("generation", { now, next }, ({ now, next }, c) => {
      let neighbours = 0;
      for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) if (dx !== 0 || dy !== 0) neighbours += now.at(c, dx, dy);
      next[c] = neighbours === 3 || (neighbours === 2 && now[c] === 1) ? 1 : 0;
    });
    this.census = grid.container("census", { now, total: sum(this.total) }, ({ now, total }, c) => total.add(now[c]));
    this.skeleton = skeleton(set, "life", [generation, swap(now, next)], { occ, precision, ...options });
    const alive = typeof start === "function" ? start : centred(start, width, height);
    now.fill((x, y) => {
      const value = Number(alive(x, y));
      if (value !== 0 && value !== 1) throw new LaunchError(`life: cell ${x}, ${y} starts as ${value}: give 1 where a cell lives, else 0`);
      return value;
    });
  }

  /** Runs generations; returns the seconds that they took. */
  async run(generations: number): Promise<number> {
    const { seconds } = await this.skeleton.run(generations);
    this.generations += generations;
    return seconds;
  }

  /** The number of living cells. */
  async population(): Promise<number> {
    await this.grid.run(this.census, this.settings);
    return this.total.get();
  }

  /** Rows from the top, `#` for a living cell, `.` for another. */
  async picture(): Promise<string[]> {
    const { width, height } = this.settings;
    const cells = await this.now.download();
    return Array.from({ length: height }, (_, y) => Array.from(cells.slice(y * width, (y + 1) * width), (on) => (on ? "#" : ".")).join(""));
  }

  /** Frees the memory on the devices. */
  free(): void {
    this.skeleton.free();
    this.grid.free();
    this.total.free();
  }
}

/** For `isoform explain`. */
export async function makeSkeleton(set: DeviceSet, asked: SkeletonSettings): Promise<Skeleton> {
  const { fuse, unroll } = asked;
  const { size: width, planes: height } = askedBox(asked, 2, 64);
  const life = await tuned(asked, (settings) => new Life(set, { ...DEFAULTS, ...settings, width, height }, "glider", { fuse, unroll }));
  return life.skeleton;
}
