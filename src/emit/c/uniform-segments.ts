import { isInteger } from "../../ir/scalars.js";
import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { definitionsOf } from "../../ir/analysis/affine.js";
import { interiorOf, type Interior } from "../../ir/passes/interior.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { declares, mapChildren, mapOwnExprs, mapStmts, sizeOf, someExpr, walkStmts } from "../../ir/walk.js";
import type { BodyWriter } from "./body.js";
import { at, isVariable, variableOf, type LoopVariable, type VectorLoops } from "./vector.js";

/*
 * Loops with long branches on what elements load: on the kind of a cell, such as whether it is in the bulk or at a wall. In vector code all
 * branches run for all elements, and without it nothing runs in vectors. But neighbours mostly go the same way, so the loop is cut into
 * segments of elements that load the same, and each goes through a loop that has only its branch.
 */

type Load = Extract<Expr, { op: "load" }>;
type If = Extract<Stmt, { kind: "if" }>;

export const SIMD = "#pragma omp simd";

/** Statements and expressions from which a branch is long: taking segments costs a few instructions an element. */
const LONG = 64;
/** Long branches that are taken out of a loop at most; each doubles the code. */
const MOST = 2;

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

/** Value that elements of a segment have in common, and the local in its place. */
interface Key {
  readonly name: string;
  readonly load: Load;
}

interface Uniform {
  readonly keys: readonly Key[];
  /** The body over those locals. */
  readonly body: readonly Stmt[];
  /** Its long branches, with their conditions for a whole segment. */
  readonly branches: ReadonlyMap<Stmt, Expr>;
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
  const uniform = access && uniformBranches(loop, access);
  const interior = uniform ? undefined : alignedInterior(loop);
  if (interior) return writeInterior(writer, loop, interior, elements);
  if (!uniform) return elements(loop.body, begin, end);
  const [start, stop] = [START, STOP].map((name) => writer.counter(name, variableOf(loop.variable)));
  code.block(`for (${index} ${start} = ${begin}, ${stop}; ${start} < ${end}; ${start} = ${stop})`, () => {
    writeKeys(writer, loop, uniform);
    code.line(`${stop} = ${start} + 1;`);
    code.line(`while (${stop} < ${end} && ${alike(writer, loop, uniform)}) ${stop}++;`);
    // Alone, an element is faster without a loop in vectors, which takes as long to set up as several elements take.
    code.line(`if (${stop} - ${start} == 1) {`);
    code.indented(() => {
      code.line(`const ${index} ${counter} = ${start};`);
      writer.element(loop.body);
    });
    code.line("} else {");
    code.indented(() => writeVariants(writer, uniform, uniform.body, (body) => elements(body, start, stop)));
    code.line("}");
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

/** Writes the loop, and again for groups in the interior, and for those that go the same way where that pays. `element` writes a lane's part of it. */
export function writeGroup(
  writer: BodyWriter,
  loops: VectorLoops,
  loop: GroupLoop,
  access: AccessAnalysis | undefined,
  element: (body: readonly Stmt[]) => void,
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
    code.indented(() => writeGroup(writer, loops, { ...loop, body: interior.body }, access, element));
    code.line("} else {");
    code.indented(() => oneByOne(loop.body));
    code.line("}");
    return;
  }
  const uniform = access && uniformBranches(loop, access);
  if (!uniform) return elements(loop.body);
  const [start, stop] = [START, STOP].map((name) => writer.counter(name, variableOf(loop.variable)));
  code.block("", () => {
    code.line(`const ${index} ${start} = ${from};`);
    writeKeys(writer, loop, uniform);
    code.line("bool alike = true;");
    code.line(`for (${index} ${stop} = ${start} + 1; ${stop} < ${start} + ${lanes}; ${stop}++) alike &= ${alike(writer, loop, uniform)};`);
    code.line("if (alike) {");
    code.indented(() => writeVariants(writer, uniform, uniform.body, elements));
    code.line("} else {");
    code.indented(() => elements(loop.body));
    code.line("}");
  });
}

/** True where vector instructions are sure to pay, in the loop as it stands or in one of those that are left without long branches. */
export function paysInSegments(
  loops: VectorLoops,
  loop: Pick<ElementLoop, "variable" | "body">,
  access: AccessAnalysis | undefined,
): boolean {
  if (loops.pays(loop.body, loop.variable)) return true;
  const uniform = access && uniformBranches(loop, access);
  let pays = false;
  if (uniform) eachWay(uniform.branches, uniform.body, (body) => (pays ||= loops.pays(body, loop.variable)));
  return pays;
}

const START = "segment start";
const STOP = "segment stop";

/** Declares the locals that stand for what the element at the start loads. */
function writeKeys(writer: BodyWriter, loop: Pick<ElementLoop, "variable">, { keys }: Uniform): void {
  for (const { name, load } of keys)
    writer.code.line(`const ${writer.dialect.types[load.type]} ${writer.local(name)} = ${loadAt(writer, loop, load, START)};`);
}

/** Whether the element at the stop loads the same. */
const alike = (writer: BodyWriter, loop: Pick<ElementLoop, "variable">, { keys }: Uniform): string =>
  keys.map(({ name, load }) => `${loadAt(writer, loop, load, STOP)} == ${writer.local(name)}`).join(" && ");

const loadAt = (writer: BodyWriter, { variable }: Pick<ElementLoop, "variable">, load: Load, place: string): string =>
  writer.value(at(load, variable, place));

/** Visits the body for each way through the branches. */
function eachWay(branches: Uniform["branches"], body: readonly Stmt[], visit: (body: readonly Stmt[]) => void): void {
  const n = body.findIndex((stmt) => branches.has(stmt));
  if (n < 0) return visit(body);
  const branch = body[n] as If;
  for (const block of [branch.then, branch.else]) eachWay(branches, [...body.slice(0, n), ...block, ...body.slice(n + 1)], visit);
}

/** Writes `loop` for each way through the branches. */
function writeVariants(writer: BodyWriter, uniform: Uniform, body: readonly Stmt[], loop: (body: readonly Stmt[]) => void): void {
  const n = body.findIndex((stmt) => uniform.branches.has(stmt));
  if (n < 0) return loop(body);
  const branch = body[n] as If;
  const taking = (block: readonly Stmt[]) => writeVariants(writer, uniform, [...body.slice(0, n), ...block, ...body.slice(n + 1)], loop);
  writer.code.line(`if (${writer.value(uniform.branches.get(branch)!)}) {`);
  writer.code.indented(() => taking(branch.then));
  writer.code.line("} else {");
  writer.code.indented(() => taking(branch.else));
  writer.code.line("}");
}

/** The long branches of a loop's body that depend on integers alone which each element loads from memory that nothing changes. */
function uniformBranches({ variable, body }: Pick<ElementLoop, "variable" | "body">, access: AccessAnalysis): Uniform | undefined {
  const definitions = definitionsOf(body);
  const declared = new Set<string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => declared.add(name)));
  const isOwn = isVariable(variable);
  const changes = (e: Expr): boolean =>
    isOwn(e) || e.op === "load" || e.op === "element" || e.op === "checked" || (e.op === "local" && declared.has(e.name));
  /** The expression without locals of the body, as far as they have one value. */
  const resolved = (e: Expr): Expr => {
    const value = e.op === "local" ? definitions.get(e.name) : undefined;
    return value ? resolved(value) : mapChildren(e, resolved);
  };
  const isKey = (e: Expr): e is Load =>
    e.op === "load" &&
    isInteger(e.type) &&
    !access.views[e.view]?.written &&
    e.indices.every((index) => !someExpr(index, (x) => changes(x) && !isOwn(x)));

