/* Parallel loops as kernels in C++ with a function that launches them, and the procedures that they call. */

import { isInteger } from "../../../ir/scalars.js";
import { commentText } from "../../../emit/text.js";
import type { ScalarType } from "../../../ir/types.js";
import { LAUNCH_REMEDY } from "../../analyse/launches.js";
import type { LoopAxis, ParallelRegion } from "../../analyse/regions.js";
import { find, isSaved, findProcedure, type UnitScope, type Variable } from "../../analyse/symbols.js";
import { eachStatement } from "../../analyse/visit.js";
import { bare, expressionsOf, variableName, visitExpr } from "../../analyse/walk.js";
import { writtenBy } from "../../analyse/writes.js";
import type { Bound, Expr, Stmt } from "../../tree/index.js";
import { cpp, deviceName, ident, refuse, resolve, uniqueName, CPP_TYPES } from "./expressions.js";
import { THREAD_BLOCK, type Runtime } from "./prelude.js";
import { flagsOf, paramResult } from "./results.js";
import { BracedLines, Statements } from "./statements.js";
import { isSeenElsewhere, usedIn, type UsedName } from "./used.js";

/** Parameter of a launch. */
export interface Parameter {
  /** In C++, and in the interface of Fortran. */
  readonly name: string;
  readonly type: ScalarType;
  readonly kind: "value" | "array" | "result";
  /** Whether the array is written, or each element changes the value for itself. */
  readonly written: boolean;
  /** Value that the host passes, in Fortran. */
  readonly actual: Expr;
}

export interface CppLoop {
  readonly region: ParallelRegion;
  /** Name of the function that launches it. */
  readonly launch: string;
  readonly parameters: readonly Parameter[];
  readonly lines: readonly string[];
}

const ON_DEVICE = ["device", "managed", "constant", "allocatable", "save", "pointer"];

/** Whether an array belongs to each element. */
function isPrivate(region: ParallelRegion, { variable, expr }: UsedName): boolean {
  if (expr.kind === "part") return false;
  if (region.privates.has(variableName(expr))) return true;
  const isCuda = region.stmt === undefined || (region.stmt.kind === "directed" && region.stmt.directive.sentinel === "cuf");
  if (!isCuda || variable.dummy || variable.scope !== region.scope || ON_DEVICE.some((each) => variable.attributes.has(each))) return false;
  return variable.dims!.every(({ lower, upper }) => [lower, upper].every((e) => e !== "*" && isConstant(region.scope, e)) && upper);
}

function isConstant(scope: UnitScope, e: Expr | undefined): boolean {
  let constant = true;
  if (e)
    visitExpr(e, (each) => void ((each.kind === "name" || each.kind === "part") && !resolve(scope, each)?.value && (constant = false)));
  return constant;
}

/** `constexpr int n = 5;`, and lists of numbers. */
function constantLine({ variable, expr }: UsedName): string {
  const { type, value, dims, scope } = variable;
  const name = variableName(expr);
  const list = bare(value!);
  if (!dims) return `constexpr ${CPP_TYPES[type]} ${ident(name)} = ${cpp(scope, value!)};`;
  if (list.kind !== "constructor") return refuse(variable, name, "its value is not a list", "write its numbers as [1, 2]");
  const items = list.items.map((item) => (item.kind === "implied-do" ? refuse(item, name, "its value has a loop") : cpp(scope, item)));
  return `const ${memory(type)} ${ident(name)}_list_[] = {${items.join(", ")}};`;
}

/** Logical values are integers in memory. */
const memory = (type: ScalarType): string => CPP_TYPES[type === "bool" ? "i32" : type];

/** The bounds of an axis; `open` tells the extent of one that its declaration leaves open. */
function boundsText(scope: UnitScope, { lower, upper }: Bound, open: string): string {
  const first = lower ? cpp(scope, lower) : "1";
  if (upper === "*") return `f::Bounds{${first}, ${first}}`;
  return `f::Bounds{${first}, ${upper ? cpp(scope, upper) : first === "1" ? open : first === "0" ? `${open} - 1` : `${first} + ${open} - 1`}}`;
}

function viewLine({ variable, expr }: UsedName, data: string, constant: boolean, bounds: readonly string[]): string {
  const type = `f::View<${constant ? "const " : ""}${memory(variable.type)}, ${variable.dims!.length}>`;
  return `const ${type} ${ident(variableName(expr))}(${[data, ...bounds].join(", ")});`;
}

