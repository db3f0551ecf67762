import type { Margins } from "../grid/ghosts.js";
import type { DataView, Partition, Span } from "../grid/parts.js";
import { planeRuns, type PlaneRun } from "../grid/partition.js";
import type { CellBox } from "../grid/region.js";

/** Properties of a grid on which the boxes of its members depend. */
interface DividedGrid {
  readonly extents: readonly number[];
  readonly periodic: readonly boolean[];
  readonly ghosts: Margins;
  readonly partitions: readonly Partition[];
  readonly cutAxes: readonly number[];
}

/** Neighbours of members. */
interface Neighbourhood {
  /** Cells that halos have along an axis, where a member has a neighbour. */
  haloWidth(axis: number): number;
  /** The next members along an axis. */
  ends(member: number, axis: number): readonly [low: number | undefined, high: number | undefined];
}

/** Cells of a member along the axes that may be cut, in kernel order: planes and rows, or in two dimensions planes. Counted from its own first cell. */
export type LocalBox = readonly Span[];

export const isEmptyBox = (box: LocalBox): boolean => box.some(([first, end]) => first >= end);

/** Cells that each member of a dense grid owns, and cells that it stores besides. Axes are numbered from x = 0; all places but `own` count from the first cell of the member. */
export class MemberBoxes {
  constructor(
    private readonly grid: DividedGrid,
    private readonly beside: Neighbourhood,
  ) {}

  /** Global coordinates of a member's cells along an axis. */
  own(member: number, axis: number): Span {
    const { extents, partitions } = this.grid;
    const { first, planes, rows } = partitions[member];
    if (axis === extents.length - 1) return [first, first + planes];
    return axis === 1 && rows ? rows : [0, extents[axis]];
  }

  /** Cells along an axis. */
  length(member: number, axis: number): number {
    const [first, end] = this.own(member, axis);
    return end - first;
  }

  /** Own cells along an axis, with the margins beyond the ends of the box. */
  held(member: number, axis: number, margins: Margins): Span {
    const [first, end] = this.own(member, axis);
    const [before, after] = margins[axis];
    return [first === 0 ? 0 - before : 0, end - first + (end === this.grid.extents[axis] ? after : 0)];
  }

  /** Own cells along an axis, with halos, which do not go beyond the ends of the box. */
  stored(member: number, axis: number): Span {
    const [low, high] = this.beside.ends(member, axis);
    const [first, end] = this.own(member, axis);
    const width = this.beside.haloWidth(axis);
    const above = this.grid.periodic[axis] ? width : Math.min(width, this.grid.extents[axis] - end);
    return [low === undefined ? 0 : -width, end - first + (high === undefined ? 0 : above)];
  }

  /** Stored cells along an axis in runs that lie together in the box. */
  runs(member: number, axis: number): PlaneRun[] {
    const [low, high] = this.stored(member, axis);
    const [origin] = this.own(member, axis);
    return planeRuns(origin + low, origin + high, this.grid.extents[axis]).map(({ first, end, boxPlane }) => ({
      first: first - origin,
      end: end - origin,
      boxPlane,
    }));
  }

  /** The same, and the margins beyond the ends of the box as runs of their own; some may be empty. */
  runsWith(member: number, axis: number, margins: Margins): PlaneRun[] {
    const [low, high] = this.held(member, axis, margins);
    return [
      ...this.runs(member, axis),
      { first: low, end: 0, boxPlane: low },
      { first: this.length(member, axis), end: high, boxPlane: this.grid.extents[axis] },
    ];
  }

  /** The boxes of a data view, or of what a region has of it; some may be empty. Boundary cells are planes at both ends, then rows at both ends of the others. */
  view(member: number, view: DataView, region?: CellBox): LocalBox[] {
    const axes = this.grid.extents
      .map((_, axis) => axis)
      .slice(1)
      .reverse();
    const all = axes.map((axis): Span => [0, this.length(member, axis)]);
    const inner = axes.map((axis): Span => {
      const [low, high] = this.beside.ends(member, axis);
      const [length, width] = [this.length(member, axis), this.beside.haloWidth(axis)];
      const first = low === undefined ? 0 : Math.min(width, length);
      return [first, high === undefined ? length : Math.max(first, length - width)];
    });
    const atEnds = (n: number): LocalBox[] => {
      const around = (span: Span): LocalBox => [...inner.slice(0, n), span, ...all.slice(n + 1)];
      return [around([0, inner[n][0]]), around([inner[n][1], all[n][1]])];
    };
    const isCut = (n: number): boolean => this.grid.cutAxes.includes(axes[n]);
    const boxes = view === "standard" ? [all] : view === "internal" ? [inner] : axes.flatMap((_, n) => (isCut(n) ? atEnds(n) : []));
    return region ? boxes.map((box) => this.within(member, box, region, axes)) : boxes;
  }

  /** Part of a box in a region. Ghosts beyond an end of the box of all cells go with the cells next to them. */
  private within(member: number, box: LocalBox, { bounds }: CellBox, axes: readonly number[]): LocalBox {
    return box.map(([first, end], n): Span => {
      if (first >= end) return [0, 0];
      const axis = axes[n];
      const [origin] = this.own(member, axis);
      const [low, high] = this.held(member, axis, this.grid.ghosts);
      const [from, to] = bounds[axis].map((place) => place - origin);
      return [Math.max(from, first === 0 ? low : first), Math.min(to, end === this.length(member, axis) ? high : end)];
    });
  }
}
