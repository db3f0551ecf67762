import { type Identifier } from "../base/names.js";
import { REDUCTION_CHUNK, REDUCTION_LANES } from "../ir/types.js";
import { sizeOf } from "../ir/walk.js";
import {
  add,
  and,
  assign,
  block,
  cast,
  declare,
  div,
  element,
  eq,
  fixed,
  halving,
  local,
  lt,
  mul,
  num,
  read,
  rem,
  select,
  sub,
  thread,
  upTo,
  valueOf,
  variable,
  when,
  write,
} from "./build.js";
import { BLOCK } from "./entry.js";
import { foldLanes } from "./folds.js";
import type { Expr, Memory, Stmt } from "./nodes.js";
import type { RangeElements } from "./range-elements.js";

const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;
/** Nodes of a body that is worth unrolling. */
const SMALL_BODY = 40;
/** Elements whose loads go on their way together: 2.1 to 2.9 TB/s for a dot product on an H100. */
const UNROLL = 4;

interface ChunkNames {
  readonly chunk: Identifier;
  readonly lane: Identifier;
  readonly stop: Identifier;
}

const namesOf = (range: RangeElements): ChunkNames => {
  const [chunk, lane, stop] = ["chunk", "lane", "stop"].map((wish) => range.names.fresh(wish)) as [Identifier, Identifier, Identifier];
  return { chunk, lane, stop };
};

/** Strict reductions: threads 8c .. 8c+7 of the grid are the lanes of chunk c. */
export function scheduleChunks(range: RangeElements): void {
  const { out } = range;
  const names = namesOf(range);
  const [chunk, lane] = [local(names.chunk, "index"), local(names.lane, "index")];
  const all = range.indexNumber({ kind: "chunks" }, "chunks");
  const inner = range.shape.rank - 1;
  out.put(fixed(names.lane, cast(rem(thread("x"), LANES), "index")));
  out.put(fixed(names.chunk, add(mul(cast(block("x"), "index"), BLOCK / LANES), cast(div(thread("x"), LANES), "index"))));
  range.open();
  const body = out.inside(() => {
    const start = line(range, chunk);
    out.put(stopOf(range, names.stop, start));
    const unroll = sizeOf(range.ir.body) <= SMALL_BODY ? UNROLL : undefined;
    const element = out.inside(() => range.element());
    out.put(upTo(range.indexNames[inner]!, add(start, lane), local(names.stop, "index"), LANES, element, unroll));
  });
  out.put(when(lt(chunk, all), body));
  range.close();
  const { reduces, reduceGroups } = range.program;
  for (const parts of reduceGroups)
    foldLanes(
      range,
      parts,
      parts.map((param) => range.accumulator(param)),
    );
  const stores = reduces.map((param) => write(range.partials(param), chunk, valueOf(range.accumulator(param))));
  out.put(when(and(eq(lane, 0), lt(chunk, all)), stores));
}

const stopOf = (range: RangeElements, name: Identifier, start: Expr): Stmt => {
  const [next, end] = [add(start, CHUNK), range.end(range.shape.rank - 1)];
  return fixed(name, select(lt(next, end), next, end));
};

/** Declares the outer indices of a chunk and gives its first inner index. */
function line(range: RangeElements, chunk: Expr): Expr {
  const { out } = range;
  const { rank } = range.shape;
  const inner = rank - 1;
  const start = range.names.fresh("start");
  if (rank === 1) {
    out.put(fixed(start, add(range.begin(0), mul(chunk, CHUNK))));
    return local(start, "index");
  }
  const perLine = range.indexNumber({ kind: "chunksPerLine" }, "chunks_per_line");
  out.put(fixed(start, add(range.begin(inner), mul(rem(chunk, perLine), CHUNK))));
  const name = range.names.fresh("line");
  const number = local(name, "index");
  out.put(rank === 2 ? fixed(name, div(chunk, perLine)) : declare(name, "index", div(chunk, perLine)));
  for (let a = inner - 1; a >= 0; a--) {
    out.put(fixed(range.indexNames[a]!, add(range.begin(a), a > 0 ? rem(number, range.count(a)) : number)));
    if (a > 0) out.put(assign(variable(name, "index"), div(number, range.count(a))));
  }
  return local(start, "index");
}

/** One thread, all elements in order; folds go through the lanes of their chunk. */
export function scheduleInOrder(range: RangeElements): void {
  const { out } = range;
  const names = namesOf(range);
  const inner = range.indexNames[range.shape.rank - 1]!;
  const { reduces, reduceGroups } = range.program;
  const chunk = local(names.chunk, "index");
  const all = range.indexNumber({ kind: "chunks" }, "chunks");
  const body = out.inside(() => {
    const start = line(range, chunk);
    const lanes = reduces.map((param): Memory => {
      const memory: Memory = { id: range.names.fresh(`${param.name}_lanes`), element: param.type, space: "thread" };
      out.put({ kind: "array", memory, length: LANES, fill: range.identity(param) });
      return memory;
    });
    out.put(stopOf(range, names.stop, start));
    const i = local(inner, "index");
    const place = rem(sub(i, start), LANES);
    const elements = out.inside(() => {
      reduces.forEach((param, n) => range.accumulateIn(param, element(lanes[n]!, place)));
      range.element();
    });
    out.put(upTo(inner, start, local(names.stop, "index"), 1, elements));
    for (const parts of reduceGroups) {
      const [n, lane] = [local("n", "int"), local(names.lane, "int")];
      const memories = parts.map((param) => lanes[reduces.indexOf(param)]!);
      const places = memories.map((memory) => element(memory, n));
      const others = memories.map((memory) => read(memory, add(n, lane)));
      const fold = out.inside(() => range.foldAll(range.body, parts, places, others));
      out.put(halving(names.lane, LANES / 2, [upTo("n", num(0), lane, 1, fold)]));
      parts.forEach((param, k) => out.put(write(range.partials(param), chunk, read(memories[k]!, num(0)))));
    }
  });
  out.put(upTo(names.chunk, num(0, "index"), all, 1, body));
}
