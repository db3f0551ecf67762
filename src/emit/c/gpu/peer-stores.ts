import type { Expr, Stmt } from "../../../ir/types.js";
import type { BodyWriter } from "../body.js";
import type { PeerStoreCode } from "./program.js";
import type { EntryWriter, StmtOf } from "./writer.js";

/** Other memory for one end of a view: the address there of an element, given its offset in the view, and the planes kept there. */
interface End {
  readonly to: string;
  /** Whether the plane of this index, and the planes of a segment, belong to it. */
  readonly has: (plane: string) => string;
  readonly from: (start: string) => string;
  readonly until: (plane: string, stop: string) => string;
}

/**
 * Planes at the ends of a box that are stored in other memory, too, such as a neighbour's halo. Stores of every element go there at once;
 * stores of some elements only are read back after the column, so that the other memory has all of the planes.
 */
export class PeerStores {
  private readonly ends = new Map<string, End[]>();
  private readonly atOnce: ReadonlySet<string>;

  constructor(
    private readonly entry: EntryWriter,
    stores: readonly PeerStoreCode[],
    private readonly box: { readonly begin: string; readonly end: string; readonly body: readonly Stmt[] },
  ) {
    for (const store of stores) this.ends.set(store.param, [...(this.ends.get(store.param) ?? []), this.endOf(store)]);
    this.atOnce = new Set([...this.ends.keys()].filter((param) => box.body.some((stmt) => stmt.kind === "store" && stmt.view === param)));
  }

  /** Whether something must be done after a column. */
  get readsBack(): boolean {
    return this.atOnce.size < this.ends.size;
  }

  /** Stores an element of a view. */
  store(body: BodyWriter, stmt: StmtOf<"store">, place: string, value: string): void {
    const ends = this.atOnce.has(stmt.view) ? this.ends.get(stmt.view) : undefined;
    if (!ends) return body.line(stmt, `${place} = ${value};`);
    const { entry } = this;
    const stored = entry.names.fresh(`${stmt.view}_stored`);
    body.line(stmt, `const ${entry.T[entry.program.array(stmt.view).element]} ${stored} = ${value};`);
    body.code.line(`${place} = ${stored};`);
    const offset = body.offset(stmt.view, stmt.indices);
    for (const { to, has } of ends) body.code.line(`if (${has(planeOf(body, stmt.indices))}) ${to}[${offset}] = ${stored};`);
  }

  /** Writes the work left for a column `j`, `k` whose planes from `start` to `stop` have been computed. */
  close(start: string, stop: string, j: string, k: string): void {
    const { entry } = this;
    const { index } = entry.T;
    for (const [param, ends] of this.ends) {
      if (this.atOnce.has(param)) continue;
      const n = entry.names.fresh("n");
      const offset = [n, j, k].map((at, axis) => `${at} * ${entry.strides(param)[axis]}`).join(" + ");
      for (const { to, from, until } of ends)
        entry.code.block(`for (${index} ${n} = ${from(start)}; ${until(n, stop)}; ${n}++)`, () =>
          entry.code.line(`${to}[${offset}] = ${entry.pointer(param)}[${offset}];`),
        );
    }
  }

  private endOf({ param, side }: PeerStoreCode): End {
    const { entry, box } = this;
    const { element } = entry.program.array(param);
    const planes = entry.indexParam({ kind: "peerStorePlanes", name: param, side }, `${param}_${side}_planes`);
    const edge = side === "first" ? `${box.begin} + ${planes}` : `${box.end} - ${planes}`;
    const first = side === "first" ? box.begin : `(${edge})`;
    const to = entry.names.fresh(`${param}_at_${side}`);
    const pointer = entry.pointerParam({ kind: "peerStore", name: param, side }, `${param}_${side}`, element);
    entry.early.line(`${entry.dialect.pointer("global", element)}const ${to} = ${pointer} - ${first} * ${entry.strides(param)[0]};`);
    if (side === "first")
      return { to, has: (i) => `${i} < ${edge}`, from: (start) => start, until: (n, stop) => `${n} < ${stop} && ${n} < ${edge}` };
    return {
      to,
      has: (i) => `${i} >= ${edge}`,
      from: (start) => `${start} > ${edge} ? ${start} : ${edge}`,
      until: (n, stop) => `${n} < ${stop}`,
    };
  }
}

const planeOf = (body: BodyWriter, indices: readonly Expr[]): string => body.address(indices[0]);
