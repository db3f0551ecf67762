/* Fortran side of a file whose loops are in C++: its procedures, which launch them. */

import type { ScalarType } from "../../../ir/types.js";
import { find, isStreamKind, type UnitScope } from "../../analyse/symbols.js";
import { namesInTree, rootOf, withBodies } from "../../analyse/visit.js";
import type { Problems } from "../../errors.js";
import type {
  Declaration,
  Directive,
  Expr,
  Interface,
  Name,
  Procedure,
  SourceFile,
  Stmt,
  Unit,
  Use,
  VariableDeclaration,
} from "../../tree/index.js";
import { asLines } from "../lines.js";
import { dataInterfaces, type Called } from "../data/calls.js";
import { calledData, lent, onHost, withAllocatedCalls, withCalledData, withDeclaredCalls, type CallPlace } from "../data/cpp.js";
import { clausesIn, conditionsOf, dataKind, isCompute, isHosts } from "../../data/items.js";
import { holdsConstruct } from "../data/loops.js";
import { declaredAround } from "../data/offload.js";
import { keptIn, withKept } from "../kept.js";
import { unitKey, sourceKey } from "../../tree/keys.js";
import { isSynchronisation, plain } from "../plain.js";
import type { CppTarget } from "../targets.js";
import type { CppLoop, Parameter } from "./types.js";

/** For a kernel's procedure: the stream that it is launched in. */
const STREAM = "launch_stream";
const OWN_STREAM = "stream_of_launch";

const KINDS: Readonly<Record<ScalarType, string>> = {
  f64: "real(c_double)",
  f32: "real(c_float)",
  i32: "integer(c_int)",
  u32: "integer(c_int)",
  i64: "integer(c_int64_t)",
  u64: "integer(c_int64_t)",
  bool: "logical(c_bool)",
};

/** Calls of C++ in a unit. */
interface Launched {
  readonly loops: CppLoop[];
  /** Whether it also waits for the device. */
  waits: boolean;
  /** Procedures that keep arrays on the device. */
  readonly called: Called;
}

/** The units and directives around a statement. */
interface Surroundings {
  readonly unit: Unit;
  readonly outer: readonly Unit[];
  readonly directives: readonly Directive[];
  readonly found: Launched;
  /** Whether a condition of a construct around has kept it on the host. */
  readonly isOnHost?: true;
}

/**
 * The file with calls in place of its loops; `synchronise` is the function that waits for the device.
 *
 * @param hasData whether data stay on the device from one construct to the next
 */
