import { jsonText } from "../../base/json.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { BYTES } from "../../ir/scalars.js";
import type { Expr, Stmt, ViewParam } from "../../ir/types.js";
import type { BodyWriter } from "./body.js";
import { LINE_BYTES, storesOf } from "./streaming.js";
import { goSeveralWays, writeGroup, type ElementLoop } from "./uniform-segments.js";
import { atVariable, variableOf, type VectorLoops } from "./vector.js";

/** A frame whose stores may go elsewhere: what `redirect` gives for one takes the value in place of the element. */
interface Redirecting {
  redirect: ((stmt: Extract<Stmt, { kind: "store" }>) => string | undefined) | undefined;
}

interface SomeLines extends Pick<BodyWriter, "code" | "names"> {
  readonly loop: ElementLoop;
  readonly line: string;
  readonly lanes: number;
  /** Writes what collects a line; `mixed`, what is done where its elements go several ways. */
  collect(mixed: () => void): void;
  /** Writes what stores it. */
  store(): void;
  rest(begin: string, end: string): void;
}

/** In the IR: the first element of a cache line. */
const LINE = "cache line";

/**
 * Writes a loop that collects whole cache lines of the `streamed` views and then stores them past the caches; `rest` writes what comes before
 * the first of them and after the last, and lines whose elements go several ways.
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
      stored[n].indices.map((index) => atVariable(index, variable, name)),
    );
  const collect = (mixed?: () => void): void => {
    stored.forEach((s, n) => {
      const { element: type } = streamed.find((v) => v.name === s.view)!;
      code.line(`_Alignas(${LINE_BYTES}) ${dialect.types[type]} ${buffers[n]}[${lanes}];`);
    });
    frame.redirect = (store) => {
      const n = lineOf.get(keyOf(store));
      return n === undefined ? undefined : `${buffers[n]}[${lane}]`;
    };
    const lineElement = (list: readonly Stmt[]): void => {
      code.line(`const int64_t ${counter} = ${line} + ${lane};`);
      writer.element(list);
    };
    writeGroup(writer, loops, { variable, body, from: line, lane, lanes }, access, lineElement, mixed);
    frame.redirect = undefined;
  };
  const store = (): void => stored.forEach((_, n) => code.line(`stream_line(&${addressAt(n, LINE)}, ${buffers[n]});`));
  code.line(`int64_t ${line} = ${begin};`);
  code.line(`const int64_t unaligned = -(uintptr_t)&${addressAt(0, LINE)} % ${LINE_BYTES} / ${BYTES[element]};`);
  if (goSeveralWays(loop, access)) return writeSomeLines({ code, names, loop, line, lanes, collect, store, rest });
  code.line(`const int64_t lines = ${begin} + unaligned < ${end} ? ${begin} + unaligned : ${end};`);
  code.line(`const int64_t lines_end = ${end} - (${end} - lines) % ${lanes};`);
  code.block(`for (${line} = lines; ${line} < lines_end; ${line} += ${lanes})`, () => {
    collect();
    store();
  });
  code.block("for (int side = 0; side < 2; side++)", () => rest(`(side ? lines_end : ${begin})`, `(side ? ${end} : lines)`));
}

/** Writes a loop over lines that are stored past the caches where their elements all go one way. */
function writeSomeLines({ code, names, loop: { begin, end }, line, lanes, collect, store, rest }: SomeLines): void {
  const [next, whole] = [names.fresh("next_line"), names.fresh("whole")];
  code.block(`for (int64_t ${next}; ${line} < ${end}; ${line} = ${next})`, () => {
    code.line(`${next} = ${line} + (${line} == ${begin} && unaligned > 0 ? unaligned : ${lanes});`);
    code.line(`bool ${whole} = ${next} - ${line} == ${lanes} && ${next} <= ${end};`);
    code.line(`if (${next} > ${end}) ${next} = ${end};`);
    code.block(`if (${whole})`, () => {
      collect(() => code.line(`${whole} = false;`));
      code.block(`if (${whole})`, store);
    });
    code.block(`if (!${whole})`, () => rest(line, next));
  });
}

const keyOf = ({ view, indices }: { readonly view: string; readonly indices: readonly Expr[] }) => jsonText([view, indices]);
