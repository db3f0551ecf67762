/* Files, units and declarations as Fortran. */

import { unreachable } from "../../ir/unreachable.js";
import type { Bound, Declaration, DeclaredName, Procedure, SourceFile, Unit, Use } from "../tree/index.js";
import { expressionText } from "./expressions.js";
import { Lines } from "./statements.js";

/** The whole file. */
export function fortranText(file: SourceFile): string {
  const out = new Lines();
  for (const unit of file.units) printUnit(out, unit);
  out.comments(file.after);
  return `${out.lines.join("\n")}\n`;
}

function printUnit(out: Lines, unit: Unit): void {
  out.comments(unit.before);
  const form = unit.kind === "procedure" ? unit.form : unit.kind;
  out.add(unit.kind === "procedure" ? headingText(unit) : `${form} ${unit.name}`);
  out.inside(() => {
    for (const use of unit.uses) printUse(out, use);
    if (unit.implicitNone) out.add("implicit none");
    for (const declaration of unit.declarations) printDeclaration(out, declaration);
    if (unit.kind !== "module") out.statements(unit.body);
  });
  if (unit.procedures.length > 0 || unit.beforeContains) {
    out.comments(unit.beforeContains);
    out.add("contains");
    out.inside(() => unit.procedures.forEach((procedure) => printUnit(out, procedure)));
  }
  out.inside(() => out.comments(unit.beforeEnd));
  out.add(`end ${form} ${unit.name}`);
}

function headingText({ attributes, launchBounds, prefixes, type, form, name, dummies, result }: Procedure): string {
  const host = attributes.length === 1 && attributes[0] === "host";
  const words = [
    ...(host ? [] : [`attributes(${attributes.join(",")})`]),
    ...(launchBounds ? [`launch_bounds(${launchBounds.map((e) => expressionText(e)).join(",")})`] : []),
    ...prefixes,
    ...(type ? [type.text] : []),
    `${form} ${name}(${dummies.join(", ")})`,
    ...(result !== undefined && result !== name ? [`result(${result})`] : []),
  ];
  return words.join(" ");
}

function printUse(out: Lines, { module, intrinsic, only, renames, before, cudaOnly }: Use): void {
  out.comments(before);
  const names = (list: Use["renames"]): string =>
    list.map(({ name, original }) => (name === original || name.includes("(") ? name : `${name} => ${original}`)).join(", ");
  const tail = only ? `, only : ${names(only)}`.trimEnd() : renames.length > 0 ? `, ${names(renames)}` : "";
  out.add(`${cudaOnly ? "!@cuf " : ""}use${intrinsic ? ", intrinsic ::" : ""} ${module}${tail}`);
}

function printDeclaration(out: Lines, d: Declaration): void {
  out.comments(d.before);
  const cuda = "cudaOnly" in d && d.cudaOnly ? "!@cuf " : "";
  switch (d.kind) {
    case "variables": {
      const words = [d.type.text, ...d.attributes.map((word) => (word === "dimension" ? `dimension(${boundsText(d.dimension!)})` : word))];
      return out.add(`${cuda}${words.join(", ")} :: ${d.names.map(nameText).join(", ")}`, d.behind);
    }
    case "attributes": {
      if (d.attribute === "parameter") return out.add(`parameter (${d.names.map(nameText).join(", ")})`);
      const word = ["device", "constant", "managed", "pinned"].includes(d.attribute) ? `attributes(${d.attribute})` : d.attribute;
      return out.add(`${cuda}${word}${d.names.length > 0 ? ` :: ${d.names.map(nameText).join(", ")}` : ""}`);
    }
    case "type":
    case "interface":
      return out.written(d.text);
    case "other":
      return d.directive ? out.directive(d.directive) : out.add(d.text);
    default:
      return unreachable(d);
  }
}

function nameText({ name, dimension, init, points }: DeclaredName): string {
  const bounds = dimension ? `(${boundsText(dimension)})` : "";
  return `${name}${bounds}${init ? ` ${points ? "=>" : "="} ${expressionText(init)}` : ""}`;
}

export const boundsText = (bounds: readonly Bound[]): string => bounds.map(boundText).join(",");

function boundText({ lower, upper }: Bound): string {
  const last = upper === "*" ? "*" : upper ? expressionText(upper, true) : "";
  if (lower) return `${expressionText(lower, true)}:${last}`;
  return last === "" ? ":" : last;
}