export function fortranSide(
  file: SourceFile,
  loops: readonly CppLoop[],
  {
    synchronise,
    target,
    scopes,
    hasData,
  }: { readonly synchronise: string; readonly target: CppTarget; readonly scopes: readonly UnitScope[]; readonly hasData: boolean },
  problems: Problems,
): { readonly file: SourceFile; readonly keepsData: boolean } {
  const scopeOf = new Map(scopes.map((scope) => [unitKey(scope.unit), scope]));
  const kept = new Map<string, { readonly names: readonly string[]; readonly scope: UnitScope }>();
  for (const scope of scopes) {
    const regions = loops.flatMap(({ region }) => (region.scope === scope ? [region] : []));
    for (const [place, names] of keptIn(scope, regions, false)) kept.set(place, { names, scope });
  }
  // By their places: symbols have statements of their own where a unit has blocks.
  const ofStatements = new Map(loops.flatMap((loop) => (loop.region.stmt ? [[sourceKey(loop.region.stmt.at), loop] as const] : [])));
  const ofKernels = new Map(loops.flatMap((loop) => (loop.region.stmt ? [] : [[unitKey(loop.region.scope.unit), loop] as const])));
  /** Arrays that some launch is given by their own addresses, by the units that declare them. */
  const targets = new Map<string, Set<string>>();
  let keepsData = false;
  for (const loop of ofKernels.values()) addTargets(loop);
  const units = file.units.map((unit) => changed(unit, []) as Unit);
  return { file: plain({ ...file, units }, target, problems), keepsData };

  function addTargets({ region, parameters }: CppLoop): void {
    for (const { kind, actual } of parameters) {
      if (kind !== "array" || actual.kind !== "apply" || rootOf(actual) !== "c_loc" || actual.args[0].kind !== "value") continue;
      const root = rootOf(actual.args[0].value)!;
      for (let scope: typeof region.scope | undefined = region.scope; scope; scope = scope.parent)
        if (scope.variables.has(root)) {
          targets.set(unitKey(scope.unit), (targets.get(unitKey(scope.unit)) ?? new Set()).add(root));
          break;
        }
    }
  }

  function changed(unit: Unit, outer: readonly Unit[]): Unit {
    const inner = unit.procedures.flatMap((procedure) => (isDevices(procedure) ? [] : [changed(procedure, [...outer, unit]) as Procedure]));
    const own = (): Declaration[] => unit.declarations.flatMap((d) => declarations(d, targets.get(unitKey(unit)) ?? new Set()));
    if (unit.kind === "module") return { ...unit, procedures: inner, declarations: own() };
    const found: Launched = { loops: [], waits: false, called: new Set() };
    const kernel = ofKernels.get(unitKey(unit));
    const body = kernel ? [] : bodyOf(unit, { unit, outer, directives: declaredAround(unit), found });
    const declared = own();
    keepsData ||= found.called.size > 0;
    if (!kernel && found.loops.length === 0 && !found.waits && found.called.size === 0)
      return { ...unit, procedures: inner, declarations: declared, body };
    const used: Declaration[] = kernel
      ? declared.filter((d) => d.kind !== "variables" || keepsAny(d, unit)).map((d) => onlyArguments(d, unit))
      : declared;
    const made = {
      ...unit,
      procedures: inner,
      uses: [...unit.uses, iso(unit, found)],
      declarations: [...used, ...(kernel ? streams(unit) : []), interfaces(kernel ? [kernel] : found.loops, found, unit)],
      body: kernel ? kernelBody(kernel, unit) : body,
    };
    return kernel && unit.kind === "procedure" ? ({ ...made, kind: "procedure", dummies: [...unit.dummies, STREAM] } as Procedure) : made;
  }

  function bodyOf(unit: Exclude<Unit, { kind: "module" }>, around: Surroundings): Stmt[] {
    const place = callPlace(around);
    const body = replaced(unit.body, around);
    return place && unit.kind === "procedure" ? withDeclaredCalls(body, around.directives, place) : body;
  }

  function callPlace({ unit, found }: Surroundings): CallPlace | undefined {
    const scope = scopeOf.get(unitKey(unit));
    return scope && { scope, problems, called: found.called };
  }

  function replaced(body: readonly Stmt[], around: Surroundings): Stmt[] {
    const { unit, outer, found, directives } = around;
    const place = callPlace(around);
    return body.flatMap((s): Stmt[] => {
      const loop = isLaunch(s) ? ofStatements.get(sourceKey(s.at)) : undefined;
      if (loop) return eitherSide(s, around, (side) => launched(loop, s, side));
      if (s.kind === "directed") return eitherSide(s, around, (side) => directed(s, side));
      const copies = s.kind === "assign" && isTransfer(s, scopeOf.get(unitKey(unit)));
      if (copies || isWait(s)) {
        found.waits = true;
        const { at, before, ...rest } = s;
        const call: Stmt = { kind: "call", procedure: { kind: "name", name: synchronise, at }, args: [], at, ...(before && { before }) };
        return copies ? [call, { ...rest, at } as Stmt] : [call];
      }
      if (s.kind === "call" && s.launch) {
        const { stream } = s.launch;
        const given = stream && streamOf(stream, unit, outer);
        const more = given ? [{ kind: "value", keyword: STREAM, value: given } as const] : [];
        return [{ ...s, launch: undefined, args: [...s.args, ...more] }];
      }
      if (hasData && place && directives.some(isCompute) && !holdsConstruct(s)) return onHost(s, directives, place);
      const made = asLines(withBodies(s, (part) => replaced(part, around)));
      return hasData && place ? withAllocatedCalls(made, place) : [made];
    });
  }

  /** Statements for a construct; two versions where a condition tells whether it runs on the device. */
  function eitherSide(s: Stmt, around: Surroundings, make: (side: Surroundings) => Stmt[]): Stmt[] {
    const [condition] = hasData && s.kind === "directed" && isCompute(s.directive) ? conditionsOf(clausesIn(s)) : [];
    if (condition?.kind !== "condition" || around.isOnHost) return make(around);
    const { at } = s;
    const branches = [{ cond: condition.value, body: make(around), at }];
    return [{ kind: "if", branches, otherwise: make({ ...around, isOnHost: true }), oneLine: false, at }];
  }

  /** A directive that is not of a loop. Threads of the host, or of a device, would all launch the loops within: of it, only the data stay. */
  function directed(s: Extract<Stmt, { kind: "directed" }>, around: Surroundings): Stmt[] {
    const place = callPlace(around);
    const own = kept.get(sourceKey(s.at));
    const isHosts = around.isOnHost && isCompute(s.directive);
    const inside = replaced(s.body, isHosts ? around : { ...around, directives: [...around.directives, s.directive] });
    const body = own ? withKept(inside, own.names, own.scope, problems) : inside;
    const isOfData = dataKind(s.directive) !== undefined;
    const made =
      place && isOfData ? calledData(s, body, place) : place && isCompute(s.directive) && !isHosts ? withCalledData(s, body, place) : body;
    const { before, at } = s;
    return before ? [{ kind: "comment", before, at }, ...made] : made;
  }

  /** The call that launches a loop, between calls that lend it its arrays. */
  function launched(loop: CppLoop, s: Stmt, around: Surroundings): Stmt[] {
    const { unit, outer, directives, found } = around;
    const { region } = loop;
    const isCuda = s.kind === "directed" && s.directive.sentinel === "cuf";
    const place = callPlace(around);
    const before: Stmt[] = [];
    const after: Stmt[] = [];
    const parameters = loop.parameters.map((parameter): Parameter => {
      if (isCuda || !place || parameter.kind !== "array") return parameter;
      const hosts =
        hasData && (around.isOnHost === true || s.kind === "do-concurrent" || (s.kind === "directed" && isHosts(s, directives)));
      const array = lent(parameter, { own: clausesIn(s), around: directives }, hosts, { ...place, scope: region.scope });
      if (!array) return parameter;
      before.push(...array.before);
      after.unshift(...array.after);
      return { ...parameter, actual: array.address };
    });
    const made = { ...loop, parameters };
    found.loops.push(made);
    addTargets(made);
    // Launches of OpenACC wait, so that queues have no meaning.
    const stream = isCuda ? streamOf(region.stream, unit, outer) : streamOf(undefined, unit, outer);
    const { at } = s;
    const calls = [...before, { ...launch(made, stream), at }, ...after];
    return s.before ? [{ ...calls[0], before: s.before }, ...calls.slice(1)] : calls;
  }

  /** A stream as Fortran has it here: a pointer. */
  function streamOf(e: Expr | undefined, unit: Unit, outer: readonly Unit[]): Expr {
    const none: Expr = { kind: "name", name: "c_null_ptr", at: unit.at };
    if (!e || (e.kind === "literal" && e.text === "0")) return none;
    if (
      e.kind === "name" &&
      [unit, ...outer].some((each) =>
        each.declarations.some((d) => d.kind === "variables" && isStream(d) && d.names.some(({ name }) => name === e.name)),
      )
    )
      return e;
    problems.add(e.at, "stream", "it is not a variable of kind cuda_stream_kind", "declare it integer(cuda_stream_kind)");
    return none;
  }

  function interfaces(launches: readonly CppLoop[], { waits, called }: Launched, unit: Unit): Interface {
    const text = ["interface"];
    const once = new Map(launches.map((each) => [each.launch, each]));
    for (const { launch: name, parameters } of once.values()) {
      text.push(
        `  subroutine ${name}(${["stream_", ...parameters.map((each) => each.name)].join(", ")}) bind(c, name="${name}")`,
        "    use, intrinsic :: iso_c_binding",
        "    type(c_ptr), value :: stream_",
      );
      for (const [type, names] of grouped(parameters)) text.push(`    ${type} :: ${names.join(", ")}`);
      text.push(`  end subroutine ${name}`);
    }
    text.push(...dataInterfaces(called));
    if (waits) text.push(`  subroutine ${synchronise}() bind(c, name="${synchronise}")`, `  end subroutine ${synchronise}`);
    return { kind: "interface", text: [...text, "end interface"], at: unit.at };
  }
}

