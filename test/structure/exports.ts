import { posix } from "node:path";
import ts from "typescript";

/* Exported names, and who imports them. */

/** A name that a file exports. */
export interface Exported {
  readonly file: string;
  readonly name: string;
  /** Files that import it by name. */
  readonly users: readonly string[];
}

/** Names that a file imports from others, by file; `*` where it takes all of them. */
interface Names {
  readonly exported: readonly string[];
  readonly imported: readonly (readonly [file: string, name: string])[];
}

const TAKEN_WHOLE = "*";

function namesOf(file: string, text: string, resolve: (specifier: string) => string | undefined): Names {
  const exported: string[] = [];
  const imported: [string, string][] = [];
  const take = (specifier: ts.Expression | undefined, names: readonly string[]): void => {
    const target = specifier && ts.isStringLiteralLike(specifier) ? resolve(specifier.text) : undefined;
    if (target) for (const name of names) imported.push([target, name]);
  };
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const list = (elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): string[] =>
    elements.map(({ propertyName, name }) => (propertyName ?? name).text);
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      take(node.moduleSpecifier, bindings && ts.isNamedImports(bindings) ? list(bindings.elements) : bindings ? [TAKEN_WHOLE] : []);
    } else if (ts.isExportDeclaration(node)) {
      const clause = node.exportClause;
      take(node.moduleSpecifier, clause && ts.isNamedExports(clause) ? list(clause.elements) : [TAKEN_WHOLE]);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) take(node.arguments[0], [TAKEN_WHOLE]);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) take(node.argument.literal as ts.Expression, [TAKEN_WHOLE]);
    else if (
      node.parent === source &&
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    ) {
      if (ts.isVariableStatement(node))
        for (const { name } of node.declarationList.declarations) if (ts.isIdentifier(name)) exported.push(name.text);
      const { name } = node as ts.Node & { readonly name?: ts.Node };
      if (name && ts.isIdentifier(name)) exported.push(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { exported, imported };
}

/**
 * Names that files export, but for files that are taken whole.
 * @param packaged files that package specifiers such as `isoform/set` stand for
 */
export function exportsOf(sources: ReadonlyMap<string, string>, packaged: ReadonlyMap<string, string>): Exported[] {
  const users = new Map<string, Set<string>>();
  const key = (file: string, name: string): string => `${file} ${name}`;
  const exported: [file: string, name: string][] = [];
  for (const [file, text] of sources) {
    const resolve = (specifier: string): string | undefined =>
      specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier).replace(/\.js$/, ".ts") : packaged.get(specifier);
    const names = namesOf(file, text, resolve);
    for (const name of names.exported) exported.push([file, name]);
    for (const [from, name] of names.imported) {
      if (from === file) continue;
      const known = users.get(key(from, name));
      if (known) known.add(file);
      else users.set(key(from, name), new Set([file]));
    }
  }
  return exported.flatMap(([file, name]) =>
    users.has(key(file, TAKEN_WHOLE)) ? [] : [{ file, name, users: [...(users.get(key(file, name)) ?? [])] }],
  );
}
