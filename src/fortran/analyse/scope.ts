import type { Location, ScalarType } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import type { Bound, Expr, Module, Procedure, MainProgram, TypeDefinition } from "../tree/index.js";

/* Knowledge of the files that are read together: their units, and the declarations of these. */

export interface Variable {
  readonly name: string;
  readonly type: ScalarType;
  /** Why no kernel can use it: `complex`. */
  readonly refused?: { readonly construct: string; readonly why: string; readonly remedy: string };
  /** Two reals of its type: its program is read with these in its place (complex/index). */
  readonly complex?: true;
  /** An integer of 64 bits: `refused`, but for scalars where 32 are enough (lower/wide). */
  readonly wide?: true;
  /** An integer of 8 bits: `refused`, but for arrays of the program and for scalars. */
  readonly byte?: true;
  /** The name of its derived type. */
  readonly derived?: string;
  /** For a component: its type, and its name in that type. */
  readonly component?: string;
  /** For a component: where its object is declared; `scope` is the type's. */
  readonly owner?: UnitScope;
  /** For a component of all objects of an array: that array. */
  readonly objects?: Variable;
  /** A component of an element of an array of objects: `refused` where it is not read as an element of `objects`' arrays. */
  readonly ofElement?: true;
  /** Declared bounds of an array. */
  readonly dims?: readonly Bound[];
  readonly attributes: ReadonlySet<string>;
  readonly dummy: boolean;
  /** The value of a `parameter`, or of a variable that begins with one and is never assigned. */
  readonly value?: Expr;
  /** The value that a variable begins with; a procedure's own keeps from call to call what is assigned to it. */
  readonly initial?: Expr;
  readonly scope: UnitScope;
  readonly at: Location;
}

export interface UnitScope {
  readonly unit: Module | Procedure | MainProgram;
  /** The file that was read: the unit may stand in one that it includes. */
  readonly file: string;
  readonly parent?: UnitScope;
  readonly variables: Map<string, Variable>;
  readonly procedures: Map<string, UnitScope>;
  readonly types: Map<string, TypeDefinition>;
  /** Names in interfaces: a generic name with its specific procedures, a procedure with itself. */
  readonly interfaces: Map<string, readonly string[]>;
  readonly world: World;
}

/** The files that are read together. */
export interface World {
  readonly modules: Map<string, UnitScope>;
  /** Procedures outside of modules. */
  readonly external: Map<string, UnitScope>;
  readonly scopes: UnitScope[];
  /** Kinds by name, over what modules say: `{ rkind: "f64", ikind: "i32" }`. */
  readonly kinds: Readonly<Record<string, "f64" | "f32" | "i32">>;
  readonly problems: Problems;
}
