import { EmitError } from "../../base/errors.js";
import { foldsJointly } from "../../ir/joint.js";
import { Code } from "../c/code.js";
import { NO_JOINT_FOLDS } from "./js-folds.js";
import { LaunchWriter, type ArrayParameter, type BoxAxis, type LaunchLanguage, type Partials } from "./launch-writer.js";
import type { EmitRequest } from "./request.js";

/** Sum that the language adds up itself, over the variable that each element adds to. */
export interface Sum {
  readonly variable: string;
  readonly T: string;
  readonly result: string;
}

/** How a C++ library runs what a lambda does for each element. */
export interface LambdaLanguage extends LaunchLanguage {
  /** Writes a parallel loop over a box of elements around the text of `inside`. */
  elements(code: Code, axes: readonly BoxAxis[], atomic: boolean, inside: () => void): void;
  /** The same for `count` units, whose variable is `unit`; one after the other if `ordered`. */
  units(code: Code, unit: string, count: string, ordered: boolean, atomic: boolean, inside: () => void): void;
  /** Writes a block that runs on one thread. */
  once(code: Code, inside: () => void): void;
  /** Writes a parallel loop that adds up; `inside` is told whether it declares the variables of the sums. */
  sums?(code: Code, axes: readonly BoxAxis[], atomic: boolean, sums: readonly Sum[], inside: (declared: boolean) => void): void;
  /** Declares arrays for `count` partial results, lets `fill` write the loop that fills them, and folds each by `fold` to its result. */
  partials(code: Code, count: string, places: readonly Partials[], fill: () => void, fresh: (wish: string) => string): void;
  /** Last line of the function, where the loops do not return. */
  readonly ending: string | undefined;
  /** Declares an object `name` for an array, which lambdas take in place of the pointer. */
  wrap?(code: Code, name: string, array: ArrayParameter): void;
}

/** A kernel as one function that hands lambdas to a library. */
export function writeLambdas(request: EmitRequest, language: LambdaLanguage): string {
  if (foldsJointly(request.ir)) throw new EmitError(request.ir.name, "C++ with lambdas", ...NO_JOINT_FOLDS);
  return new LambdaWriter(request, language).text();
}

class LambdaWriter extends LaunchWriter<LambdaLanguage> {
  protected writeLaunch(code: Code): void {
    const { language } = this;
    code.block("", () => {
      if (language.wrap) this.wrap(code);
      if (this.isTeam || this.needsPartials) this.writeUnits(code);
      else this.writeElements(code);
      if (language.ending !== undefined) code.line(language.ending);
    });
  }

  private wrap(code: Code): void {
    for (const array of this.arrayParameters(code)) {
      const name = this.names.fresh(`${array.pointer}_view`);
      this.wrappers.set(array.pointer, name);
      this.language.wrap!(code, name, array);
    }
  }

  private writeElements(code: Code): void {
    const { language, axes, request, reductions } = this;
    const write = () => this.writer(code).statements(request.ir.body);
    if (this.ordered) return language.once(code, () => this.nested(code, axes, write));
    if (reductions.length === 0) return language.elements(code, axes, this.atomicUpdates, write);
    const declarations = new Code();
    const totals = this.frame.accumulate(this.writer(declarations), reductions);
    const sums = reductions.map(({ name, type }, n) => ({
      variable: totals[n],
      T: language.dialect.types[type],
      result: this.arg({ kind: "result", name }),
    }));
    language.sums!(code, axes, this.atomicUpdates, sums, (declared) => {
      if (declared) code.text(declarations.toString().trimEnd());
      write();
    });
  }

  private nested(code: Code, [axis, ...inner]: readonly BoxAxis[], write: () => void): void {
    if (axis === undefined) return write();
    const { index, begin, end } = axis;
    code.block(`for (int64_t ${index} = ${begin}; ${index} < ${end}; ${index}++)`, () => this.nested(code, inner, write));
  }

  private writeUnits(code: Code): void {
    const { language, unit } = this;
    const count = this.unitCount(code);
    const places = this.partialPlaces();
    const tell = (results: readonly string[]) => places.forEach(({ place }, n) => code.line(`${place}[${unit}] = ${results[n]};`));
    const fill = () => language.units(code, unit, count, this.ordered, this.atomicUpdates, () => this.writeUnit(code, tell));
    language.partials(code, count, places, fill, (wish) => this.names.fresh(wish));
  }
}
