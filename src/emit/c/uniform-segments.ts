import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { interiorOf, type Interior } from "../../ir/passes/interior.js";
import { literal } from "../../ir/simplify.js";
import type { Expr, Stmt } from "../../ir/types.js";
import type { BodyWriter } from "./body.js";
import { uniformWays, type UniformKey, type Uniform } from "./uniform-ways.js";
import { atVariable, isVariable, variableOf, type LoopVariable, type VectorLoops } from "./vector.js";

/*
 * Loops with long branches on what elements load: on the kind of a cell, such as whether it is in the bulk or at a wall. In vector code all
 * branches run for all elements, and without it nothing runs in vectors. But neighbours mostly go the same way, so the loop is cut into
 * segments of elements that load the same, and each goes through a loop that has only its branch.
 */

export const SIMD = "#pragma omp simd";
/** Compilers leave a loop as it is that has this in it. */
const NO_VECTORS = '__asm__ volatile ("");';

/** Elements from one start of aligned vectors to the next, at most: a cache line of f64. */
const ALIGNED = 8;

/** A loop over elements, or over members of a team. */
export interface ElementLoop {
  readonly variable: LoopVariable;
  /** Its identifier in C. */
  readonly counter: string;
  readonly begin: string;
  readonly end: string;
  readonly body: readonly Stmt[];
}

/** Writes the loop: in segments where that pays, with vector instructions where they are sure to pay. */
export function writeElements(writer: BodyWriter, loops: VectorLoops, loop: ElementLoop, access: AccessAnalysis | undefined): void {
  const { code, dialect } = writer;
  const { counter, begin, end } = loop;
  const { index } = dialect.types;
  const elements = (body: readonly Stmt[], from: string, to: string): void => {
    if (loops.pays(body, loop.variable)) code.line(SIMD);
    code.block(`for (${index} ${counter} = ${from}; ${counter} < ${to}; ${counter}++)`, () => writer.element(body));
  };
  const uniform = access && uniformWays(loop, access);
  const interior = uniform ? undefined : alignedInterior(loop);
  if (interior) return writeInterior(writer, loop, interior, elements);
  if (!uniform) return elements(loop.body, begin, end);
  const [start, stop] = [START, STOP].map((name) => writer.counter(name, variableOf(loop.variable)));
  code.block(`for (${index} ${start} = ${begin}, ${stop}; ${start} < ${end}; ${start} = ${stop})`, () => {
    writeKeys(writer, loop, uniform);
    const way = writeWay(writer, uniform);
    code.line(`${stop} = ${start} + 1;`);
    const more = `while (${stop} < ${end} && ${alike(writer, loop, uniform)}) ${stop}++;`;
    code.line(uniform.complete ? more : `if (${way} != 0) ${more}`);
    // Alone, an element is faster without a loop in vectors, which takes as long to set up as several elements take.
    code.line(`if (${stop} - ${start} == 1) {`);
    code.indented(() => {
      code.line(`const ${index} ${counter} = ${start};`);
      writer.element(loop.body);
    });
    uniform.ways.forEach(({ body }, n) => {
      code.line(n + 1 < uniform.ways.length ? `} else if (${way} == ${n + 1}) {` : "} else {");
      if (body.length > 0) code.indented(() => elements(body, start, stop));
    });
    code.line("}");
  });
}

/**
 * Writes the loop for the few elements that `writeGroup` leaves. Where their ways differ they go one by one: vector code would be compiled in vain, which
 * takes long.
 */
export function writeLeft(writer: BodyWriter, loops: VectorLoops, loop: ElementLoop, access: AccessAnalysis | undefined): void {
  if (!access || !uniformWays(loop, access)) return writeElements(writer, loops, loop, access);
  const { counter, begin, end } = loop;
  const { code, dialect } = writer;
  code.block(`for (${dialect.types.index} ${counter} = ${begin}; ${counter} < ${end}; ${counter}++)`, () => {
    code.line(NO_VECTORS);
    writer.element(loop.body);
  });
}

/** Interior of the loop from one multiple of `ALIGNED` to another, so that its stores do not straddle cache lines; undefined if it is empty. */
function alignedInterior({ variable, body }: ElementLoop): Interior | undefined {
  const found = interiorOf(body, isVariable(variable));
  const begin = found && Math.ceil(found.begin / ALIGNED) * ALIGNED;
  const end = found && Math.floor(found.end / ALIGNED) * ALIGNED;
  return found && begin! < end! ? { begin: begin!, end: end!, body: found.body } : undefined;
}

/** Writes the loop in up to three parts, so that choices near the ends of a periodic axis stay out of the vector code between them. */
function writeInterior(
  { code, names, dialect }: BodyWriter,
  { begin, end, body }: ElementLoop,
  interior: Interior,
  elements: (body: readonly Stmt[], from: string, to: string) => void,
): void {
  const { index } = dialect.types;
  const [start, stop] = [names.fresh("part"), names.fresh("part_end")];
  const bounds = [
    [`${start} >= `, interior.begin],
    [`${start} < `, interior.end],
  ] as const;
  const known = bounds.filter(([, bound]) => Number.isFinite(bound));
  code.block(`for (${index} ${start} = ${begin}, ${stop}; ${start} < ${end}; ${start} = ${stop})`, () => {
    code.line(`${stop} = ${end};`);
    for (const [, bound] of known) code.line(`if (${start} < ${bound} && ${bound} < ${stop}) ${stop} = ${bound};`);
    code.line(`if (${known.map(([compared, bound]) => compared + bound).join(" && ")}) {`);
    code.indented(() => elements(interior.body, start, stop));
    code.line("} else {");
    code.indented(() => elements(body, start, stop));
    code.line("}");
  });
}

