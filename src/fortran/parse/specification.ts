/* Text before the statements: declarations, definitions of types, and text that is kept as it is written. */

import type { Declaration, Interface, OtherDeclaration, Procedure, TypeDefinition, Use, VariableDeclaration } from "../tree/index.js";
import type { Problems } from "../errors.js";
import { own } from "../../base/own.js";
import type { LogicalLine } from "../text/logical-lines.js";
import { commonBlocks } from "./common.js";
import { SyntaxProblem, type Cursor } from "./cursor.js";
import { ATTRIBUTES, attribute, use, variables } from "./declarations.js";
import { dataSets } from "./data.js";
import { isDeclarative } from "./directives.js";
import { TYPE_WORDS, type Head } from "./head.js";
import { implicitRules } from "./implicit.js";
import { isStatementFunction, statementFunction } from "./statement-functions.js";

/** The lines that are read, and which of them is next. */
interface Lines {
  n: number;
  readonly head: Head | undefined;
  readonly problems: Problems;
  carried: string[];
  report(problem: SyntaxProblem): void;
  before(line: LogicalLine): { before?: readonly string[] };
}

/** Declarations that are kept as they are written. */
const OTHERS: readonly string[] =
  "bind codimension common data enumerator equivalence final format generic import include namelist private procedure protected public sequence asynchronous static automatic".split(
    " ",
  );

interface Specification {
  uses: Use[];
  implicitNone: boolean;
  beforeImplicit?: readonly string[];
  declarations: Declaration[];
  statementFunctions: Procedure[];
}

/** Everything before the statements. */
export function specify(lines: Lines): Specification {
  const found: Specification = { uses: [], implicitNone: false, declarations: [], statementFunctions: [] };
  for (let head = lines.head; head && (isSpecification(head) || isStatementFunction(head, found.declarations)); head = lines.head) {
    const from = lines.n;
    guarded(lines, () => declaration(lines, head, found));
    if (lines.n === from) lines.n++;
  }
  return found;
}

function isSpecification({ key, directive, problem, line }: Head): boolean {
  if (key === "directive") return isDeclarative(directive!);
  // `public :: operator(.plus.)`
  if (key === "wrong")
    return problem!.outside && ["interface", ...TYPE_WORDS, ...OTHERS].includes(/^\w*/.exec(line.text.trim())![0].toLowerCase());
  return ["declaration", "use", "implicit", "interface", "abstract interface", "type", "enum", ...ATTRIBUTES, ...OTHERS].includes(key);
}

/** The key of a line; `interface operator(.plus.)` has no tokens. */
const meantBy = ({ key, problem, line }: Head): string => (problem?.outside && /^\s*interface\b/i.test(line.text) ? "interface" : key);

function declaration(lines: Lines, head: Head, into: Specification): void {
  const { line, cursor: c } = head;
  const key = meantBy(head);
  const cuda = line.cudaOnly && { cudaOnly: true as const };
  const behind = line.behind !== undefined && { behind: line.behind };
  try {
    if (head.problem && key === "wrong") throw head.problem;
    switch (key) {
      case "use": {
        const made = use(c);
        into.uses.push({ ...made, ...lines.before(line), ...cuda });
        return done();
      }
      case "implicit":
        if (!c.take("none")) return void into.declarations.push(readAlong(lines, head));
        into.beforeImplicit = lines.before(line).before;
        into.implicitNone = true;
        return done();
      case "declaration": {
        const made = variables(c);
        into.declarations.push({ ...made, ...lines.before(line), ...behind, ...cuda });
        lines.n++;
        return;
      }
      case "assign":
        into.statementFunctions.push(statementFunction(head, into.declarations));
        return void into.declarations.push(other(lines, head));
      case "interface":
      case "abstract interface":
      case "enum":
        return void into.declarations.push(interfaceBlock(lines, head));
      case "type":
        return void into.declarations.push(typeDefinition(lines, head));
      // Any other word gives attributes, or is kept as it is written.
      default:
        if (!ATTRIBUTES.includes(key) || head.directive) return void into.declarations.push(readAlong(lines, head));
        into.declarations.push({ ...attribute(c, key), ...lines.before(line), ...cuda });
        return done();
    }
  } catch (error) {
    // Problems in them count where variables are used.
    if (!(error instanceof SyntaxProblem) || !(error.outside || own(READ, key))) throw error;
    into.declarations.push(other(lines, head));
  }

  function done(): void {
    if (line.behind !== undefined) lines.carried.push(line.behind);
    lines.n++;
  }
}

