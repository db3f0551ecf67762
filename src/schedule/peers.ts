import type { Stmt as KernelStmt } from "../ir/types.js";
import { add, cast, fixed, ge, gt, local, lt, mul, num, read, select, sub, when, write, and, valueType } from "./build.js";
import type { Body } from "./body.js";
import type { EntrySchedule } from "./entry.js";
import type { StmtOf } from "./frame.js";
import type { Expr, Memory } from "./nodes.js";
import type { PeerStoreCode } from "./program.js";

/** Other memory for one end of a view: the address there of an element, given its offset in the view, and the planes kept there. */
interface End {
  readonly to: Memory;
  /** Whether the plane of this index, and the planes of a segment, belong to it. */
  readonly has: (plane: Expr) => Expr;
  readonly from: (start: Expr) => Expr;
  readonly until: (plane: Expr, stop: Expr) => Expr;
}

/**
 * Planes at the ends of a box that are stored in other memory, too, such as a neighbour's halo. Stores of every element go there at once;
 * stores of some elements only are read back after the column, so that the other memory has all of the planes.
 */
export class PeerStores {
  private readonly ends = new Map<string, End[]>();
  private readonly atOnce: ReadonlySet<string>;

  constructor(
    private readonly entry: EntrySchedule,
    stores: readonly PeerStoreCode[],
    private readonly box: { readonly begin: Expr; readonly end: Expr; readonly body: readonly KernelStmt[] },
  ) {
    for (const store of stores) this.ends.set(store.param, [...(this.ends.get(store.param) ?? []), this.endOf(store)]);
    this.atOnce = new Set([...this.ends.keys()].filter((param) => box.body.some((stmt) => stmt.kind === "store" && stmt.view === param)));
  }

  /** Whether something must be done after a column. */
  get readsBack(): boolean {
    return this.atOnce.size < this.ends.size;
  }

  /** Stores an element of a view. */
  store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void {
    const { entry } = this;
    const memory = entry.memory(stmt.view);
    const ends = this.atOnce.has(stmt.view) ? this.ends.get(stmt.view) : undefined;
    if (!ends) return void body.out.put(write(memory, offset, value));
    const name = entry.names.fresh(`${stmt.view}_stored`);
    const stored = local(name, valueType(memory));
    body.out.put(fixed(name, value, stored.type), write(memory, offset, stored));
    const plane = body.address(stmt.indices[0]!);
    for (const { to, has } of ends) body.out.put(when(has(plane), [write(to, offset, stored)]));
  }

  /** Puts the work left for a column `j`, `k` whose planes from `start` to `stop` have been computed. */
  close(start: Expr, stop: Expr, j: Expr, k: Expr): void {
    const { entry } = this;
    for (const [param, ends] of this.ends) {
      if (this.atOnce.has(param)) continue;
      const name = entry.names.fresh("n");
      const n = local(name, "index");
      const offset = entry.offsetAt(param, [n, j, k]);
      for (const { to, from, until } of ends)
        entry.out.put({
          kind: "loop",
          id: name,
          type: "index",
          start: from(start),
          cond: until(n, stop),
          step: { fn: "add", by: num(1, "index") },
          body: [write(to, offset, read(entry.memory(param), offset))],
        });
    }
  }

  private endOf({ param, side }: PeerStoreCode): End {
    const { entry, box } = this;
    const planes = entry.indexNumber({ kind: "peerStorePlanes", name: param, side }, `${param}_${side}_planes`);
    const edge = side === "first" ? add(box.begin, planes) : sub(box.end, planes);
    const first = side === "first" ? box.begin : edge;
    const { element } = entry.program.array(param);
    const to: Memory = { id: entry.names.fresh(`${param}_at_${side}`), element, space: "device" };
    const given = entry.given({ kind: "peerStore", name: param, side }, `${param}_${side}`, element);
    const stride = entry.strides(param)[0]!;
    const skipped = mul(cast(first, stride.type), stride);
    entry.early.put({ kind: "pointer", memory: to, fixed: true, to: { of: given, before: skipped } });
    if (side === "first") return { to, has: (i) => lt(i, edge), from: (start) => start, until: (n, stop) => and(lt(n, stop), lt(n, edge)) };
    return { to, has: (i) => ge(i, edge), from: (start) => select(gt(start, edge), start, edge), until: (n, stop) => lt(n, stop) };
  }
}
