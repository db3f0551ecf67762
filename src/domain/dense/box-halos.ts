import type { Launch } from "../../device/device.js";
import { range } from "../../device/launch/policy.js";
import type { View } from "../../device/memory/view.js";
import { i32, type Params } from "../../kernel/declare/params.js";
import { ifLocal, isLocal, localOf, type DeviceSet, type LocalMember } from "../../set/index.js";
import { BOX_SIDES, type HaloSide, type HaloWidths, type SideWidths } from "../container/halo-widths.js";
import { moveKernel, packKernel, unpackKernel } from "../container/moves.js";
import type { Field } from "../grid/grid.js";
import type { HaloCopy, Rounds, Span } from "../grid/parts.js";
import type { MemberBoxes } from "./member-boxes.js";

/*
 * Halos of grids that are cut along y. Neighbours along z send planes, a copy for each, as elsewhere. Rows beside the cuts along y, and edges where both cuts meet, are
 * packed, sent in one piece and unpacked.
 */

/** Properties of a grid on which its halos depend. */
export interface HaloGrid {
  readonly set: DeviceSet;
  readonly boxes: MemberBoxes;
  readonly widths: HaloWidths;
  /** Neighbour of a member on a side, if there is one. */
  beside(member: number, side: HaloSide): number | undefined;
  /** Own cells of a member along an axis (x = 0), with ghosts. */
  held(member: number, axis: number): Span;
  /** One component of a row of cells with its ghosts along x, and of the rows that follow it in its plane, as one piece; of all components for `aos`. */
  rowsOf(field: Field, member: number, plane: number, rows: Span, component: number): View;
  /** Cells of some planes and rows with their ghosts along x, as [component][z][y][x], for `aos` [z][y][x][component]. */
  cellsOf(field: Field, member: number, planes: Span, rows: Span): View;
}

/** Memory through which halos of one field pass, kept while their sizes stay the same. */
export class HaloBuffers {
  private readonly views = new Map<string, View>();

  get({ index, device }: LocalMember, name: string, type: View["type"], length: number): View {
    const key = `${index} ${name}`;
    const known = this.views.get(key);
    if (known?.size === length) return known;
    known?.free();
    const made = device.array({ type: type as "f64" }, length) as unknown as View;
    this.views.set(key, made);
    return made;
  }

  free(): void {
    this.views.forEach((view) => view.free());
    this.views.clear();
  }
}

/** Launches and copies that bring the halos of a field up to date. */
export function boxHaloRounds(grid: HaloGrid, field: Field, buffers: HaloBuffers): Rounds {
  const made = new Exchange(grid, field, buffers);
  grid.set.members.forEach((_, to) => {
    for (const side of BOX_SIDES) {
      const from = grid.beside(to, side);
      if (from !== undefined) made.add(from, to, side);
    }
  });
  return made;
}

/** Cells of a halo, and of the neighbour that has them. */
interface Ends {
  readonly source: readonly [planes: Span, rows: Span];
  readonly target: readonly [planes: Span, rows: Span];
}

class Exchange implements Rounds {
  private readonly packs: Launch[][];
  private readonly unpacks: Launch[][];
  private readonly copies: HaloCopy[] = [];
  private readonly tables: View[] = [];

  constructor(
    private readonly grid: HaloGrid,
    private readonly field: Field,
    private readonly buffers: HaloBuffers,
  ) {
    this.packs = grid.set.members.map(() => []);
    this.unpacks = grid.set.members.map(() => []);
  }

  get rounds(): Rounds["rounds"] {
    return [
      { launches: this.packs, copies: this.copies },
      { launches: this.unpacks, copies: [] },
    ];
  }

  free(): void {
    for (const launch of [...this.packs, ...this.unpacks].flat()) launch.free();
    for (const table of this.tables) table.free();
  }