/** Lines that are kept as they are written, and read. */
const READ: Readonly<Record<string, (c: Cursor) => Partial<OtherDeclaration>>> = {
  data: (c) => ({ data: dataSets(c) }),
  implicit: (c) => ({ implicit: implicitRules(c) }),
  common: (c) => ({ common: commonBlocks(c) }),
};

/** A line as it is written, and its meaning if kernels need it. @throws SyntaxProblem */
function readAlong(lines: Lines, head: Head): OtherDeclaration {
  const { key, cursor: c } = head;
  const read = head.directive ? undefined : own(READ, key)?.(c);
  return { ...other(lines, head), ...read };
}

function other(lines: Lines, head: Head): OtherDeclaration {
  const { line, directive } = head;
  const place = { at: directive?.at ?? line.at(Math.max(0, line.text.search(/\S/))), ...lines.before(line) };
  lines.n++;
  const text = line.sentinel ? `!$${line.sentinel} ${line.text.trim()}` : line.text.trim();
  return {
    kind: "other",
    word: directive ? directive.words.join(" ") : /^\w*/.exec(line.text.trim())![0].toLowerCase(),
    text: line.behind ? `${text} ${line.behind}` : text,
    ...(directive && { directive }),
    ...place,
  };
}

/** The lines of a block as they are written, up to its end. */
function written(lines: Lines, head: Head, end: string): { text: string[]; inside: Head[] } {
  const text: string[] = [];
  const inside: Head[] = [];
  for (let next: Head | undefined = head; next; next = lines.head) {
    if (next !== head) text.push(...next.line.before);
    text.push(next.line.text.trim() + (next.line.behind ? ` ${next.line.behind}` : ""));
    lines.n++;
    // `end interface operator(.plus.)` has no tokens.
    if (next.key === end || (next.key === "wrong" && next.line.text.trim().toLowerCase().startsWith(end))) return { text, inside };
    if (next !== head) inside.push(next);
  }
  throw new SyntaxProblem(head.line.at(0), head.key, "is not closed", `add \`${end}\``);
}

function interfaceBlock(lines: Lines, head: Head): Interface {
  const before = lines.before(head.line);
  const { text } = written(lines, head, head.key === "enum" ? "end enum" : "end interface");
  return { kind: "interface", ...interfaceNames(text), text, at: head.line.at(0), ...before };
}

/** Procedures of an interface. */
function interfaceNames(text: readonly string[]): Pick<Interface, "generic" | "specifics" | "bodies"> {
  const [first, ...rest] = text.map((line) => line.toLowerCase().replace(/!.*/, "").trim());
  const [, generic] = /^interface\s+(\w+)$/.exec(first) ?? [];
  const specifics: string[] = [];
  const bodies: string[] = [];
  for (const line of rest) {
    const [, list] = /^(?:module\s+)?procedure\b(.*)$/.exec(line) ?? [];
    const [, body] = (!line.startsWith("end") && /\b(?:subroutine|function)\s+(\w+)\s*(?:\(|$)/.exec(line)) || [];
    if (list !== undefined) specifics.push(...(list.match(/\w+/g) ?? []));
    else if (body !== undefined) bodies.push(body);
  }
  return { ...(generic !== undefined && { generic }), specifics, bodies };
}

function typeDefinition(lines: Lines, head: Head): TypeDefinition {
  const c = head.cursor;
  let access: TypeDefinition["access"];
  let parent: string | undefined;
  while (c.take(",")) {
    const word = c.name("an attribute");
    if (word === "private" || word === "public") access = word;
    const inside = c.is("(") ? c.enclosed().toLowerCase().trim() : undefined;
    if (word === "extends") parent = inside;
  }
  c.take("::");
  const name = c.name("the type's name");
  const before = lines.before(head.line);
  const { text, inside } = written(lines, head, "end type");
  const components: VariableDeclaration[] = [];
  const procedures: string[] = [];
  let contains = false;
  for (const part of inside) {
    if (part.key === "contains") contains = true;
    else if (contains) procedures.push(part.line.text.trim());
    else if (part.key === "declaration") {
      try {
        components.push(variables(part.cursor));
      } catch (error) {
        if (!(error instanceof SyntaxProblem)) throw error;
        if (!error.outside) lines.report(error);
      }
    }
  }
  return {
    kind: "type",
    name,
    ...(access && { access }),
    ...(parent && { parent }),
    components,
    procedures,
    text,
    at: head.line.at(0),
    ...before,
  };
}

/** Result of `read`; undefined, and reported, if it fails. */
export function guarded<T>(lines: Lines, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    lines.report(error);
    return undefined;
  }
}