/** An array of constant size, and how it is indexed. */
function privateLines(scope: UnitScope, used: UsedName): string[] {
  const dims = used.variable.dims!;
  const name = `${ident(variableName(used.expr))}_data_`;
  const sizes = dims.map(({ lower, upper }) => {
    if (!upper || upper === "*") return refuse(used.variable, used.variable.name, "the size of a private array has to be a constant");
    return lower ? `(${cpp(scope, upper)} - ${cpp(scope, lower, 7)} + 1)` : cpp(scope, upper, 8);
  });
  return [
    `${memory(used.variable.type)} ${name}[${sizes.join(" * ")}];`,
    viewLine(
      used,
      name,
      false,
      dims.map((dim) => boundsText(scope, dim, "")),
    ),
  ];
}

const apply = (name: string, ...args: readonly Expr[]): Expr => ({
  kind: "apply",
  base: { kind: "name", name, at: args[0].at },
  args: args.map((value) => ({ kind: "value", value })),
  at: args[0].at,
});
const number = (n: number, at: Expr["at"]): Expr => ({ kind: "literal", type: "integer", text: String(n), at });

const isOpen = ({ upper }: Bound): boolean => !upper;
const isDeferred = (variable: Variable): boolean =>
  !variable.dummy || variable.attributes.has("allocatable") || variable.attributes.has("pointer");

/** Numbers that tell the bounds which a declaration leaves open. */
function openBounds({ variable, expr }: UsedName): Parameter[] {
  const name = ident(variableName(expr));
  return variable.dims!.flatMap((dim, axis): Parameter[] => {
    if (!isOpen(dim)) return [];
    const tell = (word: string, fn: string): Parameter => ({
      name: `${name}_${word}${axis + 1}_`,
      type: "i32",
      kind: "value",
      written: false,
      actual: apply(fn, expr, number(axis + 1, expr.at)),
    });
    return [...(isDeferred(variable) ? [tell("lower", "lbound")] : []), tell("extent", "size")];
  });
}

const arrayBounds = ({ variable, expr }: UsedName, lookUp: UnitScope): string[] =>
  variable.dims!.map((dim, axis) => {
    const name = ident(variableName(expr));
    const extent = `${name}_extent${axis + 1}_`;
    if (!isOpen(dim) || !isDeferred(variable)) return boundsText(lookUp, dim, extent);
    return `f::Bounds{${name}_lower${axis + 1}_, ${name}_lower${axis + 1}_ + ${extent} - 1}`;
  });

/** Declarations of a procedure's or an element's own scalars, one line for each type. */
function scalarLines(variables: readonly Variable[]): string[] {
  const types = new Map<string, string[]>();
  for (const { name, type } of variables) types.set(CPP_TYPES[type], [...(types.get(CPP_TYPES[type]) ?? []), ident(name)]);
  return [...types].map(([type, names]) => `${type} ${names.join(", ")};`);
}

const constantsIn = (used: ReadonlyMap<string, UsedName>): UsedName[] => [...used.values()].filter(({ variable }) => variable.value);
const constantLines = (used: ReadonlyMap<string, UsedName>): string[] =>
  constantsIn(used).flatMap((each) => {
    const { variable } = each;
    const list = `${ident(variableName(each.expr))}_list_`;
    return [
      constantLine(each),
      ...(variable.dims
        ? [
            viewLine(
              each,
              list,
              true,
              variable.dims.map((dim) => boundsText(variable.scope, dim, "1")),
            ),
          ]
        : []),
    ];
  });

