/*
 * STREAmS-2's kernels with one place changed: a routine, with the device procedures that it may call, printed from the syntax tree. Places are drawn,
 * so that nothing of the text stands here.
 */
import { regionsOf } from "../../src/fortran/analyse/regions.js";
import { readSymbols, type UnitScope } from "../../src/fortran/analyse/symbols.js";
import { eachNode, eachStatement, namesInTree } from "../../src/fortran/analyse/visit.js";
import { Problems } from "../../src/fortran/errors.js";
import { parse } from "../../src/fortran/parse/index.js";
import { fortranText } from "../../src/fortran/print/units.js";
import type { Apply, Assign, Binary, Expr, Literal, Module, Procedure, SourceFile, ValueArgument } from "../../src/fortran/tree/index.js";
import { streamsText } from "./streams.js";

export const MUTATIONS = ["coefficient", "index", "sign", "literal's kind", "value before", "axes swapped"] as const;
export type Mutation = (typeof MUTATIONS)[number];

export interface Mutant {
  /** Routines that the host calls and that run the changed code. */
  readonly routines: readonly string[];
  /** What was changed: the kind, the procedure, the file's line, and the place among those of the kind. */
  readonly what: string;
  /** One of the routines with what it may call, as it is and changed. */
  text(routine: string, changed: boolean): string;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const isDevice = ({ attributes }: Procedure): boolean => attributes.includes("device");

export class Mutants {
  private readonly problems = new Problems();
  private readonly file: SourceFile;
  private readonly scopes: ReadonlyMap<string, UnitScope>;
  private readonly module: Module;

  constructor() {
    this.file = parse(streamsText("singleideal/kernels_gpu.F90"), { file: "kernels_gpu.F90" }, this.problems);
    const { scopes } = readSymbols([this.file], { rkind: "f64", ikind: "i32" }, this.problems);
    this.scopes = new Map(scopes.map((scope) => [scope.unit.name, scope]));
    this.module = this.file.units[0] as Module;
  }

  /** The file changed at the place that `pick` draws; undefined where nothing of the kind stands there. */
  mutant(kind: Mutation, pick: (below: number) => number): Mutant | undefined {
    const drawn = this.module.procedures[pick(this.module.procedures.length)];
    const changed = structuredClone(drawn);
    const places = this.places(kind, changed);
    const routines = this.users(drawn).map(({ name }) => name);
    if (places.length === 0 || routines.length === 0) return undefined;
    const n = pick(places.length);
    const { line, change } = places[n];
    change();
    return {
      routines,
      what: `${kind}, ${drawn.name}, line ${line} (${n + 1} of ${places.length})`,
      text: (routine, isChanged) => this.text(routine, isChanged ? changed : drawn),
    };
  }

  /** The procedure itself if the host calls it, else those that call it. */
  private users(unit: Procedure): Procedure[] {
    if (!isDevice(unit)) return [unit];
    return this.module.procedures
      .filter((user) => user !== unit && namesInTree(user.body).has(unit.name))
      .flatMap((user) => this.users(user));
  }

  private text(routine: string, unit: Procedure): string {
    const wanted = this.module.procedures.filter((each) => isDevice(each) || each.name === routine);
    const procedures = wanted.map((each) => (each.name === unit.name ? unit : each));
    return fortranText({ ...this.file, units: [{ ...this.module, procedures }] });
  }

  private places(kind: Mutation, unit: Procedure): { line: number; change: () => void }[] {
    const found: { line: number; change: () => void }[] = [];
    const scope = this.scopes.get(unit.name)!;
    const add = (at: { line: number }, change: () => void): void => void found.push({ line: at.line, change });
    const expressions = (visit: (e: Expr) => void): void => eachNode(unit.body, (node) => visit(node as Expr));
    const elements = (visit: (e: Apply & { args: readonly ValueArgument[] }) => void): void =>
      expressions((e) => {
        if (e.kind === "apply" && e.base.kind === "name" && scope.variables.get(e.base.name)?.dims)
          if (e.args.every((arg) => arg.kind === "value")) visit(e as Apply & { args: readonly ValueArgument[] });
      });
    const reals = (visit: (e: Writable<Literal>, value: number) => void): void =>
      expressions((e) => {
        if (e.kind === "literal" && e.type === "real") visit(e, Number(e.text.replace(/d/i, "e")));
      });
    switch (kind) {
      case "coefficient":
        reals((e, value) => value !== 0 && add(e.at, () => void (e.text = (value * 1.001).toExponential(15))));
        break;
      case "literal's kind":
        reals((e, value) => e.suffix && Math.fround(value) !== value && add(e.at, () => void delete e.suffix));
        break;
      case "sign":
        expressions((e) => {
          if (e.kind === "binary" && (e.op === "+" || e.op === "-"))
            add(e.at, () => void ((e as Writable<Binary>).op = e.op === "+" ? "-" : "+"));
        });
        break;
      case "index":
        elements(({ args, at }) =>
          args.forEach((arg: Writable<ValueArgument>, n) =>
            add(at, () => {
              const one: Expr = { kind: "literal", type: "integer", text: "1", at };
              arg.value = { kind: "binary", op: n % 2 === 0 ? "+" : "-", a: arg.value, b: one, at };
            }),
          ),
        );
        break;
      case "axes swapped":
        elements((e) => {
          if (e.args.length < 2) return;
          const [first, second, ...rest] = e.args;
          add(e.at, () => void ((e as Writable<Apply>).args = [second, first, ...rest]));
        });
        break;
      case "value before": {
        const names = new Set(regionsOf(scope).flatMap(({ reductions }) => reductions.map(({ name }) => name)));
        const inside = new Set<number>(regionsOf(scope).flatMap(({ body }) => lines(body)));
        eachStatement(unit.body, (s) => {
          if (s.kind !== "assign" || s.target.kind !== "name" || !names.has(s.target.name) || inside.has(s.at.line)) return;
          const { value, at } = s;
          const one: Expr = { kind: "literal", type: "integer", text: "1", at };
          add(at, () => void ((s as Writable<Assign>).value = { kind: "binary", op: "+", a: value, b: one, at }));
        });
        break;
      }
      default:
        kind satisfies never;
    }
    return found;
  }
}

function lines(body: Procedure["body"]): number[] {
  const found: number[] = [];
  eachStatement(body, ({ at }) => void found.push(at.line));
  return found;
}
