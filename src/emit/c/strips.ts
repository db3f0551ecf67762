import { BYTES } from "../../ir/scalars.js";
import { splitUniform } from "../../ir/passes/jam.js";
import type { Expr, ScalarType, Stmt } from "../../ir/types.js";
import { assignedLocals, declares, sizeOf, someExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import type { BodyWriter } from "./body.js";
import { SIMD, type ElementLoop } from "./uniform-segments.js";
import { isStraight, type VectorLoops } from "./vector.js";

/*
 * Loops over elements that each go through a loop of their own, such as marches up columns. No compiler makes vectors of such an outer loop. So a strip
 * of elements goes through the inner loop together, one turn after the other: then loops over elements are innermost, and what an element carries from
 * turn to turn lies in rows of the strip, which stay in the first cache.
 */

type Loop = Extract<Stmt, { kind: "for" }>;

/** Elements of a strip. */
const STRIP = 64;

/** Bytes of rows that the first cache holds beside what is read. */
const MOST_BYTES = 16384;

/** Statements and expressions of the inner loop from which it pays to keep what is carried in memory, where one element reads memory in order. */
const LEAST_WORK = 100;

/** An element's way through a loop: what comes before and after, and what each turn has that is the same for all elements. */
interface Strips {
  readonly before: readonly Stmt[];
  readonly inner: Loop;
  readonly head: readonly Stmt[];
  readonly turn: readonly Stmt[];
  readonly after: readonly Stmt[];
  /** Locals that are known to an element from before the loop. */
  readonly carried: readonly Extract<Stmt, { kind: "let" }>[];
}

/** The body of a loop over elements as such; undefined if it has another form, or vectors are not sure to pay. */
export function stripsOf(body: readonly Stmt[], axis: number, loops: VectorLoops): Strips | undefined {
  const place = body.findIndex((stmt) => stmt.kind === "for");
  const inner = body[place];
  const [before, after] = [body.slice(0, Math.max(place, 0)), body.slice(place + 1)];
  if (inner?.kind !== "for" || !isStraight([...before, ...after]) || !isStraight(inner.body)) return undefined;
  const used = assignedLocals(inner.body);
  walkExprs([...inner.body, ...after], (node) => void (node.op === "local" && used.add(node.name)));
  const names = new Set([...before, ...inner.body].flatMap(declares));
  const { head, rest: turn } = splitUniform(
    inner.body,
    axis,
    [...used].filter((name) => !names.has(name)),
  );
  if (sizeOf(turn) < LEAST_WORK && !loops.jumps(inner.body, { local: inner.name })) return undefined;
  if (!loops.pays([...before, ...turn, ...after], { index: axis })) return undefined;
  const carried = before.filter((stmt) => stmt.kind === "let").filter(({ name }) => used.has(name));
  const isOwn = (expr: Expr): boolean =>
    someExpr(expr, (node) => (node.op === "index" && node.axis === axis) || (node.op === "local" && names.has(node.name)));
  const bytes = carried.reduce((sum, { type }) => sum + STRIP * bytesOf(type), 0);
  if (isOwn(inner.start) || isOwn(inner.stop) || bytes > MOST_BYTES || indexed([...inner.body, ...after], carried)) return undefined;
  return { before, inner, head, turn, after, carried };
}

const bytesOf = (type: ScalarType): number => (type === "bool" ? 1 : BYTES[type]);

/** Whether an index depends on one of the locals: they are read from rows, which hides how it grows. */
function indexed(body: readonly Stmt[], carried: Strips["carried"]): boolean {
  const names = new Set(carried.map(({ name }) => name));
  const depends = (expr: Expr): boolean => someExpr(expr, (node) => node.op === "local" && names.has(node.name));
  let found = false;
  walkExprs(body, (node) => void (found ||= node.op === "load" && node.indices.some(depends)));
  walkStmts(body, (stmt) => void (found ||= stmt.kind === "store" && stmt.indices.some(depends)));
  return found;
}

/** Writes the loop over elements by strips. */
export function writeStrips(writer: BodyWriter, { counter, begin, end }: ElementLoop, strips: Strips): void {
  const { code, names, dialect } = writer;
  const { types } = dialect;
  const { index } = types;
  const [strip, stop] = [names.fresh("strip"), names.fresh("strip_end")];
  const rows = strips.carried.map((local) => ({ local, row: names.fresh(`${writer.local(local.name)}row`) }));
  const elements = (inside: () => void): void => {
    code.line(SIMD);
    code.block(`for (${index} ${counter} = ${strip}; ${counter} < ${stop}; ${counter}++)`, inside);
  };
  const place = (row: string): string => `${row}[${counter} - ${strip}]`;
  const changed = assignedLocals(strips.inner.body);
  code.block(`for (${index} ${strip} = ${begin}; ${strip} < ${end}; ${strip} += ${STRIP})`, () => {
    code.line(`const ${index} ${stop} = ${strip} + ${STRIP} < ${end} ? ${strip} + ${STRIP} : ${end};`);
    for (const { local, row } of rows) code.line(`${types[local.type]} ${row}[${STRIP}];`);
    elements(() => {
      writer.statements(strips.before);
      for (const { local, row } of rows) code.line(`${place(row)} = ${writer.local(local.name)};`);
    });
    writer.counted(strips.inner, () => {
      code.indented(() => {
        writer.statements(strips.head);
        elements(() => {
          for (const { local, row } of rows) code.line(`${types[local.type]} ${writer.local(local.name)} = ${place(row)};`);
          writer.statements(strips.turn);
          for (const { local, row } of rows) if (changed.has(local.name)) code.line(`${place(row)} = ${writer.local(local.name)};`);
        });
      });
    });
    if (strips.after.length > 0)
      elements(() => {
        for (const { local, row } of rows) code.line(`${types[local.type]} ${writer.local(local.name)} = ${place(row)};`);
        writer.statements(strips.after);
      });
  });
}
