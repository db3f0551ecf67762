/*
 * Directives, read by grammar. Their words are lower case.
 */

import type { Location } from "../../ir/types.js";
import type { Apply, ComponentRef, Expr, Name } from "./expressions.js";

/** `cuf`: `!$cuf kernel do`; `acc`: OpenACC; `omp`: OpenMP. */
export type Sentinel = "cuf" | "acc" | "omp";

export interface Directive {
  readonly sentinel: Sentinel;
  /** The construct in the order of its words, without clauses: ["parallel", "loop"], ["target", "teams", "distribute"], ["end", "parallel"], ["kernel", "do"]. */
  readonly words: readonly string[];
  readonly clauses: readonly Clause[];
  /** For `!$cuf kernel do(n) <<<grid, block, shared, stream>>>`. */
  readonly launch?: LaunchDirective;
  readonly at: Location;
}

/** Clauses that say what a loop means, or where data are; all others are kept by name, for the report. */
export type Clause =
  | { readonly kind: "collapse"; readonly count: number; readonly at: Location }
  | { readonly kind: "reduction"; readonly op: ReductionOp; readonly names: readonly string[]; readonly at: Location }
  /** `private(a, b)`, `firstprivate(a)`, `shared(a)`. */
  | { readonly kind: "private" | "firstprivate" | "lastprivate" | "shared"; readonly names: readonly string[]; readonly at: Location }
  | { readonly kind: "default"; readonly value: string; readonly at: Location }
  | { readonly kind: "async"; readonly queue?: Expr; readonly at: Location }
  /** `gang`, `worker`, `vector`, `seq`, `independent`, `auto`, `simd`: how a loop is spread. */
  | { readonly kind: "level"; readonly level: string; readonly at: Location }
  | DataClause
  /** `if(n > 8)`, `if(target data: n > 8)`. */
  | { readonly kind: "condition"; readonly of?: string; readonly value: Expr; readonly at: Location }
  /** Any other: `num_gangs(8)`, and data clauses with lists that are not read, such as common blocks. */
  | { readonly kind: "other"; readonly name: string; readonly text: string; readonly at: Location };

/** Variables, sections, components that a clause copies, creates, looks up or gives the address of. */
export interface DataClause {
  readonly kind: "data";
  /** `copyin`, `map`, `use_device`; "" for the list of `declare target(a)`. */
  readonly name: string;
  /** The words before the colon: `always`, `tofrom`. */
  readonly modifiers: readonly string[];
  readonly objects: readonly (Name | ComponentRef | Apply)[];
  readonly at: Location;
}

export type ReductionOp = "+" | "*" | "min" | "max" | ".and." | ".or." | ".eqv." | ".neqv." | "iand" | "ior" | "ieor";

/** Absent parts were written `*` or not at all. */
export interface LaunchDirective {
  readonly grid?: Expr;
  readonly block?: Expr;
  readonly shared?: Expr;
  readonly stream?: Expr;
}
