/*
 * Files, their units and declarations.
 */

import type { Location } from "../../ir/types.js";
import type { Declaration } from "./declarations.js";
import type { Expr, TypeSpec } from "./expressions.js";
import type { Stmt } from "./statements.js";
import type { Use } from "./use.js";

export interface SourceFile {
  readonly file: string;
  readonly units: readonly Unit[];
  /** Comments and blank lines after the last unit. */
  readonly after: readonly string[];
}

export type Unit = Module | Procedure | MainProgram;

interface Scope {
  readonly name: string;
  readonly uses: readonly Use[];
  readonly implicitNone: boolean;
  /** Comments and blank lines before it, among them `!$ use omp_lib`. */
  readonly beforeImplicit?: readonly string[];
  readonly declarations: readonly Declaration[];
  /** Procedures after `contains`. */
  readonly procedures: readonly Procedure[];
  readonly at: Location;
  /** Place of the `end` statement. */
  readonly end: Location;
  readonly before?: readonly string[];
  /** Comments and blank lines before `contains`, and before `end` after procedures. */
  readonly beforeContains?: readonly string[];
  readonly beforeEnd?: readonly string[];
}

export interface Module extends Scope {
  readonly kind: "module";
  /** Written `block data`: only values of common blocks. */
  readonly isBlockData?: true;
  /** Ancestor and parent of `submodule (m:parent) name`. */
  readonly ancestor?: { readonly module: string; readonly parent?: string };
}

export interface MainProgram extends Scope {
  readonly kind: "program";
  readonly body: readonly Stmt[];
  /** Whether statements of it could not be read. */
  readonly broken?: true;
}

export interface Procedure extends Scope {
  readonly kind: "procedure";
  readonly form: "subroutine" | "function";
  readonly dummies: readonly string[];
  /** `attributes(global)`, `attributes(host, device)`; ["host"] if omitted. */
  readonly attributes: readonly string[];
  readonly launchBounds?: readonly Expr[];
  /** pure, elemental, recursive, impure. */
  readonly prefixes: readonly string[];
  /** For a function whose type precedes it. */
  readonly type?: TypeSpec;
  /** For a function: its own name if `result` is absent. */
  readonly result?: string;
  /** Text in the parentheses of `bind(c, name="f")`. */
  readonly bind?: string;
  readonly body: readonly Stmt[];
  /** A statement function, `f(x) = 2*x`: its line is kept among the declarations of the procedure around it. */
  readonly ofStatement?: true;
  /** Whether statements of it could not be read. */
  readonly broken?: true;
}
