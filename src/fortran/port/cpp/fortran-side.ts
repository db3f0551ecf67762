/* Fortran side of a file whose loops are in C++: its procedures, which launch them. */

import type { ScalarType } from "../../../ir/types.js";
import { find, isStreamKind, type UnitScope } from "../../analyse/symbols.js";
import { namesInTree, rootOf, withBodies } from "../../analyse/visit.js";
import type { Problems } from "../../errors.js";
import type { Declaration, Expr, Interface, Name, Procedure, SourceFile, Stmt, Unit, Use, VariableDeclaration } from "../../tree/index.js";
import { withDataNote } from "../data.js";
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
  bool: "logical(c_bool)",
};

/** Launches in a unit. */
interface Launched {
  readonly loops: CppLoop[];
  /** Whether it also waits for the device. */
  waits: boolean;
}

/** The file with calls in place of its loops; `synchronise` is the function that waits for the device. */
export function fortranSide(
  file: SourceFile,
  loops: readonly CppLoop[],
  { synchronise, target, scopes }: { readonly synchronise: string; readonly target: CppTarget; readonly scopes: readonly UnitScope[] },
  problems: Problems,
): SourceFile {
  const scopeOf = new Map(scopes.map((scope) => [unitKey(scope.unit), scope]));
  const kept = new Map<string, { readonly names: readonly string[]; readonly scope: UnitScope }>();
  for (const scope of scopes) {
    const regions = loops.flatMap(({ region }) => (region.scope === scope ? [region] : []));
    for (const [place, names] of keptIn(scope, regions, false)) kept.set(place, { names, scope });
  }
  // By their places: symbols have statements of their own where a unit has blocks.
  const ofStatements = new Map(loops.flatMap((loop) => (loop.region.stmt ? [[sourceKey(loop.region.stmt.at), loop] as const] : [])));
  const ofKernels = new Map(loops.flatMap((loop) => (loop.region.stmt ? [] : [[unitKey(loop.region.scope.unit), loop] as const])));
  /** Arrays that some launch is given, by the units that declare them. */
  const targets = new Map<string, Set<string>>();
  for (const { region, parameters } of loops)
    for (const { kind, actual } of parameters) {
      if (kind !== "array" || actual.kind !== "apply" || actual.args[0].kind !== "value") continue;
      const root = rootOf(actual.args[0].value)!;
      for (let scope: typeof region.scope | undefined = region.scope; scope; scope = scope.parent)
        if (scope.variables.has(root)) {
          targets.set(unitKey(scope.unit), (targets.get(unitKey(scope.unit)) ?? new Set()).add(root));
          break;
        }
    }
  return plain({ ...file, units: file.units.map((unit) => changed(unit, []) as Unit) }, target, problems);

  function changed(unit: Unit, around: readonly Unit[]): Unit {
    const inner = unit.procedures.flatMap((procedure) =>
      isDevices(procedure) ? [] : [changed(procedure, [...around, unit]) as Procedure],
    );
    const declared = unit.declarations.flatMap((d) => declarations(d, targets.get(unitKey(unit)) ?? new Set()));
    if (unit.kind === "module") return { ...unit, procedures: inner, declarations: declared };
    const found: Launched = { loops: [], waits: false };
    const kernel = ofKernels.get(unitKey(unit));
    const body = kernel ? [] : replaced(unit.body, unit, around, found);
    if (!kernel && found.loops.length === 0 && !found.waits) return { ...unit, procedures: inner, declarations: declared, body };
    const used: Declaration[] = kernel
      ? declared.filter((d) => d.kind !== "variables" || keepsAny(d, unit)).map((d) => onlyArguments(d, unit))
      : declared;
    const made = {
      ...unit,
      procedures: inner,
      uses: [...unit.uses, iso(unit)],
      declarations: [...used, ...(kernel ? streams(unit) : []), interfaces(kernel ? [kernel] : found.loops, found.waits, unit)],
      body: kernel ? kernelBody(kernel, unit) : body,
    };
    return kernel && unit.kind === "procedure" ? ({ ...made, kind: "procedure", dummies: [...unit.dummies, STREAM] } as Procedure) : made;
  }

  function replaced(body: readonly Stmt[], unit: Unit, around: readonly Unit[], found: Launched): Stmt[] {
    return body.flatMap((s): Stmt[] => {
      const loop = isLaunch(s) ? ofStatements.get(sourceKey(s.at)) : undefined;
      if (loop) {
        found.loops.push(loop);
        const { at, before } = s;
        return [{ ...launch(loop, streamOf(loop.region.stream, unit, around)), at, ...(before && { before }) }];
      }
      if (s.kind === "directed") {
        // Threads of the host, or of a device, would all launch the loops within.
        const { before, at } = withDataNote(s, target);
        const own = kept.get(sourceKey(at));
        const inside = replaced(s.body, unit, around, found);
        const body = own ? withKept(inside, own.names, own.scope, problems) : inside;
        return before ? [{ kind: "comment", before, at }, ...body] : body;
      }
      const copies = s.kind === "assign" && isTransfer(s, scopeOf.get(unitKey(unit)));
      if (copies || isWait(s)) {
        found.waits = true;
        const { at, before, ...rest } = s;
        const call: Stmt = { kind: "call", procedure: { kind: "name", name: synchronise, at }, args: [], at, ...(before && { before }) };
        return copies ? [call, { ...rest, at } as Stmt] : [call];
      }
      if (s.kind === "call" && s.launch) {
        const { stream } = s.launch;
        const given = stream && streamOf(stream, unit, around);
        const more = given ? [{ kind: "value", keyword: STREAM, value: given } as const] : [];
        return [{ ...s, launch: undefined, args: [...s.args, ...more] }];
      }
      return [withBodies(s, (part) => replaced(part, unit, around, found))];
    });
  }

  /** A stream as Fortran has it here: a pointer. */
  function streamOf(e: Expr | undefined, unit: Unit, around: readonly Unit[]): Expr {
    const none: Expr = { kind: "name", name: "c_null_ptr", at: unit.at };
    if (!e || (e.kind === "literal" && e.text === "0")) return none;
    if (
      e.kind === "name" &&
      [unit, ...around].some((each) =>
        each.declarations.some((d) => d.kind === "variables" && isStream(d) && d.names.some(({ name }) => name === e.name)),
      )
    )
      return e;
    problems.add(e.at, "stream", "it is not a variable of kind cuda_stream_kind", "declare it integer(cuda_stream_kind)");
    return none;
  }

  function interfaces(launches: readonly CppLoop[], wait: boolean, unit: Unit): Interface {
    const text = ["interface"];
    for (const { launch: name, parameters } of launches) {
      text.push(
        `  subroutine ${name}(${["stream_", ...parameters.map((each) => each.name)].join(", ")}) bind(c, name="${name}")`,
        "    use, intrinsic :: iso_c_binding",
        "    type(c_ptr), value :: stream_",
      );
      for (const [type, names] of grouped(parameters)) text.push(`    ${type} :: ${names.join(", ")}`);
      text.push(`  end subroutine ${name}`);
    }
    if (wait) text.push(`  subroutine ${synchronise}() bind(c, name="${synchronise}")`, `  end subroutine ${synchronise}`);
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

const iso = ({ at }: Unit): Use => {
  const names = ["c_ptr", "c_null_ptr", "c_loc", "c_bool", "c_int"].map((name) => ({ name, original: name }));
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