/** Declarations in the interface. */
function grouped(parameters: readonly Parameter[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, type, kind, wide, actual } of parameters) {
    const ofArray = actual.kind === "apply" ? "type(c_ptr), value" : "type(*), dimension(*)";
    const plain = wide ? "integer(c_long_long)" : KINDS[type];
    const words = kind === "array" ? ofArray : kind === "value" ? `${plain}, value` : plain;
    found.set(words, [...(found.get(words) ?? []), name]);
  }
  return found;
}

const isDevices = ({ attributes }: Procedure): boolean => attributes.includes("device") && !attributes.includes("host");

/** The call of a launch. Results of other kinds than C's go through variables of its kinds. */
function launch({ launch: name, parameters }: CppLoop, stream: Expr): Stmt {
  const { at } = stream;
  const through = parameters.filter((each) => each.held);
  const held = ({ name }: Parameter): Expr => ({ kind: "name", name: `${name}_held`, at });
  const actuals = parameters.map((each) => (each.held ? held(each) : each.actual));
  const args = [stream, ...actuals].map((value) => ({ kind: "value", value }) as const);
  const call: Stmt = { kind: "call", procedure: { kind: "name", name, at }, args, at };
  if (through.length === 0) return call;
  const assign = (target: Expr, value: Expr): Stmt => ({ kind: "assign", target: target as Name, value, at });
  const declarations = through.map((each): Declaration => {
    const type = { type: each.type === "bool" ? "logical" : "integer", text: KINDS[each.type], at } as const;
    return { kind: "variables", type, attributes: [], names: [{ name: `${each.name}_held`, at }], at };
  });
  const body = [...through.map((each) => assign(held(each), each.actual)), call, ...through.map((each) => assign(each.actual, held(each)))];
  return { kind: "block", declarations, body, at };
}

