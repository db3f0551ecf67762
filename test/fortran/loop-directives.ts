/* Directives before and around a parallel loop, as far as its variables go: gfortran heeds them with -fopenacc and -fopenmp. */
import type { ParallelRegion } from "../../src/fortran/analyse/regions.js";
import { bodiesOf } from "../../src/fortran/analyse/visit.js";
import { directiveText } from "../../src/fortran/print/directives.js";
import type { Clause, Directive, Stmt } from "../../src/fortran/tree/index.js";

/** Directives of constructs that run on several threads, or on a device. */
const COMPUTE = /^(parallel|kernels|serial|target|teams)\b(?! (data|enter|exit|update))/;
/** Clauses that say what becomes of data. */
const DATA = /^(p?copy(in|out)?|p?create|present_or_copy(in|out)?|map|defaultmap)$/;

/** Lines before a loop and after it, and the standard by which the lines within are read. `isScalar`: whether a name is a scalar of the program around it, or an array (false), or not there. */
export function directivesOf(
  { scope, stmt, carried }: Pick<ParallelRegion, "scope" | "stmt" | "carried">,
  isScalar: (name: string) => boolean | undefined,
): { readonly open: readonly string[]; readonly close: readonly string[]; readonly sentinel?: string } {
  if (stmt?.kind !== "directed" || stmt.directive.sentinel === "cuf" || scope.unit.kind === "module") return { open: [], close: [] };
  const own: Directive[] = [];
  for (let s: Stmt | undefined = stmt; s?.kind === "directed"; s = s.body.find(({ kind }) => kind !== "comment" && kind !== "continue"))
    own.push(s.directive);
  // Of two standards on one loop, gfortran takes the second alone.
  const { sentinel } = own.at(-1)!;
  const isTaken = (each: Directive): boolean => each.sentinel === sentinel;
  const around = aroundIn(scope.unit.body, stmt)!.filter((each) => isTaken(each) && COMPUTE.test(each.words.join(" ")));
  const line = (directive: Directive): string =>
    `!$${directive.sentinel} ${directiveText({ ...directive, clauses: directive.clauses.flatMap((clause) => heeded(clause, isScalar)) })}`;
  // Statements of the construct before the loop, which assign what is private there, are not in the program.
  const begun = ({ clauses, ...directive }: Directive): Directive => ({
    ...directive,
    clauses: clauses.flatMap((clause): Clause[] => {
      if (clause.kind !== "private") return [clause];
      const isBegun = (name: string): boolean => carried.has(name);
      const [first, others] = [clause.names.filter(isBegun), clause.names.filter((name) => !isBegun(name))];
      return [
        { ...clause, names: others },
        { ...clause, kind: "firstprivate", names: first },
      ];
    }),
  });
  const ends = around.toReversed().map(({ words }) => `!$${sentinel} end ${words.join(" ")}`);
  const open = [...around.map(begun), ...own.filter(isTaken)].map((directive) => wrapped(line(directive)));
  return { open, close: ends, sentinel };
}

/** The directives that a statement stands in. */
function aroundIn(body: readonly Stmt[], wanted: Stmt): Directive[] | undefined {
  for (const s of body) {
    if (s === wanted) return [];
    for (const part of bodiesOf(s)) {
      const found = aroundIn(part, wanted);
      if (found) return s.kind === "directed" ? [s.directive, ...found] : found;
    }
  }
  return undefined;
}

/** The part of a clause that speaks of variables which are there; clauses about devices and memory are left out. */
function heeded(clause: Clause, isScalar: (name: string) => boolean | undefined): Clause[] {
  if (clause.kind === "default") return clause.value.endsWith("private") ? [clause] : [];
  if (clause.kind === "async") return [];
  if (clause.kind === "other") return clause.name === "defaultmap" ? [clause] : [];
  if (clause.kind === "data") {
    const objects = clause.objects.filter((object) => object.kind === "name" && isScalar(object.name) === true);
    return DATA.test(clause.name) && objects.length > 0 ? [{ ...clause, objects }] : [];
  }
  if (!("names" in clause)) return [clause];
  const names = clause.names.filter((name) => isScalar(name) !== undefined);
  return names.length > 0 ? [{ ...clause, names }] : [];
}

/** A directive in lines that are not too long. */
const wrapped = (line: string): string => line.replace(/(.{100,}?),/g, `$1, &\n${line.slice(0, 5)}& `);
