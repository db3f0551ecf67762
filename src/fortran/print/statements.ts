/* Statements as lines of Fortran, with their comments and blank lines. */

import { unreachable } from "../../base/unreachable.js";
import type { Directive, DoConcurrent, SelectCase, Stmt } from "../tree/index.js";
import { printDeclaration, printUse } from "./declarations.js";
import { directiveText, launchText } from "./directives.js";
import { argumentsText, expressionText as text, rangeText } from "./expressions.js";
import { wrappedLine } from "./wrap.js";

const INDENT = "  ";

/** Lines that grow, each at the depth of its block. */
export class IndentedLines {
  readonly lines: string[] = [];
  private depth = 0;

  inside(print: () => void): void {
    this.depth++;
    print();
    this.depth--;
  }

  /** A statement; a comment after it may be longer than the line. */
  add(line: string, behind?: string): void {
    this.lines.push(...wrappedLine(INDENT.repeat(this.depth), line));
    if (behind !== undefined) this.lines[this.lines.length - 1] += ` ${behind}`;
  }

  /** Comments and blank lines. */
  comments(before: readonly string[] | undefined): void {
    for (const comment of before ?? []) this.lines.push(comment === "" ? "" : INDENT.repeat(this.depth) + comment);
  }

  directive(directive: Directive, behind?: string): void {
    this.lines.push(...wrappedLine(`${INDENT.repeat(this.depth)}!$${directive.sentinel} `, directiveText(directive)));
    if (behind !== undefined) this.lines[this.lines.length - 1] += ` ${behind}`;
  }

  /** Text as it was written, line by line. */
  written(lines: readonly string[]): void {
    for (const line of lines) {
      if (line === "" || line.startsWith("!")) this.comments([line]);
      else this.add(line);
    }
  }

  statements(body: readonly Stmt[]): void {
    for (const statement of body) printStatement(this, statement);
  }
}

function printStatement(out: IndentedLines, s: Stmt): void {
  out.comments(s.before);
  const label = s.label === undefined ? "" : `${s.label} `;
  const name = "name" in s && s.name !== undefined ? `${s.name}: ` : "";
  const add = (line: string): void => out.add(label + line, s.behind);
  const inside = (body: readonly Stmt[]): void => out.inside(() => out.statements(body));
  const end = (words: string): void => out.add(name ? `${words} ${name.slice(0, -2)}` : words, s.behindEnd);
  switch (s.kind) {
    case "if":
      if (s.oneLine) return add(`if (${text(s.branches[0].cond)}) ${lineOf(s.branches[0].body[0])}`);
      for (const [n, branch] of s.branches.entries()) {
        if (n === 0) add(`${name}if (${text(branch.cond)}) then`);
        else {
          out.comments(branch.before);
          out.add(`else if (${text(branch.cond)}) then`, branch.behind);
        }
        inside(branch.body);
      }
      if (s.otherwise) {
        out.add("else", s.behindElse);
        inside(s.otherwise);
      }
      return end("end if");
    case "do":
      add(`${name}do ${s.variable} = ${rangeText(s.start, s.stop, s.step)}`);
      inside(s.body);
      return end("end do");
    case "do-while":
      add(s.cond ? `${name}do while (${text(s.cond)})` : `${name}do`);
      inside(s.body);
      return end("end do");
    case "do-concurrent":
      add(`${name}${s.forall ? "forall" : "do concurrent"} ${concurrentText(s)}`);
      inside(s.body);
      return end(s.forall ? "end forall" : "end do");
    case "select":
      add(`${name}select case (${text(s.value)})`);
      for (const part of s.cases) {
        out.comments(part.before);
        out.add(caseText(part), part.behind);
        inside(part.body);
      }
      return end("end select");
    case "associate":
      add(`${name}associate (${s.names.map((a) => `${a.name} => ${text(a.value)}`).join(", ")})`);
      inside(s.body);
      return end("end associate");
    case "where":
      if (s.oneLine) return add(`where (${text(s.branches[0].cond)}) ${lineOf(s.branches[0].body[0])}`);
      for (const [n, branch] of s.branches.entries()) {
        if (n === 0) add(`where (${text(branch.cond)})`);
        else out.add(`elsewhere (${text(branch.cond)})`);
        inside(branch.body);
      }
      if (s.otherwise) {
        out.add("elsewhere");
        inside(s.otherwise);
      }
      return end("end where");
    case "block":
      add(`${name}block`);
      out.inside(() => {
        for (const use of s.uses ?? []) printUse(out, use);
        for (const declaration of s.declarations ?? []) printDeclaration(out, declaration);
      });
      inside(s.body);
      return end("end block");
    case "directed":
      out.directive(s.directive, s.behind);
      out.statements(s.body);
      if (s.closed) {
        const { words } = s.directive;
        // `atomic update` ends with `end atomic`.
        out.directive({ ...s.directive, words: ["end", ...(words[0] === "atomic" ? ["atomic"] : words)], clauses: [] });
      }
      return;
    case "unsupported": {
      const [first, ...more] = s.text.split("\n");
      add(first);
      return out.written(more);
    }
    case "comment":
      return;
    // Any other statement stands on one line; `lineOf` knows them all.
    default:
      return add(lineOf(s));
  }
}

