/* Declarations as Fortran. */

import { unreachable } from "../../base/unreachable.js";
import type { Use, Bound, Declaration, DeclaredName, Directive } from "../tree/index.js";
import { expressionText } from "./expressions.js";

/** Output that lines are printed to. */
interface Lines {
  add(line: string, behind?: string): void;
  comments(before: readonly string[] | undefined): void;
  written(lines: readonly string[]): void;
  directive(directive: Directive): void;
}

export function printDeclaration(out: Lines, d: Declaration): void {
  out.comments(d.before);
  const cuda = "cudaOnly" in d && d.cudaOnly ? "!@cuf " : "";
  switch (d.kind) {
    case "variables": {
      const words = [d.type.text, ...d.attributes.map((word) => (word === "dimension" ? `dimension(${extentsText(d.dimension!)})` : word))];
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
  const bounds = dimension ? `(${extentsText(dimension)})` : "";
  return `${name}${bounds}${init ? ` ${points ? "=>" : "="} ${expressionText(init)}` : ""}`;
}

const extentsText = (bounds: readonly Bound[]): string => bounds.map(boundText).join(",");

function boundText({ lower, upper }: Bound): string {
  const last = upper === "*" ? "*" : upper ? expressionText(upper, true) : "";
  if (lower) return `${expressionText(lower, true)}:${last}`;
  return last === "" ? ":" : last;
}

export function printUse(out: Pick<Lines, "add" | "comments">, { module, intrinsic, only, renames, before, cudaOnly }: Use): void {
  out.comments(before);
  const names = (list: Use["renames"]): string =>
    list.map(({ name, original }) => (name === original || name.includes("(") ? name : `${name} => ${original}`)).join(", ");
  const tail = only ? `, only : ${names(only)}`.trimEnd() : renames.length > 0 ? `, ${names(renames)}` : "";
  out.add(`${cudaOnly ? "!@cuf " : ""}use${intrinsic ? ", intrinsic ::" : ""} ${module}${tail}`);
}
