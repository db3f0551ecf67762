import { identifier } from "../base/names.js";
import { identityOf } from "../ir/identity.js";
import { hashShift, LINE_ELEMENTS, LINE_HASH } from "../ir/scatter-cache.js";
import type { ScatterParam } from "../ir/types.js";
import {
  add,
  apply,
  assign,
  address,
  bits,
  cast,
  declare,
  div,
  eq,
  fixed,
  local,
  mul,
  ne,
  not,
  num,
  or,
  perform,
  read,
  rem,
  sub,
  upTo,
  variable,
  when,
  write,
} from "./build.js";
import type { EntrySchedule } from "./entry.js";
import { THREAD, THREADS } from "./folds.js";
import { runFold } from "./runs.js";
import type { Expr, Func, Memory, Stmt } from "./nodes.js";

/** A block's scatter cache of one target (see ir/scatter-cache.ts), in its shared memory. Needs `thread` and `threads`. */
export class ScatterCache {
  private readonly values: Memory;
  /** Numbers of the lines, from 1 on: 0 stands for none. */
  private readonly held: Memory;

  constructor(
    private readonly entry: EntrySchedule,
    private readonly target: ScatterParam,
    private readonly lines: number,
  ) {
    const [values, held] = [entry.names.fresh(`${target.name}_cache`), entry.names.fresh(`${target.name}_lines`)];
    this.values = entry.sharedArray(values, target.element, LINE_ELEMENTS * lines);
    this.held = entry.sharedArray(held, "u32", lines);
  }

  /** Empties it; a barrier must follow. */
  open(): void {
    const { entry, lines } = this;
    const n = entry.names.fresh("n");
    const at = local(n, "int");
    entry.out.put(
      upTo(n, THREAD, LINE_ELEMENTS * lines, THREADS, [write(this.values, at, this.identity)]),
      upTo(n, THREAD, lines, THREADS, [write(this.held, at, num(0, "u32"))]),
    );
  }

  /** Folds a value into the element at `offset` of the target. */
  update(offset: Expr, value: Expr): void {
    const { entry, target } = this;
    const { op, element } = target;
    const fn = entry.program.function(`${op}_into_cache_${element}`, () => this.updateFunction());
    entry.out.put(perform(apply(fn, address(this.values), address(this.held), address(entry.memory(target.name)), offset, value)));
  }

  /** Brings its values to the target; a barrier must have come before. */
  close(): void {
    const { entry, target, lines } = this;
    const n = entry.names.fresh("n");
    const at = local(n, "int");
    const line = sub(read(this.held, div(at, LINE_ELEMENTS)), 1);
    const offset = add(mul(cast(line, "index"), LINE_ELEMENTS), cast(rem(at, LINE_ELEMENTS), "index"));
    const value = read(this.values, at);
    const fold: Stmt = { kind: "atomic", fn: target.op, at: entry.memory(target.name), offset, value };
    entry.out.put(upTo(n, THREAD, LINE_ELEMENTS * lines, THREADS, [when(ne(value, this.identity), [fold])]));
  }

  private get identity(): Expr {
    const { op, element } = this.target;
    return { op: "const", type: element, value: identityOf(op, element) };
  }

  /** The function that folds a value into an element: a kernel may do so at many places, and its code is long. */
  private updateFunction(): Func {
    const { entry, lines } = this;
    const { op, element } = this.target;
    const [values, held, target] = [
      { id: identifier("values"), element, space: "block" },
      { id: identifier("held"), element: "u32", space: "block" },
      { id: identifier("target"), element, space: "device" },
    ] as const satisfies readonly Memory[];
    const [at, value, line, place, seen] = [
      local("at", "index"),
      local("value", element),
      local("line", "u32"),
      local("place", "u32"),
      local("seen", "u32"),
    ] as const;
    const inLine = cast(bits.and(at, LINE_ELEMENTS - 1), "int");
    const own: Stmt = { kind: "atomic", fn: op, at: values, offset: add(mul(place, LINE_ELEMENTS), cast(inLine, "u32")), value };
    const shared: Stmt = { kind: "atomic", fn: op, at: target, offset: at, value };
    const next = add(line, 1);
    const taken: Expr = {
      op: "exchange",
      type: "u32",
      at: held,
      offset: place,
      seen: { op: "const", type: "u32", value: 0 },
      wanted: next,
    };
    const run = entry.features.findsRuns ? runFold(entry, op, element) : undefined;
    return {
      id: identifier(`${op}_into_cache_${element}`),
      apart: true,
      params: [
        { memory: values },
        { memory: held },
        { memory: target },
        { id: identifier("at"), type: "index" },
        { id: identifier("value"), type: element, changes: "inside" },
      ],
      body: [
        ...(run ? [when(not(apply(run, at, value)), [{ kind: "return" } as const])] : []),
        fixed("line", cast(bits.shr(at, Math.log2(LINE_ELEMENTS)), "u32")),
        fixed("place", bits.shr(mul(line, { op: "const", type: "u32", value: LINE_HASH }), hashShift(lines))),
        declare("seen", "u32", read(held, place)),
        when(eq(seen, 0), [assign(variable("seen", "u32"), taken)]),
        when(or(eq(seen, 0), eq(seen, next)), [own], [shared]),
      ],
    };
  }
}