/** A loop in C++. @throws Unlowerable if it cannot be written */
export function cppLoop(region: ParallelRegion, runtime: Runtime): CppLoop {
  const { scope, axes, reductions, left, body } = region;
  const [, number] = region.name.split("#");
  const stem = `${uniqueName(scope)}${number === undefined ? "" : `_loop${number}`}`;
  const [kernel, fold, launch] = ["kernel", "fold", "launch"].map((word) => `${stem}_${word}_`);
  const bounds = axes.flatMap(({ start, stop, step }) => [start, stop, step]);
  if (region.short) refuse(region.short, `launch of ${region.name}`, region.short.why, LAUNCH_REMEDY);
  const open = region.ofGrid ? axes[0] : axes.find(({ stop }) => !stop);
  if (open)
    refuse(
      region,
      `attributes(global) ${region.name}`,
      `no guard says where ${open.variable} ends`,
      `write \`if (${open.variable} > n) return\``,
    );
  const used = usedIn(scope, body, [...bounds, region.mask]);
  const inBounds = usedIn(scope, [], bounds);
  for (const { variable, expr } of inBounds.values())
    if (variable.dims && !variable.value)
      refuse(expr, variableName(expr), "the bounds of a parallel loop are in an array", "copy it to a variable");
  const isResult = (name: string): boolean => [...reductions, ...left].some((each) => each.name === name);
  const isAxis = (name: string): boolean => axes.some(({ variable }) => variable === name);
  const parameters: Parameter[] = [];
  const views: string[] = [];
  const own: Variable[] = [];
  const linear = reductions.length > 0 || left.length > 0 || axes.length > 3;
  for (const [name, each] of used) {
    const { variable, expr } = each;
    const { refused, type, dims } = variable;
    if (variable.value || isAxis(name)) continue;
    if (refused) refuse(expr, refused.construct, refused.why, refused.remedy);
    const written = region.written.has(name);
    if (isResult(name)) {
      if (type === "bool")
        refuse(region, `result ${name}`, "reductions of logical values, and flags, are not supported in C++", "use the target c");
      parameters.push({ name: ident(name), type, kind: "result", written, actual: expr });
    } else if (dims && isPrivate(region, each)) {
      if (region.carried.has(name))
        refuse(region, `firstprivate(${name})`, "private arrays begin without values in C++", "use the target c");
      views.push(...privateLines(scope, each));
    } else if (dims) {
      const actual = isSeenElsewhere(each) ? expr : apply("c_loc", expr);
      parameters.push({ name: `${ident(name)}_data_`, type, kind: "array", written, actual }, ...openBounds(each));
      views.push(viewLine(each, `${ident(name)}_data_`, !written, arrayBounds(each, variable.dummy ? scope : variable.scope)));
    } else if (written && !region.carried.has(name) && !inBounds.has(name)) own.push({ ...variable, name });
    else {
      const actual = type === "bool" ? apply("logical", expr, { kind: "name", name: "c_bool", at: expr.at }) : expr;
      // A thread that has several elements gives each of them the value from before.
      const copied = linear && written && !inBounds.has(name);
      if (copied) views.push(`${CPP_TYPES[type]} ${ident(name)} = ${ident(name)}_before_;`);
      parameters.push({ name: copied ? `${ident(name)}_before_` : ident(name), type, kind: "value", written: written && !copied, actual });
    }
  }
  parameters.sort((a, b) => rank(a) - rank(b));
  const out = new BracedLines();
  const { file, line } = region.at;
  out.add(`// ${commentText(file.replace(/^.*[\\/]/s, ""))}:${line}`);
  const given = parameters.filter(({ kind }) => kind !== "result");
  const taken = parameters.filter(({ kind }) => kind === "result");
  const results = taken.map((each) => paramResult(region, each));
  const parts = results.flatMap((result) => result.parts);
  const inMemory = parts.map(({ name, type }) => `${type} *__restrict__ ${name}_partials_`);
  const declared = [...given.map(declaration), ...inMemory];
  const constants = constantLines(used);
  const reduced = new Set(reductions.map(({ name }) => name));
  const statements = new Statements(scope, out, "return;", region, { flags: flagsOf(region), reduced });
  const element = (): void => {
    for (const text of [...scalarLines(own), ...views]) out.add(text);
    if (region.mask) out.block(`if (${cpp(scope, region.mask)})`, () => statements.print(body));
    else statements.print(body);
  };
  const isWritten = ({ variable }: LoopAxis): string => (region.written.has(variable) ? "" : "const ");
  const limit = region.launchBounds?.[0];
  const most = limit?.kind === "literal" ? Number(limit.text) : THREAD_BLOCK;
  const threads = linear ? THREAD_BLOCK : Math.min(THREAD_BLOCK, most);
  const block = linear || axes.length === 1 ? [threads] : [Math.min(64, threads), Math.max(1, Math.floor(threads / 64))];
  const trips = ({ start, stop, step }: LoopAxis): string =>
    `f::trips(${[start, stop!, ...(step ? [step] : [])].map((e) => cpp(scope, e)).join(", ")})`;
  const from = ({ start, step }: LoopAxis, index: string): string =>
    `${cpp(scope, start, 6)} + ${step ? `${index} * ${cpp(scope, step, 8)}` : index}`;
  const bounded = linear ? THREAD_BLOCK : threads;
  const inner = [...axes].reverse();

  out.block(`__global__ void __launch_bounds__(${bounded}) ${kernel}(${declared.join(", ")})`, () => {
    for (const text of constants) out.add(text);
    if (!linear) {
      inner.forEach((axis, n) => {
        const d = "xyz"[n];
        const index = `int(blockIdx.${d} * blockDim.${d} + threadIdx.${d})`;
        out.add(`${isWritten(axis)}int ${ident(axis.variable)} = ${from(axis, index)};`);
      });
      const outside = inner.map((axis, n) => {
        const { variable, stop, step } = axis;
        const d = "xyz"[n];
        return step
          ? `int(blockIdx.${d} * blockDim.${d} + threadIdx.${d}) >= ${trips(axis)}`
          : `${ident(variable)} > ${cpp(scope, stop!, 5)}`;
      });
      out.add(`if (${outside.join(" || ")}) return;`);
      return element();
    }
    for (const axis of inner) out.add(`const int ${ident(axis.variable)}_trips_ = ${trips(axis)};`);
    out.add(
      `const long long elements_ = ${inner.map(({ variable }, n) => `${n === 0 ? "1LL * " : ""}${ident(variable)}_trips_`).join(" * ")};`,
    );
    for (const text of results.flatMap(({ begin }) => begin)) out.add(text);
    const names = inner.map((axis) => `${isWritten(axis)}int ${ident(axis.variable)}`);
    // A function, as `return` may stand anywhere in it.
    out.block(`const auto element_ = [&](${names.join(", ")})`, element, "};");
    out.block("for (long long n_ = f::thread(); n_ < elements_; n_ += f::threads())", () => {
      let rest = "n_";
      const indices = inner.map((axis, n) => {
        const count = `${ident(axis.variable)}_trips_`;
        const index = n === inner.length - 1 ? `int(${rest})` : `int(${rest} % ${count})`;
        rest = `${rest} / ${count}`;
        return from(axis, index);
      });
      for (const text of results.flatMap(({ before }) => before)) out.add(text);
      out.add(`element_(${indices.join(", ")});`);
      for (const text of results.flatMap(({ after }) => after)) out.add(text);
    });
    for (const { name } of parts) out.add(`${name}_partials_[f::thread()] = ${name};`);
  });

  if (results.length > 0)
    out.block(`__global__ void ${fold}(${["const int count_", ...inMemory].join(", ")})`, () => {
      out.add("const int t_ = f::thread();");
      out.block("for (int n_ = t_ + f::threads(); n_ < count_; n_ += f::threads())", () => {
        for (const text of results.flatMap((result) => result.fold("t_", "n_"))) out.add(text);
      });
    });

  const start = (name: string, grid: string, size: string, args: readonly string[]): string =>
    runtime === "hip"
      ? `hipLaunchKernelGGL(${[name, `dim3(${grid})`, `dim3(${size})`, "0", "stream", ...args].join(", ")});`
      : `${name}<<<dim3(${grid}), dim3(${size}), 0, stream>>>(${args.join(", ")});`;
  const launched = [
    `${runtime}Stream_t stream`,
    ...given.map(declaration),
    ...taken.map(({ name, type }) => `${CPP_TYPES[type]} *${name}`),
  ];
  out.block(`extern "C" void ${launch}(${launched.join(", ")})`, () => {
    for (const text of constantLines(inBounds)) out.add(text);
    for (const axis of inner) out.add(`const int ${ident(axis.variable)}_trips_ = ${trips(axis)};`);
    const counts = inner.map(({ variable }) => `${ident(variable)}_trips_`);
    out.add(`if (${counts.map((count) => `${count} == 0`).join(" || ")}) return;`);
    const args = given.map(({ name }) => name);
    if (!linear) {
      const grid = counts.map((count, n) => (n < block.length ? `f::blocks(${count}, ${block[n]})` : count));
      out.add(start(kernel, grid.join(", "), block.slice(0, counts.length).join(", "), args));
    } else {
      out.add(`const long long elements_ = 1LL * ${counts.join(" * ")};`);
      out.add(`const int threads_ = f::threads_for(elements_);`);
      for (const { name, type } of parts) {
        out.add(`static ${type} *${name}_room_ = nullptr;`);
        out.add(`${type} *const ${name}_partials_ = f::partials(${name}_room_);`);
      }
      const partials = parts.map(({ name }) => `${name}_partials_`);
      out.add(start(kernel, `threads_ / ${THREAD_BLOCK}`, String(THREAD_BLOCK), [...args, ...partials]));
      if (results.length > 0) {
        out.add(start(fold, "1", String(THREAD_BLOCK), ["threads_", ...partials]));
        out.add(start(fold, "1", "1", [String(THREAD_BLOCK), ...partials]));
      }
    }
    out.add(`f::check(${runtime}GetLastError());`);
    for (const { end } of results) out.add(end);
    // Results wait for the kernel, too.
    if (isAwaited(region) && results.length === 0) out.add(`f::check(${runtime}StreamSynchronize(stream));`);
  });
  return { region, launch, parameters, lines: out.lines };
}