  const keys = new Map<string, Key>();
  const keyOf = (load: Load): Expr => {
    const place = `${load.view} ${JSON.stringify(load.indices)}`;
    const key = keys.get(place) ?? { name: `${load.view} here${keys.size > 0 ? ` ${keys.size}` : ""}`, load };
    keys.set(place, key);
    return { op: "local", type: load.type, name: key.name };
  };
  const overKeys = (e: Expr): Expr => (isKey(e) ? keyOf(e) : mapChildren(e, overKeys));

  const conditions = new Map<Stmt, Expr>();
  for (const stmt of body) {
    if (stmt.kind !== "if" || sizeOf([stmt]) < LONG || conditions.size === MOST) continue;
    const condition = resolved(stmt.cond);
    if (someExpr(condition, isKey) && !someExpr(keyless(condition, isKey), changes)) conditions.set(stmt, overKeys(condition));
  }
  if (conditions.size === 0) return undefined;

  const place = (e: Expr): Expr => {
    if (e.op !== "load") return mapChildren(e, place);
    const whole = resolved(e);
    return isKey(whole) && keys.has(`${whole.view} ${JSON.stringify(whole.indices)}`) ? keyOf(whole) : mapChildren(e, place);
  };
  const branches = new Map<Stmt, Expr>();
  const over = body.map((stmt) => {
    const [placed] = mapStmts([mapOwnExprs(stmt, place)], { stmt: (inner) => mapOwnExprs(inner, place) });
    if (conditions.has(stmt)) branches.set(placed, conditions.get(stmt)!);
    return placed;
  });
  return { keys: [...keys.values()], body: over, branches };
}

/** The expression with something constant in place of each key. */
const keyless = (e: Expr, isKey: (e: Expr) => boolean): Expr => replace(e, isKey, { op: "const", type: "i32", value: 0 });

const replace = (e: Expr, matches: (e: Expr) => boolean, by: Expr): Expr =>
  matches(e) ? by : mapChildren(e, (child) => replace(child, matches, by));
