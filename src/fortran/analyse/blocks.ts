import type { BlockConstruct, Declaration, Module, Procedure, MainProgram, Stmt, Use } from "../tree/index.js";
import { eachNode, eachStatement, mapStatements } from "./visit.js";

/* Variables that `block … end block` declares, as variables of the procedure around it. */

export const blockNames = (declarations: readonly Declaration[] = []): string[] =>
  declarations.flatMap((each) => (each.kind === "variables" ? each.names.map(({ name }) => name) : []));

/** Variables of the blocks among some statements. */
export function blockVariables(body: readonly Stmt[]): Set<string> {
  const found = new Set<string>();
  eachStatement(body, (s) => {
    if (s.kind === "block") blockNames(s.declarations).forEach((name) => found.add(name));
  });
  return found;
}

function hasOwnNames(body: readonly Stmt[]): boolean {
  let found = false;
  eachStatement(body, (s) => void (found ||= s.kind === "block" && (s.declarations !== undefined || s.uses !== undefined)));
  return found;
}

/** The unit with the declarations of its blocks, whose names are new ones where others have them, too. */
export function withoutBlocks<T extends Module | Procedure | MainProgram>(unit: T): T {
  if (unit.kind === "module" || !hasOwnNames(unit.body)) return unit;
  const declarations: Declaration[] = [...unit.declarations];
  const used: Use[] = [...unit.uses];
  const taken = new Set([...unit.procedures.map(({ name }) => name), ...blockNames(declarations)]);
  const body = mapStatements(unit.body, (s) => {
    if (s.kind !== "block" || (!s.declarations && !s.uses)) return [s];
    // Skips a block whose names are the unit's already.
    if (s.declarations?.some(({ at }) => unit.declarations.some((d) => d.at === at))) return [s];
    let made: BlockConstruct = s;
    const brought = s.uses?.flatMap(({ only }) => only?.map(({ name }) => name) ?? []) ?? [];
    for (const name of [...blockNames(s.declarations), ...brought]) {
      let free = name;
      for (let n = 2; taken.has(free) || (free !== name ? uses(unit, free) > 0 : uses(unit, name) > uses(s, name)); n++)
        free = `${name}_${n}`;
      taken.add(free);
      if (free !== name) made = renamedVariables(made, name, free) as BlockConstruct;
    }
    // `import` of a block does not affect the procedure around it.
    declarations.push(...(made.declarations ?? []).filter((d) => d.kind !== "other" || d.word !== "import"));
    used.push(...(made.uses ?? []));
    return [made];
  });
  return { ...unit, uses: used, declarations, body };
}

/** How often a name stands in a tree. */
export function uses(tree: unknown, name: string): number {
  let count = 0;
  eachNode(tree, (node) => {
    const { name: own, variable } = node as { name?: string; variable?: string };
    if ((node.kind === "name" && own === name) || variable === name) count++;
  });
  return count;
}

/** A tree with another name for a variable. */
export function renamedVariables(tree: unknown, from: string, to: string): unknown {
  if (Array.isArray(tree)) return tree.map((item) => (item === from ? to : renamedVariables(item, from, to)));
  if (tree === null || typeof tree !== "object") return tree;
  const isPart = (tree as { kind?: string }).kind === "part";
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => {
      if (key === "at") return [key, value];
      const isName = value === from && ((key === "name" && !isPart) || key === "variable");
      return [key, isName ? to : renamedVariables(value, from, to)];
    }),
  );
}

/** Statements in which names of `associate` end in a blank, as no name of a variable does. */
export const withNamesApart = (body: readonly Stmt[]): Stmt[] =>
  mapStatements(body, (s) => {
    if (s.kind !== "associate") return [s];
    const inner = s.names.reduce<unknown>((made, { name }) => renamedVariables(made, name, `${name} `), s.body);
    return [{ ...s, names: s.names.map(({ name, value }) => ({ name: `${name} `, value })), body: inner as Stmt[] }];
  });
