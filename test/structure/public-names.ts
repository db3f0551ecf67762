import { readFileSync } from "node:fs";
import ts from "typescript";

/* Names that the package exports, who uses them, and which types a user of them may have to name. */

/** A name of an entry point. */
export interface PublicName {
  /** Such as `isoform/set`. */
  readonly entry: string;
  readonly name: string;
  readonly isType: boolean;
  /** The declared thing: the same for a name that two entry points export. */
  readonly symbol: ts.Symbol;
}

/** The names of entry points, given as files by the specifier that stands for each. */
export function publicNames(program: ts.Program, entries: ReadonlyMap<string, string>): PublicName[] {
  const checker = program.getTypeChecker();
  return [...entries].flatMap(([entry, file]) =>
    checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)!)!).map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      return { entry, name: exported.name, isType: (symbol.flags & ts.SymbolFlags.Value) === 0, symbol };
    }),
  );
}

/** Words in the code of pages: in blocks, and between backticks. */
export const wordsOfPages = (pages: readonly string[]): Set<string> =>
  new Set(pages.flatMap((text) => [...text.matchAll(/^```[^]*?^```|`[^`\n]+`/gm)].flatMap(([code]) => code.match(/\w+/g) ?? [])));

/** Names that files import from these modules, or re-export. */
export function importedNames(paths: readonly string[], from: (specifier: string, path: string) => boolean): Set<string> {
  const names = new Set<string>();
  for (const path of paths)
    for (const [, list, specifier] of readFileSync(path, "utf8").matchAll(
      /^(?:import|export) (?:type )?(?:\w+, )?\{([^}]*)\} from "([^"]+)"/gm,
    ))
      if (from(specifier, path)) for (const [, name] of list.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)) names.add(name);
  return names;
}

/** Declared things that the signatures of others mention, and those that theirs do: parameters, results, members, but no bodies. */
export function mentioned(checker: ts.TypeChecker, of: readonly ts.Symbol[]): Set<ts.Symbol> {
  const found = new Set<ts.Symbol>(of);
  const visit = (node: ts.Node): void => {
    if (isPrivate(node)) return;
    if (ts.isIdentifier(node)) add(checker.getSymbolAtLocation(node));
    const { body, initializer } = node as { readonly body?: ts.Node; readonly initializer?: ts.Node };
    node.forEachChild((child) => {
      if (child !== body && child !== initializer) visit(child);
    });
  };
  const add = (symbol: ts.Symbol | undefined): void => {
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (!target || found.has(target)) return;
    found.add(target);
    target.declarations?.forEach(read);
  };
  /** A value's type may be inferred; then the types that it is made of are its aliases' and its members'. */
  const read = (declaration: ts.Declaration): void => {
    if (declaration.getSourceFile().fileName.includes("/node_modules/")) return;
    visit(declaration);
    if (ts.isVariableDeclaration(declaration) || ts.isFunctionDeclaration(declaration)) addType(checker.getTypeAtLocation(declaration), 3);
  };
  const addType = (type: ts.Type, depth: number): void => {
    add(type.aliasSymbol);
    add(type.symbol);
    if (depth === 0) return;
    for (const signature of type.getCallSignatures()) {
      addType(signature.getReturnType(), depth - 1);
      for (const parameter of signature.getParameters())
        if (parameter.valueDeclaration) addType(checker.getTypeOfSymbol(parameter), depth - 1);
    }
    for (const argument of [...(type.aliasTypeArguments ?? []), ...checker.getTypeArguments(type as ts.TypeReference)])
      addType(argument, depth - 1);
  };
  for (const symbol of of) symbol.declarations?.forEach(read);
  return found;
}

/** A parameter of a constructor may declare a private property; it is part of the signature. */
const isPrivate = (node: ts.Node): boolean =>
  !ts.isParameter(node) &&
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