  /** The halo of `to` on a side, which `from` has. */
  add(from: number, to: number, side: HaloSide): void {
    const { field } = this;
    const all = field.layout === "aos" ? [undefined] : Array.from({ length: field.cardinality }, (_, k) => k);
    const byWidths = new Map<string, { readonly widths: SideWidths; readonly components: number[] }>();
    for (const k of all) {
      const widths = this.grid.widths.onSide(field, side, k);
      if (widths.every((width) => width === 0)) continue;
      const known = byWidths.get(widths.join()) ?? { widths, components: [] };
      byWidths.set(widths.join(), known);
      known.components.push(k ?? 0);
    }
    for (const { widths, components } of byWidths.values()) {
      const ends = this.endsOf(from, to, side, widths);
      if (side.y === 0) this.addPlanes(from, to, ends, components);
      else this.addPacked(from, to, side, ends, components);
    }
  }

  private endsOf(from: number, to: number, side: HaloSide, [y, z]: SideWidths): Ends {
    const along = (axis: number, direction: number, width: number): readonly [source: Span, target: Span] => {
      // Members side by side have the same cells along the other axis.
      if (direction === 0) return [this.grid.held(from, axis), this.grid.held(to, axis)];
      const length = this.grid.boxes.length(direction < 0 ? from : to, axis);
      return direction < 0 ? [[length - width, length], [-width, 0]] : [[0, width], [length, length + width]]; // prettier-ignore
    };
    const [planes, rows] = [along(2, side.z, z), along(1, side.y, y)];
    return { source: [planes[0], rows[0]], target: [planes[1], rows[1]] };
  }

  private addPlanes(from: number, to: number, { source, target }: Ends, components: readonly number[]): void {
    const { grid, field } = this;
    const piece = (member: number, [planes, rows]: Ends["source"], n: number, k: number) =>
      ifLocal(grid.set, member, () => grid.rowsOf(field, member, planes[0] + n, rows, k));
    for (const k of components)
      for (let n = 0; n < source[0][1] - source[0][0]; n++)
        this.copies.push({ from, to, source: piece(from, source, n, k), target: piece(to, target, n, k) });
  }

  private addPacked(from: number, to: number, side: HaloSide, { source, target }: Ends, components: readonly number[]): void {
    const { set } = this.grid;
    const name = (way: string): string => `${way} ${side.y} ${side.z} ${components.join()}`;
    const isSource = isLocal(set.members[from]);
    const outbox = isSource ? this.packed(from, source, components, name(`to ${to}`), "pack") : undefined;
    const inbox = isLocal(set.members[to]) ? this.packed(to, target, components, name("in"), "unpack") : undefined;
    this.copies.push({ from, to, source: outbox, target: inbox });
  }

  /** A buffer for some cells of a member, and the launch that fills it or empties it. */
  private packed(member: number, cells: Ends["source"], components: readonly number[], name: string, way: "pack" | "unpack"): View {
    const { field } = this;
    const local = localOf(this.grid.set, member);
    const all = this.grid.cellsOf(field, member, ...cells);
    const isAos = field.layout === "aos";
    const [first] = components;
    const isRun = components.every((k, n) => k === first + n);
    const shape = isAos ? all.shape : [components.length, ...all.shape.slice(1)];
    const length = shape.reduce((a, b) => a * b, 1);
    const buffer = this.buffers.get(local, name, field.type, length);
    const box = buffer.reshape(...shape);
    const own = isAos || !isRun ? all : all.slice([first, first + components.length]);
    const ends = way === "pack" ? { from: own, to: box } : { from: box, to: own };
    const byRun = isAos || isRun;
    const kernel = byRun ? moveKernel(field.type) : way === "pack" ? packKernel(field.type) : unpackKernel(field.type);
    const args = byRun ? ends : { ...ends, table: this.tableOf(local, components) };
    // Indices follow from the plan.
    const launch = local.device.prepare<Params>(kernel, args, range(...shape), { checked: false });
    (way === "pack" ? this.packs : this.unpacks)[member].push(launch);
    return buffer;
  }

  private tableOf({ device }: LocalMember, components: readonly number[]): View {
    const table = device.from(i32, components) as View;
    this.tables.push(table);
    return table;
  }
}
