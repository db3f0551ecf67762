/* Fortran's statements as C++. */

import { commentText } from "../../../emit/text.js";
import { unreachable } from "../../../base/unreachable.js";
import { findProcedure, NOT_KNOWN, procedureProblem, type UnitScope } from "../../analyse/symbols.js";
import { bare, variableName, namesInExpr } from "../../analyse/walk.js";
import { writesOf } from "../../analyse/writes.js";
import { treeName } from "../../lower/values.js";
import type { Assign, Directed, Do, Expr, SelectCase, Stmt } from "../../tree/index.js";
import { cpp, deviceCall, ident, KERNELS_DO, refuse, resolve } from "./expressions.js";

/** Lines that grow, each at the depth of its block. */
export class BracedLines {
  readonly lines: string[] = [];
  private depth = 0;

  add(line: string): void {
    this.lines.push(`${"  ".repeat(this.depth)}${line}`);
  }

  /** `head {`, what `print` adds, and `tail`. */
  block(head: string, print: () => void, tail = "}"): void {
    this.add(`${head} {`);
    this.depth++;
    print();
    this.depth--;
    this.add(tail);
  }
}

interface Loop {
  readonly name?: string;
  /** Whether a statement leaves it, or its iteration, from within inner loops. */
  readonly jumps: Set<"exit" | "cycle">;
}

/** Scalars that each thread has for itself and whose values come back. */
interface Kept {
  /** Flags by scalar, which each assignment sets. */
  readonly flags: ReadonlyMap<string, string>;
  /** Scalars of reductions. */
  readonly reduced: ReadonlySet<string>;
}

const NOTHING: Kept = { flags: new Map(), reduced: new Set() };

/** The statements of one kernel or procedure. @throws Unlowerable if C++ is not written for one */
export class Statements {
  private readonly loops: Loop[] = [];
  private temporaries = 0;

  constructor(
    private readonly scope: UnitScope,
    private readonly out: BracedLines,
    /** How an element, or a procedure, ends. */
    private readonly leave: string,
    /** The parallel loop whose body is printed. */
    private readonly element: { readonly loopName?: string } | undefined,
    private readonly kept: Kept = NOTHING,
  ) {}

  print(body: readonly Stmt[]): void {
    for (const s of body) this.statement(s);
  }

  private comments(before: readonly string[] | undefined): void {
    for (const line of before ?? [])
      if (line.replace(/^!+/, "").trim() !== "") this.out.add(`// ${commentText(line.replace(/^!+\s*/, ""))}`);
  }

  private statement(s: Stmt): void {
    this.comments([...(s.before ?? []), ...(s.behind === undefined ? [] : [s.behind])]);
    if (s.label !== undefined && s.kind !== "continue") refuse(s, s.label, "labels are for goto, which kernels do not have");
    const { out, scope } = this;
    switch (s.kind) {
      case "assign":
        out.add(this.assignment(s));
        if (this.kept.flags.has(variableName(s.target))) out.add(`${this.kept.flags.get(variableName(s.target))} = 1;`);
        return;
      case "call": {
        const procedure = s.procedure.kind === "name" ? findProcedure(scope, s.procedure.name) : undefined;
        if (!procedure) {
          const { why, remedy } = procedureProblem(scope, treeName(s.procedure)) ?? NOT_KNOWN;
          return refuse(s, `call ${treeName(s.procedure)}`, why, remedy);
        }
        return out.add(`${deviceCall(scope, procedure, s)};`);
      }
      case "if":
        return this.chain(
          s.branches.map(({ cond, body }) => ({ cond: cpp(scope, cond), body })),
          s.otherwise,
        );
      case "select":
        return this.selection(s);
      case "do":
        return this.counted(s);
      case "do-while":
        return this.loop(s.name, `while (${s.cond ? cpp(scope, s.cond) : "true"})`, s.body);
      case "block":
        return this.print(s.body);
      case "directed":
        if (s.directive.words[0] === "atomic" && !this.isWriteOfFlagged(s) && !this.isFolded(s.body))
          return refuse(s, s.directive.words.join(" "), "atomic updates are not supported in C++", KERNELS_DO);
        return this.print(s.body);
      case "exit":
      case "cycle":
        return this.jump(s);
      case "return":
        return out.add(this.leave);
      case "continue":
      case "comment":
      case "print":
        return;
      case "stop":
        return refuse(s, "stop", "a kernel cannot end the program", "set a flag in an array, and check it on the host");
      case "pointer-assign":
      case "do-concurrent":
      case "associate":
      case "where":
      case "allocate":
      case "deallocate":
        return refuse(s, s.kind, "it is not supported within a parallel loop in C++", s.kind === "where" ? KERNELS_DO : undefined);
      case "unsupported":
        return refuse(s, s.construct, "it is not part of the supported Fortran");
      default:
        return unreachable(s);
    }
  }

  /** `atomic write` of a scalar that comes back, which each thread keeps for itself. */
  private isWriteOfFlagged({ directive: { words }, body }: Directed): boolean {
    return words[1] === "write" && body.every((s) => s.kind === "assign" && s.target.kind === "name" && this.kept.flags.has(s.target.name));
  }

