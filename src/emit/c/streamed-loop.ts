import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { BYTES } from "../../ir/scalars.js";
import type { Expr, Stmt, ViewParam } from "../../ir/types.js";
import type { BodyWriter } from "./body.js";
import { LINE_BYTES, storesOf } from "./streaming.js";
import { writeGroup, type ElementLoop } from "./uniform-segments.js";
import { at, variableOf, type VectorLoops } from "./vector.js";

/** A frame whose stores may go elsewhere: what `redirect` gives for one takes the value in place of the element. */
interface Redirecting {
  redirect: ((stmt: Extract<Stmt, { kind: "store" }>) => string | undefined) | undefined;
}

/** In the IR: the first element of a cache line. */
const LINE = "cache line";

/**
 * Writes a loop that collects whole cache lines of the `streamed` views and then stores them past the caches; `rest` writes what comes before
 * the first of them and after the last.
 */
export function writeStreamedLoop(
  writer: BodyWriter,
  frame: Redirecting,
  loops: VectorLoops,
  loop: ElementLoop,
  streamed: readonly ViewParam[],
  access: AccessAnalysis | undefined,
  rest: (begin: string, end: string) => void,
): void {
  const { code, names, dialect } = writer;
  const { variable, body, counter, begin, end } = loop;
  const { element } = streamed[0];
  const lanes = LINE_BYTES / BYTES[element];
  const stores = storesOf(loop).filter((s) => streamed.some((v) => v.name === s.view));
  const stored = [...new Map(stores.map((s) => [keyOf(s), s])).values()];
  const lineOf = new Map(stores.map((s) => [keyOf(s.store), stored.findIndex((other) => keyOf(other) === keyOf(s))]));
  const lane = names.fresh("lane");
  const buffers = stored.map((s) => names.fresh(`${names.of("view", s.view)}_line`));
  const line = writer.counter(LINE, variableOf(variable));
  const addressAt = (n: number, name: string) =>
    writer.place(
      stored[n].view,
      stored[n].indices.map((index) => at(index, variable, name)),
    );
  code.line(`int64_t ${line} = ${begin};`);
  code.line(`const int64_t unaligned = -(uintptr_t)&${addressAt(0, LINE)} % ${LINE_BYTES} / ${BYTES[element]};`);
  code.line(`const int64_t lines = ${begin} + unaligned < ${end} ? ${begin} + unaligned : ${end};`);
  code.line(`const int64_t lines_end = ${end} - (${end} - lines) % ${lanes};`);
  code.block(`for (${line} = lines; ${line} < lines_end; ${line} += ${lanes})`, () => {
    stored.forEach((s, n) => {
      const { element: type } = streamed.find((v) => v.name === s.view)!;
      code.line(`_Alignas(${LINE_BYTES}) ${dialect.types[type]} ${buffers[n]}[${lanes}];`);
    });
    frame.redirect = (store) => {
      const n = lineOf.get(keyOf(store));
      return n === undefined ? undefined : `${buffers[n]}[${lane}]`;
    };
    writeGroup(writer, loops, { variable, body, from: line, lane, lanes }, access, (list) => {
      code.line(`const int64_t ${counter} = ${line} + ${lane};`);
      writer.element(list);
    });
    frame.redirect = undefined;
    stored.forEach((_, n) => code.line(`stream_line(&${addressAt(n, LINE)}, ${buffers[n]});`));
  });
  code.block("for (int side = 0; side < 2; side++)", () => rest(`(side ? lines_end : ${begin})`, `(side ? ${end} : lines)`));
}

const keyOf = ({ view, indices }: { readonly view: string; readonly indices: readonly Expr[] }) => JSON.stringify([view, indices]);
