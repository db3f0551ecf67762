/* Modules, programs, procedures. */

import type { Expr, Module, Procedure, MainProgram, TypeSpec, Unit } from "../tree/index.js";
import type { Cursor } from "./cursor.js";
import { isDeclarative } from "./directives.js";
import { parseExpression, typeSpec } from "./expressions.js";
import type { Head } from "./head.js";
import { guarded, specify } from "./specification.js";
import type { LineReader } from "./statements.js";

/** The unit that begins here. Statements outside of all units belong to a program without a first line. */
export function parseUnit(lines: LineReader, head: Head): Unit | undefined {
  const c = head.cursor;
  switch (head.key) {
    case "procedure":
      return procedure(lines, head);
    case "module":
    case "submodule":
      return module(lines, head);
    case "program": {
      const name = guarded(lines, () => c.name("the program's name")) ?? "main";
      return program(lines, head, name);
    }
    case "block data":
      return blockData(lines, head);
    case "contains":
    case "end":
    case "end subroutine":
    case "end function":
    case "end module":
    case "end program":
    case "end submodule":
      lines.problems.add(head.line.at(0), head.key, "is outside any program unit");
      lines.n++;
      return undefined;
    // Any other statement is the first of a program without a first line.
    default:
      return program(lines, head, undefined);
  }
}

/** A unit that gives values to common blocks. */
function blockData(lines: LineReader, head: Head): Module {
  const at = head.line.at(0);
  const c = head.cursor;
  const name = c.token.kind === "name" ? c.next().text : "";
  const before = opening(lines, head);
  const { statementFunctions: _, ...specification } = specify(lines);
  const end = close(lines, "block data", name || undefined, at);
  return { kind: "module", isBlockData: true, name, ...specification, procedures: [], at, ...end, ...before };
}

function module(lines: LineReader, head: Head): Module | undefined {
  const at = head.line.at(0);
  const c = head.cursor;
  const ancestor = head.key === "submodule" ? guarded(lines, () => ancestorOf(c)) : undefined;
  const name = guarded(lines, () => c.name("the module's name")) ?? "";
  const before = opening(lines, head);
  const { statementFunctions: _, ...specification } = specify(lines);
  const found = lines.body([]);
  for (const statement of found)
    if (statement.kind !== "comment") lines.problems.add(statement.at, statement.kind, "is in a module, outside its procedures");
  const inner = contained(lines);
  return {
    kind: "module",
    name,
    ...(ancestor && { ancestor }),
    ...specification,
    ...inner,
    at,
    ...close(lines, head.key, name, at),
    ...before,
  };
}

/** `(m)`, `(m:parent)` */
function ancestorOf(c: Cursor): NonNullable<Module["ancestor"]> {
  c.expect("(");
  const module = c.name("the module's name");
  const parent = c.take(":") ? c.name("the submodule's name") : undefined;
  c.expect(")");
  return { module, ...(parent !== undefined && { parent }) };
}

function program(lines: LineReader, head: Head, name: string | undefined): MainProgram {
  const at = head.line.at(0);
  const sound = soundness(lines);
  const before = name === undefined ? {} : opening(lines, head);
  const { statementFunctions, ...specification } = specify(lines);
  const body = lines.body([]);
  const inner = contained(lines, statementFunctions);
  return {
    kind: "program",
    name: name ?? "main",
    ...specification,
    body,
    ...inner,
    at,
    ...close(lines, "program", name, at),
    ...before,
    ...sound(),
  };
}

function procedure(lines: LineReader, head: Head): Procedure | undefined {
  const c = head.cursor;
  const at = head.line.at(Math.max(0, head.line.text.search(/\S/)));
  const sound = soundness(lines);
  const read = guarded(lines, () => heading(c));
  const before = opening(lines, head);
  const { statementFunctions, ...specification } = specify(lines);
  const body = lines.body([]);
  const inner = contained(lines, statementFunctions);
  const form = read?.form ?? "subroutine";
  const end = close(lines, form, read?.name, at);
  return read && { kind: "procedure", ...read, ...specification, body, ...inner, at, ...end, ...before, ...sound() };
}

/** Whether problems come up from here on. */
function soundness({ problems }: LineReader): () => { broken?: true } {
  const count = problems.found.length;
  return () => (problems.found.length > count ? { broken: true } : {});
}

function opening(lines: LineReader, head: Head): { before?: readonly string[] } {
  const before = lines.before(head.line);
  if (head.line.behind !== undefined) lines.carried.push(head.line.behind);
  lines.n++;
  return before;
}

type Heading = Pick<Procedure, "name" | "form" | "dummies" | "attributes" | "launchBounds" | "prefixes" | "type" | "result" | "bind">;