/** A kernel's procedure launches it, in the stream that it is given. */
function kernelBody(kernel: CppLoop, { at }: Unit): Stmt[] {
  const name = (of: string): Extract<Expr, { kind: "name" }> => ({ kind: "name", name: of, at });
  const given: Expr = { kind: "apply", base: name("present"), args: [{ kind: "value", value: name(STREAM) }], at };
  const assign = (value: string): Stmt => ({ kind: "assign", target: name(OWN_STREAM), value: name(value), at });
  return [
    assign("c_null_ptr"),
    { kind: "if", oneLine: true, branches: [{ cond: given, body: [assign(STREAM)], at }], at },
    launch(kernel, name(OWN_STREAM)),
  ];
}

function streams({ at }: Unit): Declaration[] {
  const type = { type: "derived", derived: "c_ptr", text: "type(c_ptr)", at } as const;
  return [
    { kind: "variables", type, attributes: ["intent(in)", "optional"], names: [{ name: STREAM, at }], at },
    { kind: "variables", type, attributes: [], names: [{ name: OWN_STREAM, at }], at },
  ];
}

const iso = ({ at }: Unit, { called }: Launched): Use => {
  const data = called.size > 0 ? ["c_size_t", "c_null_char", ...(called.has("c_f_pointer") ? ["c_f_pointer"] : [])] : [];
  const names = ["c_ptr", "c_null_ptr", "c_loc", "c_bool", "c_int", ...data].map((name) => ({ name, original: name }));
  return { module: "iso_c_binding", intrinsic: true, only: names, renames: [], at };
};

/** Whether declarations of a kernel stay: those with arguments and constants do. */
const keepsAny = (d: VariableDeclaration, unit: Unit): boolean => d.names.some(({ name }) => stays(d, name, unit));
const stays = (d: VariableDeclaration, name: string, unit: Unit): boolean =>
  d.attributes.includes("parameter") || (unit.kind === "procedure" && unit.dummies.includes(name));
const onlyArguments = (d: Declaration, unit: Unit): Declaration =>
  d.kind === "variables" ? { ...d, names: d.names.filter(({ name }) => stays(d, name, unit)) } : d;

const isStream = (d: Declaration): boolean => d.kind === "variables" && isStreamKind(d.type);

/** Declarations with `target` for arrays that launches are given. */
function declarations(d: Declaration, targets: ReadonlySet<string>): Declaration[] {
  if (d.kind !== "variables") return [d];
  if (isStream(d)) return [{ ...d, type: { ...d.type, type: "derived", derived: "c_ptr", kindOf: undefined, text: "type(c_ptr)" } }];
  const given = d.names.filter(({ name }) => targets.has(name));
  if (given.length === 0 || d.attributes.some((attribute) => ["target", "pointer", "parameter"].includes(attribute))) return [d];
  const others = d.names.filter(({ name }) => !targets.has(name));
  const attributes = [...d.attributes, "target"];
  if (others.length === 0) return [{ ...d, attributes }];
  return [
    { ...d, names: others },
    { ...d, names: given, attributes, before: undefined, behind: undefined },
  ];
}

/** `ierr = cudadevicesynchronize()`, `call cudadevicesynchronize` */
function isWait(s: Stmt): boolean {
  const name = s.kind === "assign" && s.value.kind === "apply" ? rootOf(s.value) : s.kind === "call" ? rootOf(s.procedure) : undefined;
  return name !== undefined && name.endsWith("synchronize") && isSynchronisation(name);
}

const isLaunch = ({ kind }: Stmt): boolean => kind === "directed" || kind === "do-concurrent";

/** Whether an assignment reads or writes memory of the device, which waits for its kernels in CUDA Fortran. */
const isTransfer = (s: Stmt, scope: UnitScope | undefined): boolean =>
  scope !== undefined && [...namesInTree(s)].some((name) => find(scope, name)?.attributes.has("device"));