/** A loop over the lanes of a group of elements; the first one's place is the local `from`, an identifier of C. */
interface GroupLoop extends Pick<ElementLoop, "variable" | "body"> {
  readonly from: string;
  readonly lane: string;
  readonly lanes: number;
}

/**
 * Writes the loop, and again for groups in the interior, and for those that go the same way where that pays. `element` writes a lane's part of it,
 * `mixed` groups that go several ways.
 */
export function writeGroup(
  writer: BodyWriter,
  loops: VectorLoops,
  loop: GroupLoop,
  access: AccessAnalysis | undefined,
  element: (body: readonly Stmt[]) => void,
  mixed?: () => void,
): void {
  const { code } = writer;
  const { index } = writer.dialect.types;
  const { from, lane, lanes } = loop;
  const oneByOne = (body: readonly Stmt[]) => code.block(`for (${index} ${lane} = 0; ${lane} < ${lanes}; ${lane}++)`, () => element(body));
  const elements = (body: readonly Stmt[]): void => {
    if (loops.pays(body, loop.variable)) code.line(SIMD);
    oneByOne(body);
  };
  const interior = interiorOf(loop.body, isVariable(loop.variable));
  if (interior) {
    const inside = [
      ...(interior.begin > -Infinity ? [`${from} >= ${interior.begin}`] : []),
      ...(interior.end < Infinity ? [`${from} <= ${interior.end - lanes}`] : []),
    ];
    code.line(`if (${inside.join(" && ")}) {`);
    code.indented(() => writeGroup(writer, loops, { ...loop, body: interior.body }, access, element, mixed));
    code.line("} else {");
    code.indented(() => oneByOne(loop.body));
    code.line("}");
    return;
  }
  const uniform = access && uniformWays(loop, access);
  if (!uniform) return elements(loop.body);
  const [start, stop] = [START, STOP].map((name) => writer.counter(name, variableOf(loop.variable)));
  code.block("", () => {
    code.line(`const ${index} ${start} = ${from};`);
    writeKeys(writer, loop, uniform);
    code.line("bool alike = true;");
    code.line(`for (${index} ${stop} = ${start} + 1; ${stop} < ${start} + ${lanes}; ${stop}++) alike &= ${alike(writer, loop, uniform)};`);
    const way = writeWay(writer, uniform);
    uniform.ways.forEach(({ body }, n) => {
      code.line(`${n > 0 ? "} else " : ""}if (alike && ${way} == ${n + 1}) {`);
      if (body.length > 0) code.indented(() => elements(body));
    });
    code.line(uniform.ways.length > 0 ? "} else {" : "{");
    code.indented(() => (mixed ? mixed() : elements(loop.body)));
    code.line("}");
  });
}

/** True where `writeGroup` finds groups whose elements go several ways. */
export function goSeveralWays({ variable, body }: Pick<ElementLoop, "variable" | "body">, access: AccessAnalysis | undefined): boolean {
  const inside = interiorOf(body, isVariable(variable))?.body ?? body;
  return access !== undefined && uniformWays({ variable, body: inside }, access) !== undefined;
}

/** True where vector instructions are sure to pay, in the loop as it stands or in one of those that are left without long branches. */
export function paysInSegments(
  loops: VectorLoops,
  loop: Pick<ElementLoop, "variable" | "body">,
  access: AccessAnalysis | undefined,
): boolean {
  if (loops.pays(loop.body, loop.variable)) return true;
  const uniform = access && uniformWays(loop, access);
  return uniform?.ways.some(({ body }) => loops.pays(body, loop.variable)) ?? false;
}

const START = "segment start";
const STOP = "segment stop";

/** Declares the locals that stand for what the element at the start loads. */
function writeKeys(writer: BodyWriter, loop: Pick<ElementLoop, "variable">, { keys }: Uniform): void {
  for (const { name, load, guard } of keys) {
    const value = loadAt(load, loop, START);
    const guarded: Expr = guard ? { op: "select", type: load.type, cond: guard, a: value, b: literal(load.type, 0) } : value;
    writer.code.line(`const ${writer.dialect.types[load.type]} ${writer.local(name)} = ${writer.value(guarded)};`);
  }
}

/** Declares the number of the way that the keys lead: from 1 on, 0 for one that has no loop of its own. */
function writeWay(writer: BodyWriter, { ways, complete }: Uniform): string {
  const way = writer.names.fresh("way");
  const numbered = ways.map(({ cond }, n) => (complete && n === ways.length - 1 ? `${n + 1}` : `${writer.term(cond)} ? ${n + 1} : `));
  writer.code.line(`const int ${way} = ${numbered.join("")}${complete ? "" : "0"};`);
  return way;
}

/** Whether the element at the stop loads the same. */
const alike = (writer: BodyWriter, loop: Pick<ElementLoop, "variable">, { keys }: Uniform): string =>
  keys.map((key) => loadsSame(writer, loop, key)).join(" && ");

function loadsSame(writer: BodyWriter, loop: Pick<ElementLoop, "variable">, { name, load, guard }: UniformKey): string {
  const same = `${writer.value(loadAt(load, loop, STOP))} == ${writer.local(name)}`;
  return guard ? `(!${writer.term(guard)} || ${same})` : same;
}

const loadAt = (load: Expr, { variable }: Pick<ElementLoop, "variable">, place: string): Expr => atVariable(load, variable, place);
