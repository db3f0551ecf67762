import { isSequential } from "../analyse/regions.js";
import type { Clause, Directed, Directive, Do, Stmt } from "../tree/index.js";
import type { Nest } from "./nests.js";

const isComment = (s: Stmt): boolean => s.kind === "comment";

/** The nest after a directive. */
export function nestOf(directed: Directed): Nest {
  const loops: Do[] = [];
  const clauses = [...directed.directive.clauses];
  const before: string[] = [];
  let parallel = 0;
  let wanted = countOf(clauses);
  let body: readonly Stmt[] = directed.body;
  for (;;) {
    const [s, more] = body.filter((each) => !isComment(each));
    if (!s || more) break;
    // A second directive is of the other standard, or of a loop further in.
    if (s.kind === "directed" && (isOfLoop(s.directive) || s.directive.words[0] === "kernels") && !isSequential(s.directive.clauses)) {
      wanted = Math.max(wanted, loops.length + countOf(s.directive.clauses));
      clauses.push(...s.directive.clauses);
      before.push(...(s.before ?? []));
      body = s.body;
    } else if (s.kind === "do") {
      for (const part of body) before.push(...(part.before ?? []));
      loops.push(s);
      if (loops.length <= wanted) parallel = loops.length;
      body = s.body;
      if (s.name !== undefined) break;
    } else break;
  }
  return { loops, parallel, body, clauses, before: before.filter((line) => line !== "") };
}

/** Whether a directive spreads the iterations of a loop. */
export const isOfLoop = ({ words }: Directive): boolean => words[0] !== "end" && ["do", "loop", "distribute"].includes(words.at(-1)!);

const countOf = (clauses: readonly Clause[]): number => clauses.find((clause) => clause.kind === "collapse")?.count ?? 1;
