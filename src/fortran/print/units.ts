/* Files, units and declarations as Fortran. */

import type { Procedure, SourceFile, Unit } from "../tree/index.js";
import { expressionText } from "./expressions.js";
import { printDeclaration, printUse } from "./declarations.js";
import { IndentedLines } from "./statements.js";

/** The whole file. */
export function fortranText(file: SourceFile): string {
  const out = new IndentedLines();
  for (const unit of file.units) printUnit(out, unit);
  out.comments(file.after);
  return `${out.lines.join("\n")}\n`;
}

function printUnit(out: IndentedLines, unit: Unit): void {
  out.comments(unit.before);
  const ancestor = unit.kind === "module" ? unit.ancestor : undefined;
  const form =
    unit.kind === "procedure" ? unit.form : ancestor ? "submodule" : unit.kind === "module" && unit.isBlockData ? "block data" : unit.kind;
  const of = ancestor ? ` (${[ancestor.module, ...(ancestor.parent === undefined ? [] : [ancestor.parent])].join(":")})` : "";
  out.add(unit.kind === "procedure" ? headingText(unit) : `${form}${of} ${unit.name}`);
  out.inside(() => {
    for (const use of unit.uses) printUse(out, use);
    out.comments(unit.beforeImplicit);
    if (unit.implicitNone) out.add("implicit none");
    for (const declaration of unit.declarations) printDeclaration(out, declaration);
    if (unit.kind !== "module") out.statements(unit.body);
  });
  const procedures = unit.procedures.filter(({ ofStatement }) => !ofStatement);
  if (procedures.length > 0 || unit.beforeContains) {
    out.comments(unit.beforeContains);
    out.add("contains");
    out.inside(() => procedures.forEach((procedure) => printUnit(out, procedure)));
  }
  out.inside(() => out.comments(unit.beforeEnd));
  out.add(`end ${form} ${unit.name}`);
}

function headingText({ attributes, launchBounds, prefixes, type, form, name, dummies, result, bind }: Procedure): string {
  const host = attributes.length === 1 && attributes[0] === "host";
  const words = [
    ...(host ? [] : [`attributes(${attributes.join(",")})`]),
    ...(launchBounds ? [`launch_bounds(${launchBounds.map((e) => expressionText(e)).join(",")})`] : []),
    ...prefixes,
    ...(type ? [type.text] : []),
    `${form} ${name}(${dummies.join(", ")})`,
    ...(result !== undefined && result !== name ? [`result(${result})`] : []),
    ...(bind === undefined ? [] : [`bind(${bind})`]),
  ];
  return words.join(" ");
}