/** Whether statements after a loop find its results, as in all but CUDA Fortran. */
const isAwaited = ({ stmt }: ParallelRegion): boolean =>
  stmt !== undefined && !(stmt.kind === "directed" && stmt.directive.sentinel === "cuf");

/** Integers, other numbers, arrays of integers, other arrays, results. */
function rank({ kind, type }: Parameter): number {
  return kind === "result" ? 4 : (kind === "array" ? 2 : 0) + (isInteger(type) ? 0 : 1);
}

const declaration = ({ name, type, kind, written }: Parameter): string =>
  kind === "array"
    ? `${written ? "" : "const "}${memory(type)} *__restrict__ ${name}`
    : `${written ? "" : "const "}${CPP_TYPES[type]} ${name}`;

/** The procedures that statements call, those that these call first. `around`: those that are being looked at. */
export function calledIn(scope: UnitScope, stmts: readonly Stmt[], found: Set<UnitScope>, around: readonly UnitScope[] = [scope]): void {
  eachStatement(stmts, (s) => {
    const add = (name: string): void => {
      if (find(scope, name)?.dims) return;
      const procedure = findProcedure(scope, name);
      if (!procedure || found.has(procedure) || around.includes(procedure) || procedure.unit.kind === "module") return;
      calledIn(procedure, procedure.unit.body, found, [...around, procedure]);
      found.add(procedure);
    };
    if (s.kind === "call" && s.procedure.kind === "name") add(s.procedure.name);
    for (const e of expressionsOf(s))
      visitExpr(e, (each) => void (each.kind === "apply" && each.base.kind === "name" && add(each.base.name)));
  });
}

