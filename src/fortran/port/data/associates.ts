/*
 * Components in OpenMP's clauses, by names of their own: `associate (p_a => p%a)`. Compilers differ in what they do with the object around a component;
 * this way each array is mapped by itself.
 */

import { find, type UnitScope } from "../../analyse/symbols.js";
import { mapStatements, namesInTree } from "../../analyse/visit.js";
import { variableName, withExpressions } from "../../analyse/walk.js";
import { expressionText } from "../../print/expressions.js";
import type { Associate, ComponentRef, Expr, Name, Stmt } from "../../tree/index.js";

export class Associates {
  private readonly names = new Map<string, { readonly name: string; readonly value: ComponentRef }>();

  /** @param near statements whose names are taken */
  constructor(
    private readonly scope: UnitScope | undefined,
    private readonly near: unknown,
  ) {}

  /** The name that stands for a component; any other name as it is. */
  named(whole: Name | ComponentRef): Name {
    if (whole.kind === "name") return whole;
    const key = expressionText(whole);
    const known = this.names.get(key);
    if (known) return { kind: "name", name: known.name, at: whole.at };
    const used = namesInTree(this.near);
    const wish = variableName(whole);
    let name = wish;
    for (let n = 2; (this.scope && find(this.scope, name)) || used.has(name) || this.all().some((each) => each.name === name); n++)
      name = `${wish}_${n}`;
    this.names.set(key, { name, value: whole });
    return { kind: "name", name, at: whole.at };
  }

  all(): { readonly name: string; readonly value: ComponentRef }[] {
    return [...this.names.values()];
  }

  /** The component that a name stands for, as it is written; any other name as it is. */
  meaning(name: string): string {
    for (const [key, each] of this.names) if (each.name === name) return key;
    return name;
  }

  /** Statements with these names in place of the components. */
  within(body: readonly Stmt[]): Stmt[] {
    return mapStatements(body, (s) => [
      withExpressions(s, (e: Expr) => (e.kind === "part" && this.names.has(expressionText(e)) ? this.named(e) : e)),
    ]);
  }

  /** The statements, with the names around them if there are any. */
  around(body: readonly Stmt[], at: Stmt["at"]): Stmt[] {
    if (this.names.size === 0) return [...body];
    return [{ kind: "associate", names: this.all(), body, at } satisfies Associate];
  }
}