  /** Whether statements assign nothing but what each thread has for itself. */
  private isFolded(body: readonly Stmt[]): boolean {
    return body.every(
      (s) => s.kind === "comment" || (s.kind === "assign" && s.target.kind === "name" && this.kept.reduced.has(s.target.name)),
    );
  }

  private assignment({ target, value }: Assign): string {
    const name = variableName(target);
    const variable = target.kind === "apply" ? undefined : resolve(this.scope, target);
    if (!variable?.dims) return `${cpp(this.scope, target)} = ${cpp(this.scope, value)};`;
    const list = bare(value);
    if (list.kind !== "constructor") return `${ident(name)}.fill(${cpp(this.scope, value)});`;
    const items = list.items.map((item) =>
      item.kind === "implied-do" ? refuse(item, "[(…, i = …)]", "it is not supported in C++", "write a do loop") : cpp(this.scope, item),
    );
    return `${ident(name)}.set(${items.join(", ")});`;
  }

  private chain(branches: readonly { readonly cond: string; readonly body: readonly Stmt[] }[], otherwise?: readonly Stmt[]): void {
    branches.forEach(({ cond, body }, n) => this.out.block(`${n > 0 ? "else " : ""}if (${cond})`, () => this.print(body)));
    if (otherwise) this.out.block("else", () => this.print(otherwise));
  }

  private selection(s: SelectCase): void {
    this.out.block("", () => {
      const chosen = `case_${++this.temporaries}_`;
      this.out.add(`const auto ${chosen} = ${cpp(this.scope, s.value)};`);
      const text = (e: Expr): string => cpp(this.scope, e, 5);
      const conditions = s.cases.flatMap(({ ranges, body }) => {
        if (!ranges) return [];
        const tests = ranges.map(({ lower, upper }) => {
          if (lower && lower === upper) return `${chosen} == ${text(lower)}`;
          return [lower && `${chosen} >= ${text(lower)}`, upper && `${chosen} <= ${text(upper)}`].filter(Boolean).join(" && ");
        });
        return [{ cond: tests.length > 1 ? tests.map((test) => `(${test})`).join(" || ") : tests[0], body }];
      });
      const otherwise = s.cases.find(({ ranges }) => !ranges)?.body;
      if (conditions.length > 0) this.chain(conditions, otherwise);
      else if (otherwise) this.print(otherwise);
    });
  }

  private counted({ variable, start, stop, step, body, name }: Do): void {
    const { scope, out } = this;
    const i = ident(variable);
    const written = writesOf(scope, body);
    const isFixed = (e: Expr): boolean => [...namesInExpr(e)].every((each) => each !== variable && !written.has(each));
    const by = step === undefined ? 1 : constant(step);
    if (by !== undefined && isFixed(stop)) {
      const next = by === 1 ? `${i}++` : by > 0 ? `${i} += ${by}` : `${i} -= ${-by}`;
      return this.loop(name, `for (${i} = ${cpp(scope, start)}; ${i} ${by > 0 ? "<=" : ">="} ${cpp(scope, stop, 5)}; ${next})`, body);
    }
    // The trips are counted before the first iteration.
    out.block("", () => {
      const [left, width] = [`left_${++this.temporaries}_`, `step_${this.temporaries}_`];
      out.add(`const int ${width} = ${step ? cpp(scope, step) : "1"};`);
      out.add(`int ${left} = f::trips(${cpp(scope, start)}, ${cpp(scope, stop)}, ${width});`);
      this.loop(name, `for (${i} = ${cpp(scope, start)}; ${left} > 0; ${left}--, ${i} += ${width})`, body);
    });
  }

  private loop(name: string | undefined, head: string, body: readonly Stmt[]): void {
    const loop: Loop = { ...(name !== undefined && { name }), jumps: new Set() };
    this.loops.push(loop);
    this.out.block(head, () => {
      this.print(body);
      if (loop.jumps.has("cycle")) this.out.add(`${name}_cycle_:;`);
    });
    this.loops.pop();
    if (loop.jumps.has("exit")) this.out.add(`${name}_exit_:;`);
  }

  private jump(s: Extract<Stmt, { kind: "exit" | "cycle" }>): void {
    const innermost = this.loops.at(-1);
    const loop = s.loop === undefined ? innermost : this.loops.findLast(({ name }) => name === s.loop);
    if (!loop) {
      const isOwn = s.loop === undefined || s.loop === this.element?.loopName;
      if (s.kind === "cycle" && isOwn && this.element) return this.out.add(this.leave);
      return refuse(s, s.kind, "it is not inside such a loop");
    }
    if (loop === innermost) return this.out.add(s.kind === "exit" ? "break;" : "continue;");
    loop.jumps.add(s.kind);
    this.out.add(`goto ${loop.name}_${s.kind}_;`);
  }
}

/** The value of a step that is written as a number. */
function constant(e: Expr): number | undefined {
  if (e.kind === "literal" && e.type === "integer") return Number(e.text) || undefined;
  const inner = e.kind === "unary" || e.kind === "group" ? constant(e.a) : undefined;
  return inner !== undefined && e.kind === "unary" && e.op === "-" ? -inner : inner;
}
