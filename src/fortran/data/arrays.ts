/* Arrays that data directives name: whole, by section, as components, and all arrays that an object holds in itself. */

import { find, namedVariable, nestedComponents, ownerOf, type UnitScope, type Variable } from "../analyse/symbols.js";
import { eachNode } from "../analyse/visit.js";
import type { Problems } from "../errors.js";
import { expressionText } from "../print/expressions.js";
import type { Apply, ComponentRef, Designator, Directive, Name, SourceFile } from "../tree/index.js";
import { dataItems, dataKind, type DataItem } from "./items.js";

/** Place in a program, and where what is wrong is added. */
export interface DataPlace {
  readonly scope: UnitScope;
  readonly problems: Problems;
}

export interface NamedArray {
  readonly whole: Name | ComponentRef;
  /** Absent: all elements. */
  readonly section?: Apply["args"];
  readonly variable: Variable;
  readonly at: Designator["at"];
}

/** The arrays that a designator is; none for scalars: loops take their values. */
export function arraysOf(object: Designator, { scope, problems }: DataPlace): NamedArray[] {
  const { at } = object;
  const whole = object.kind === "apply" ? object.base : object;
  const refuse = (why: string, remedy: string): NamedArray[] => {
    problems.add(at, expressionText(object), why, remedy);
    return [];
  };
  if (isOfElement(whole))
    return refuse("data directives of arrays of objects are not supported", "keep the arrays in variables of their own");
  const variable = namedVariable(scope, whole);
  if (!variable) return refuse("it is not known what a data directive names", "give the file that declares it");
  if (variable.derived !== undefined) {
    if (variable.dims) return refuse("data directives of arrays of objects are not supported", "keep the arrays in variables of their own");
    return nestedComponents(scope, whole).flatMap((part) => {
      const inside = namedVariable(scope, part);
      const isInside = inside?.dims && inside.derived === undefined && !isElsewhere(inside);
      return isInside ? [{ whole: part, variable: inside, at }] : [];
    });
  }
  if (!variable.dims) return [];
  if (object.kind !== "apply") return [{ whole, variable, at }];
  if (object.args.some((arg) => arg.kind === "section" && arg.step))
    return refuse("a section with a stride is not supported", "name the elements between its ends");
  return [{ whole, section: object.args, variable, at }];
}

const isOfElement = (e: Name | ComponentRef): boolean =>
  e.kind === "part" && (e.base.kind === "apply" || (e.base.kind === "part" && isOfElement(e.base)));

/** Whether the memory of a component is not within its object: the bounds come with the array. */
const isElsewhere = ({ dims }: Variable): boolean => dims!.some(({ upper }) => !upper);

/** How `declare` of OpenACC, or of either standard, has a variable on the device; undefined where it does not. */
export function declaredAs(variable: Variable, problems: Problems, either = true): DataItem | undefined {
  for (const d of ownerOf(variable).unit.declarations) {
    const directive = d.kind === "other" ? d.directive : undefined;
    if (!directive || dataKind(directive) !== "declare" || !(either || directive.sentinel === "acc")) continue;
    const item = dataItems(directive, problems).find(({ object }) => object.kind === "name" && object.name === variable.name);
    if (item) return item;
  }
  return undefined;
}

/** Arrays of modules that `allocate` or `deallocate` names, and that OpenACC's `declare` has on the device. */
export function declaredIn(
  arrays: readonly Designator[],
  { scope, problems }: DataPlace,
): { whole: Name; item: DataItem; variable: Variable }[] {
  return arrays.flatMap((array) => {
    const whole = array.kind === "apply" ? array.base : array;
    const variable = whole.kind === "name" ? find(scope, whole.name) : undefined;
    const item = variable && declaredAs(variable, problems, false);
    return item && whole.kind === "name" && ownerOf(variable).unit.kind === "module" ? [{ whole, item, variable }] : [];
  });
}

/** Whether data stay on the device from one construct of some files to the next. */
export function keepsData(files: readonly SourceFile[]): boolean {
  let found = false;
  const look = (directive: Directive | undefined): void => void (found ||= directive !== undefined && dataKind(directive) !== undefined);
  eachNode(
    files.map(({ units }) => units),
    (node) => {
      if (node.kind === "directed" || node.kind === "other") look((node as { directive?: Directive }).directive);
      return !found;
    },
  );
  return found;
}
