import { identifier, type Identifier } from "../base/names.js";
import type { ScatterParam } from "../ir/types.js";
import {
  add,
  and,
  block,
  declare,
  eq,
  fixed,
  local,
  lt,
  mul,
  ne,
  num,
  or,
  read,
  sub,
  thread,
  threads,
  variable,
  when,
  write,
} from "./build.js";
import { BLOCK, entryName, EntrySchedule, type ScheduledEntry } from "./entry.js";
import type { Program } from "./kernel-program.js";

const AT = local("at", "u32");

/**
 * Adds contributions, sorted by their target and in element order for each, to a scatter array: the thread at the first contribution
 * to an element takes them all, one after the other.
 */
export class ApplySchedule extends EntrySchedule {
  protected readonly indexNames: readonly Identifier[] = [];

  constructor(
    program: Program,
    private readonly target: ScatterParam,
  ) {
    super(program, entryName(program.ir.name, `apply${program.ir.params.indexOf(target)}_${target.name}`), false);
  }

  reduce(): void {
    throw new Error("sorted contributions are not reduced");
  }

  schedule(): ScheduledEntry {
    const { out } = this;
    const { name, op, element: type } = this.target;
    const array = this.memory(name);
    const sorted = { constant: true, apart: true };
    const keys = this.given({ kind: "sortedKeys", name }, "keys", "u32", sorted);
    const order = this.given({ kind: "sortedOrder", name }, "order", "u32", sorted);
    const values = this.given({ kind: "values", name }, "values", type, sorted);
    const count = this.number({ kind: "contributionCount", name }, "u32", "slot_count");
    const size = this.number({ kind: "size", name }, "u32", "size");
    out.put(declare("at", "u32", add(mul(block("x"), threads("x")), thread("x"))));
    const key = read(keys, AT);
    const isFirst = or(eq(AT, 0), ne(read(keys, sub(AT, 1)), key));
    const body = out.inside(() => {
      out.put(fixed("key", key));
      const offset = this.offsetOf(name, local("key", "u32"));
      out.put(declare("total", type, read(array, offset)));
      const total = variable("total", type);
      const fold = out.inside(() => this.foldInto(this.body, op, type, total, read(values, read(order, AT))));
      out.put({
        kind: "loop",
        id: identifier("at"),
        type: "u32",
        cond: and(lt(AT, count), eq(key, local("key", "u32"))),
        step: { fn: "add", by: num(1, "u32") },
        body: fold,
      });
      out.put(write(array, offset, local("total", type)));
    });
    out.put(when(and(lt(AT, count), lt(key, size), isFirst), body));
    return this.finished(BLOCK, [BLOCK, 1, 1]);
  }
}
