import { identifier } from "../base/names.js";
import { identityOf } from "../ir/identity.js";
import type { ScatterParam } from "../ir/types.js";
import { BARRIER, local, ne, read, upTo, when, write } from "./build.js";
import { THREAD, THREADS } from "./folds.js";
import type { Expr, Memory, Stmt } from "./nodes.js";
import type { EntrySchedule } from "./entry.js";
import { ScatterCache } from "./scatter-cache.js";

/** A block's copies and scatter caches of targets, in its shared memory. */
export class TargetCopies {
  private readonly copies = new Map<string, Memory>();
  private readonly caches = new Map<string, ScatterCache>();
  /** Counts their elements. */
  private index = identifier("");

  /** Needs the thread's number, which `declareThread` declares. */
  constructor(
    private readonly entry: EntrySchedule,
    private readonly declareThread: () => void,
  ) {}

  copyOf(target: string): Memory {
    return this.copies.get(target)!;
  }
  cacheOf(target: string): ScatterCache {
    return this.caches.get(target)!;
  }

  open(): void {
    const { entry } = this;
    const { program, out } = entry;
    const targets = program.scatters("shared");
    const cached = program.scatters("cached");
    if (targets.length + cached.length === 0) return;
    this.declareThread();
    for (const target of cached) {
      const cache = new ScatterCache(entry, target, program.assumptions.scatterCacheLines!);
      this.caches.set(target.name, cache);
      cache.open();
    }
    if (targets.length > 0) this.fill(targets);
    out.put(BARRIER);
  }

  private fill(targets: readonly ScatterParam[]): void {
    const { entry } = this;
    const { out, names } = entry;
    const all = entry.dynamicShared("copies");
    this.index = names.fresh("n");
    for (const target of targets) {
      const memory: Memory = { id: names.fresh(`${target.name}_copy`), element: target.element, space: "block" };
      this.copies.set(target.name, memory);
      const offset = entry.number({ kind: "copy", name: target.name }, "i32", `${target.name}_copy_at`);
      out.put({ kind: "pointer", memory, to: { of: all, offset } });
      out.put(this.each(target, (at) => write(memory, at, identity(target))));
    }
  }

  /** Brings their values to the targets. */
  close(): void {
    const { entry } = this;
    const { out, program } = entry;
    if (this.copies.size + this.caches.size === 0) return;
    out.put(BARRIER);
    for (const cache of this.caches.values()) cache.close();
    for (const [name, copy] of this.copies) {
      const target = program.target(name);
      const at = local(this.index, "int");
      const bring = out.inside(() => {
        const offset = entry.offsetOf(name, at);
        out.put({ kind: "atomic", fn: target.op, at: entry.memory(name), offset, value: read(copy, at) });
      });
      out.put(this.each(target, () => when(ne(read(copy, at), identity(target)), bring)));
    }
  }

  /** A loop of the block's threads over the elements of a copy. */
  private each(target: ScatterParam, make: (at: Expr) => Stmt): Stmt {
    const size = this.entry.number({ kind: "size", name: target.name }, "i32", `${target.name}_size`);
    return upTo(this.index, THREAD, size, THREADS, [make(local(this.index, "int"))]);
  }
}

const identity = ({ op, element }: ScatterParam): Expr => ({ op: "const", type: element, value: identityOf(op, element) });