/** A procedure that device code calls. @throws Unlowerable */
export function deviceProcedure(scope: UnitScope): { readonly head: string; readonly lines: readonly string[] } {
  const { unit } = scope;
  if (unit.kind !== "procedure") throw new Error(`${unit.name} is not a procedure`);
  const written = writtenBy(scope);
  const used = usedIn(scope, unit.body);
  const views: string[] = [];
  const params = unit.dummies.flatMap((dummy): string[] => {
    const variable = scope.variables.get(dummy);
    if (!variable) return refuse(unit, dummy, "a dummy argument without a declaration", "declare its type");
    const name = ident(dummy);
    if (variable.refused) refuse(variable, variable.refused.construct, variable.refused.why, variable.refused.remedy);
    if (!variable.dims) {
      const isOwn = !written.has(dummy);
      return [`${CPP_TYPES[variable.type]} ${isOwn ? "" : "&"}${name}`];
    }
    const each: UsedName = { variable, expr: { kind: "name", name: dummy, at: variable.at } };
    views.push(viewLine(each, `${name}_data_`, !written.has(dummy), arrayBounds(each, scope)));
    const extents = variable.dims.flatMap((dim, axis) => (isOpen(dim) ? [`const int ${name}_extent${axis + 1}_`] : []));
    return [`${written.has(dummy) ? "" : "const "}${memory(variable.type)} *${name}_data_`, ...extents];
  });
  const result = unit.form === "function" ? (unit.result ?? unit.name) : undefined;
  const type = result === undefined ? "void" : CPP_TYPES[scope.variables.get(result)?.type ?? "f64"];
  const own: Variable[] = [];
  for (const [name, each] of used) {
    const { variable, expr } = each;
    if (variable.value || (variable.dummy && variable.scope === scope)) continue;
    if (variable.scope !== scope || expr.kind === "part")
      refuse(expr, name, "device code reads a module variable", "pass it as an argument");
    if (isSaved(variable)) refuse(expr, name, "it keeps its value between calls, which kernels cannot do", "pass it as an argument");
    if (variable.dims) views.push(...privateLines(scope, each));
    else own.push(variable);
  }
  if (result !== undefined && !used.has(result)) own.push(scope.variables.get(result)!);
  const out = new BracedLines();
  const leave = result === undefined ? "return;" : `return ${ident(result)};`;
  const head = `__device__ ${type} ${deviceName(scope)}(${params.join(", ")})`;
  out.block(head, () => {
    for (const text of [...constantLines(used), ...scalarLines(own), ...views]) out.add(text);
    new Statements(scope, out, leave, undefined).print(unit.body);
    if (result !== undefined) out.add(leave);
  });
  return { head, lines: out.lines };
}