/** `attributes(global) launch_bounds(256) subroutine f(a, b)`, `pure real(8) function g(x) result(y)` */
function heading(c: Cursor): Heading {
  let attributes = ["host"];
  let launchBounds: Expr[] | undefined;
  let type: TypeSpec | undefined;
  const prefixes: string[] = [];
  while (!c.is("subroutine") && !c.is("function")) {
    if (c.take("attributes")) {
      c.expect("(");
      attributes = c.names();
      c.expect(")");
    } else if (c.take("launch_bounds")) {
      c.expect("(");
      launchBounds = c.list(() => parseExpression(c));
      c.expect(")");
    } else if (["pure", "elemental", "recursive", "impure", "module", "non_recursive"].includes(c.token.text)) prefixes.push(c.next().text);
    else type = typeSpec(c);
  }
  const form = c.next().text as Procedure["form"];
  const name = c.name("the procedure's name");
  const dummies: string[] = [];
  if (c.take("(") && !c.take(")")) {
    dummies.push(...c.list(() => c.name("a dummy argument")));
    c.expect(")");
  }
  let result = form === "function" ? name : undefined;
  let bind: string | undefined;
  while (c.token.kind === "name") {
    const word = c.name();
    if (word === "result" && form === "function") {
      c.expect("(");
      result = c.name();
      c.expect(")");
    } else if (word === "bind") bind = c.enclosed();
    else throw c.problem("does not belong here", c.tokens[c.n - 1]);
  }
  c.end();
  return {
    name,
    form,
    dummies,
    attributes,
    ...(launchBounds && { launchBounds }),
    prefixes,
    ...(type && { type }),
    ...(result && { result }),
    ...(bind !== undefined && { bind }),
  };
}

/** Statement functions, and procedures after `contains`. */
function contained(lines: LineReader, before: readonly Procedure[] = []): { procedures: Procedure[]; beforeContains?: readonly string[] } {
  const procedures = [...before];
  const head = lines.head;
  if (head?.key !== "contains") return { procedures };
  const { before: comments } = opening(lines, head);
  for (let next = lines.head; next && !next.key.startsWith("end"); next = lines.head) {
    if (next.key === "procedure") {
      const made = procedure(lines, next);
      if (made) procedures.push(made);
    } else if (next.key === "directive" && isDeclarative(next.directive!)) {
      // `!$acc routine(f)` before the procedure: what loops call is found without it.
      const carried = opening(lines, next).before ?? [];
      lines.carried.unshift(...carried);
    } else if (next.key === "module procedure") {
      const remedy = "write its heading with the arguments and their declarations, as in the interface: module subroutine f(a, b)";
      lines.problems.add(
        next.line.at(Math.max(0, next.line.text.search(/\S/))),
        next.key,
        "arguments declared only in an interface are not supported",
        remedy,
      );
      while (lines.head && lines.head.key !== "end procedure" && lines.head.key !== "end") lines.n++;
      lines.n++;
    } else if (next.key === "module" || next.key === "program" || next.key === "submodule") break;
    else {
      lines.problems.add(
        next.line.at(Math.max(0, next.line.text.search(/\S/))),
        next.line.text.trim().slice(0, 30),
        "is after `contains`, outside a procedure",
      );
      lines.n++;
    }
  }
  return { procedures, ...(comments && { beforeContains: comments }) };
}

/** Takes the line that ends a unit, or says that it is missing. */
function close(lines: LineReader, form: string, name: string | undefined, at: Unit["at"]): Pick<Unit, "end" | "beforeEnd"> {
  const head = lines.head;
  const other = form === "function" ? "end subroutine" : form === "subroutine" ? "end function" : undefined;
  if (head && head.key === other) lines.problems.add(head.line.at(0), head.key, `closes a ${form}`, `write \`end ${form}\``);
  else if (head?.key !== "end" && head?.key !== `end ${form}`) {
    lines.problems.add(at, `${form} ${name ?? ""}`.trim(), "is not closed", `add \`end ${form}\``);
    return { end: at };
  }
  const { line, cursor: c } = head;
  const { before } = lines.before(line);
  if (c.token.kind === "name") {
    const closes = c.next().text;
    if (name !== undefined && closes !== name)
      lines.report(c.problem(`closes \`${name}\``, c.tokens[c.n - 1], `write \`end ${form} ${name}\``));
  }
  if (c.token.kind !== "end") lines.report(c.problem("the statement should end here"));
  if (line.behind !== undefined) lines.carried.push(line.behind);
  lines.n++;
  return { end: line.at(Math.max(0, line.text.search(/\S/))), ...(before && { beforeEnd: before }) };
}
