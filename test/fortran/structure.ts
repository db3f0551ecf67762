/*
 * Two files of Fortran, routine by routine and token by token. Blanks, case, comments, continuation, `end do` beside `enddo`, what only a GPU
 * has, and sums of constants where a loop starts are no difference.
 */

import { logicalLines } from "../../src/fortran/text/logical-lines.js";
import { Problems } from "../../src/fortran/errors.js";

const HEAD = /\b(?:subroutine|function)\s+(\w+)/i;

interface Routine {
  readonly lines: string[];
  /** Directives of OpenMP. */
  readonly directives: string[];
}

/** By name, a second one of the same name with a number. */
function routines(text: string): Map<string, Routine> {
  const found = new Map<string, Routine>();
  let current: Routine | undefined;
  for (const { text: raw, sentinel } of logicalLines(text, { file: "" }, new Problems()).lines) {
    const line = normal(raw);
    if (sentinel) {
      if (sentinel === "omp") current?.directives.push(raw.toLowerCase().replace(/\s+/g, " ").trim());
    } else if (/^end(subroutine|function)/.test(line)) current = undefined;
    else if (HEAD.test(raw) && !/^\s*(end|call)/i.test(raw)) {
      current = { lines: [line], directives: [] };
      found.set(HEAD.exec(raw)![1].toLowerCase(), current);
    } else if (line) current?.lines.push(line);
  }
  return found;
}

function normal(text: string): string {
  let t = text.toLowerCase();
  t = t.replace(/attributes\((global|device)\)|launch_bounds\(\d+\)/g, "");
  t = t.replace(/\bend\s+(do|if|subroutine|function)/g, "end$1").replace(/\belse\s+if\b/g, "elseif");
  if (/^\s*(real|integer|logical)\b.*::/.test(t)) t = t.replace(/,\s*(device|value)\b(?=.*::)/g, "");
  return folded(t.replace(/\s+/g, "").replace(/^implicitnone$/, ""));
}

/** `do i=+first-2+1,last` is `do i=first-1,last`. */
const folded = (line: string): string =>
  line.replace(/^(do\w+=)\+?(\w+)((?:[-+]\d+)+)(?=,)/, (_, head: string, name: string, rest: string) => {
    const sum = rest.match(/[-+]\d+/g)!.reduce((total, part) => total + Number(part), 0);
    return `${head}${name}${sum > 0 ? "+" : ""}${sum || ""}`;
  });

/** The first difference of each routine, by its name; "absent" where there is none. */
export function differences(expected: string, ours: string): { routines: number; different: Record<string, string> } {
  const [theirs, own] = [routines(expected), routines(ours)];
  const different: Record<string, string> = {};
  for (const [name, { lines: want }] of theirs) {
    const have = own.get(name)?.lines;
    const at = have ? want.findIndex((line, n) => line !== have[n]) : 0;
    if (!have) different[name] = "absent";
    else if (at >= 0 || want.length !== have.length)
      different[name] = `${want[at] ?? "(end)"} <> ${have[at < 0 ? want.length : at] ?? "(end)"}`;
  }
  return { routines: theirs.size, different };
}

/** Of each loop with a directive, in order: its routine, and the names and numbers of each clause, sorted. */
export function loopClauses(text: string): { routine: string; clauses: Record<string, string[]> }[] {
  return [...routines(text)].flatMap(([routine, { directives }]) =>
    directives
      .filter((line) => / do\b/.test(line))
      .map((line) => {
        const clauses: Record<string, string[]> = {};
        for (const [, name, list] of line.matchAll(/(\w+) ?\(([^()]*)\)/g))
          (clauses[name] ??= []).push(...list.split(",").map((each) => each.trim()));
        for (const list of Object.values(clauses)) list.sort();
        return { routine, clauses };
      }),
  );
}

/** Of each routine, the names behind a `dimension(…) ::`. */
export const arraysOf = (text: string): Map<string, string[]> =>
  new Map(
    [...routines(text)].map(([name, { lines }]) => [
      name,
      lines.flatMap((line) => /dimension\(.*::(.*)$/.exec(line)?.[1].split(",") ?? []),
    ]),
  );