/** A statement that stands on one line. */
function lineOf(s: Stmt): string {
  const cuda = "cudaOnly" in s && s.cudaOnly ? "!@cuf " : "";
  switch (s.kind) {
    case "assign":
      return `${cuda}${text(s.target)} = ${text(s.value)}`;
    case "pointer-assign":
      return `${text(s.target)} => ${text(s.value)}`;
    case "call":
      return `${cuda}call ${text(s.procedure)}${s.launch ? launchText(s.launch) : ""}${s.args.length > 0 || s.launch ? `(${argumentsText(s.args)})` : ""}`;
    case "exit":
    case "cycle":
      return s.loop === undefined ? s.kind : `${s.kind} ${s.loop}`;
    case "return":
    case "continue":
      return s.kind;
    case "stop":
      return `${s.error ? "error " : ""}stop${s.value ? ` ${text(s.value)}` : ""}`;
    case "print":
      return [`print ${s.format}`, ...s.items.map((item) => text(item))].join(", ");
    case "allocate":
    case "deallocate": {
      const arrays = s.kind === "allocate" ? s.arrays.map(({ target }) => target) : s.arrays;
      const options = s.options.map(({ keyword, value }) => `${keyword}=${text(value)}`);
      return `${s.kind}(${[...arrays.map((array) => text(array)), ...options].join(", ")})`;
    }
    case "unsupported":
      return s.text;
    case "if":
    case "do":
    case "do-while":
    case "do-concurrent":
    case "select":
    case "associate":
    case "where":
    case "block":
    case "directed":
    case "comment":
      throw new Error(`"${s.kind}" takes lines of its own`);
    default:
      return unreachable(s);
  }
}

function concurrentText({ axes, mask, local, localInit, shared, reduce }: DoConcurrent): string {
  const ranges = axes.map(
    ({ variable, start, stop, step }) => `${variable} = ${rangeText(start, stop, step).replace(/,(?![^()]*\))/g, ":")}`,
  );
  const lists = [
    ["local", local],
    ["local_init", localInit],
    ["shared", shared],
  ] as const;
  const localities = [
    ...lists.filter(([, names]) => names.length > 0).map(([word, names]) => `${word}(${names.join(", ")})`),
    ...reduce.map(({ op, names }) => `reduce(${op}:${names.join(", ")})`),
  ];
  return [`(${[...ranges, ...(mask ? [text(mask)] : [])].join(", ")})`, ...localities].join(" ");
}

function caseText({ ranges }: SelectCase["cases"][number]): string {
  if (!ranges) return "case default";
  const parts = ranges.map(({ lower, upper }) =>
    lower === upper && lower ? text(lower, true) : `${lower ? text(lower, true) : ""}:${upper ? text(upper, true) : ""}`,
  );
  return `case (${parts.join(", ")})`;
}
