/*
 * Launches of kernels whose threads, not a guard, tell what is computed: the kernels' procedures take the sizes of the launch as one more argument.
 * Variables of type dim3 become arrays of three numbers.
 */

import { dim3Parts, find, findProcedure, type UnitScope } from "../../analyse/symbols.js";
import { regionsOf, type ParallelRegion } from "../../analyse/regions.js";
import { SHARED_BYTES, sizeName } from "../../analyse/thread-index.js";
import { mapStatements } from "../../analyse/visit.js";
import { withExpressions } from "../../analyse/walk.js";
import type { CallStatement, Declaration, Expr, Procedure, SourceFile, Stmt, TypeSpec, Unit } from "../../tree/index.js";
import { unitKey } from "../../tree/keys.js";

type At = Expr["at"];

const SIZES = "launch_sizes";
const AXES = ["x", "y", "z"] as const;
/** The numbers of the argument, by the names that kernels have for them. */
const NAMES: readonly string[] = [
  ...AXES.map((axis) => sizeName("grid", axis)),
  ...AXES.map((axis) => sizeName("block", axis)),
  SHARED_BYTES,
];

/** Whether a kernel needs the sizes of its launch. */
export const needsSizes = ({ ofBlocks, ofGrid, axes }: ParallelRegion): boolean =>
  ofBlocks === true || ofGrid === true || axes.some(({ stop }) => !stop);

/** The element of the argument that a name stands for; undefined of other names. */
export function sizeGiven(name: string, at: At): Expr | undefined {
  const n = NAMES.indexOf(name);
  return n < 0 ? undefined : element(SIZES, n, at);
}

const literal = (n: number, at: At): Expr => ({ kind: "literal", type: "integer", text: String(n), at });
const element = (name: string, n: number, at: At): Expr => ({
  kind: "apply",
  base: { kind: "name", name, at },
  args: [{ kind: "value", value: literal(n + 1, at) }],
  at,
});
const integer = (at: At): TypeSpec => ({ type: "integer", text: "integer", at });
const list = (items: readonly Expr[], at: At): Expr => ({ kind: "constructor", type: integer(at), items, at });

/** The file with sizes at launches, where a kernel among `scopes` needs them. */
export function withLaunchSizes(file: SourceFile, scopes: readonly UnitScope[]): SourceFile {
  const scopeOf = new Map(scopes.map((scope) => [unitKey(scope.unit), scope]));
  const kernels = new Set(
    scopes.flatMap((scope) => {
      const isKernel = scope.unit.kind === "procedure" && scope.unit.attributes.includes("global");
      return isKernel && regionsOf(scope).some(needsSizes) ? [unitKey(scope.unit)] : [];
    }),
  );
  return kernels.size === 0 ? file : { ...file, units: file.units.map((unit) => changed(unit)) };

  function changed<T extends Unit>(unit: T): T {
    const procedures = unit.procedures.map((procedure) => changed(procedure));
    const scope = scopeOf.get(unitKey(unit));
    if (!scope) return { ...unit, procedures };
    const declarations = unit.declarations.map((d) => declared(d, scope));
    if (unit.kind === "module") return { ...unit, procedures, declarations };
    const body = mapStatements(unit.body, (s) => [statement(s, scope)]);
    const made = { ...unit, procedures, declarations, body };
    return kernels.has(unitKey(unit)) && unit.kind === "procedure" ? ({ ...made, ...withArgument(unit, declarations) } as T) : made;
  }

  function statement(s: Stmt, scope: UnitScope): Stmt {
    const given = s.kind === "call" && s.launch ? launched(s, scope) : s;
    return withExpressions(given, (e) => numbers(e, scope));
  }

  function launched(call: CallStatement, scope: UnitScope): CallStatement {
    const kernel = call.procedure.kind === "name" ? findProcedure(scope, call.procedure.name) : undefined;
    if (!kernel || !kernels.has(unitKey(kernel.unit))) return call;
    const { at, launch } = call;
    const sizes = [launch!.grid, launch!.block].flatMap((e) => three(e, scope, at));
    const value = list([...sizes, launch!.shared ?? literal(0, at)], at);
    return { ...call, args: [...call.args, { kind: "value", keyword: SIZES, value }] };
  }
}

/** Three numbers of a grid or a block. */
function three(e: Expr | undefined, scope: UnitScope, at: At): Expr[] {
  const given = e ? (dim3Parts(scope, e) ?? [e]) : [];
  return AXES.map((_, n) => given[n] ?? literal(1, at));
}

/** `tb%x` and `dim3(a, b)` as numbers of arrays. */
function numbers(e: Expr, scope: UnitScope): Expr {
  const n = e.kind === "part" && e.base.kind === "name" && isDim3(scope, e.base.name) ? AXES.indexOf(e.name as "x") : -1;
  if (n >= 0) return element(((e as Extract<Expr, { kind: "part" }>).base as Extract<Expr, { kind: "name" }>).name, n, e.at);
  return e.kind === "apply" && e.base.kind === "name" && e.base.name === "dim3" ? list(three(e, scope, e.at), e.at) : e;
}

const isDim3 = (scope: UnitScope, name: string): boolean => find(scope, name)?.derived === "dim3";

function declared(d: Declaration, scope: UnitScope): Declaration {
  if (d.kind !== "variables" || d.type.derived !== "dim3") return d;
  const names = d.names.map((each) => ({ ...each, dimension: [{ upper: literal(3, d.at), assumed: false }] }));
  return withExpressions({ ...d, type: integer(d.at), names }, (e) => numbers(e, scope));
}

const withArgument = ({ dummies, at }: Procedure, declarations: readonly Declaration[]): Partial<Procedure> => ({
  dummies: [...dummies, SIZES],
  declarations: [
    ...declarations,
    {
      kind: "variables",
      type: integer(at),
      attributes: ["intent(in)"],
      names: [{ name: SIZES, at, dimension: [{ upper: literal(NAMES.length, at), assumed: false }] }],
      at,
    },
  ],
});
