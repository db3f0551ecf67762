import type ts from "typescript";
import { fileURLToPath } from "node:url";
import { isFunctionSyntax, type FunctionSyntax } from "./functions.js";
import type { TypeScript } from "./typescript.js";

/* Names of a program: where they are declared, which are Isoform's own, and where functions are called. */

/** A value that only a run of the program gives. */
export class UnknownValue extends Error {
  /** @param text the expression, as it is written */
  constructor(text: string) {
    const line = text.replace(/\s+/g, " ");
    super(`${line.length > 60 ? `${line.slice(0, 57)}...` : line} is known only when the program runs`);
  }
}

const PACKAGE = fileURLToPath(new URL("../../../", import.meta.url));

/** Calls of one function, at most, that its kernels are checked for. */
const MOST_CALLS = 12;

export class ProgramNames {
  private calls: Calls | undefined;
  /** Which call of each function gives its parameters. */
  turn = 0;
  /** Calls that the functions asked for have, at most. */
  turns = 1;

  constructor(
    readonly api: TypeScript,
    readonly program: ts.Program,
    readonly checker = program.getTypeChecker(),
  ) {}

  symbolOf(node: ts.Node): ts.Symbol | undefined {
    const { api, checker } = this;
    const shorthand = api.isShorthandPropertyAssignment(node.parent) && node.parent.name === node;
    const symbol = shorthand ? checker.getShorthandAssignmentValueSymbol(node.parent) : checker.getSymbolAtLocation(node);
    return symbol && symbol.flags & api.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }

  /** The name under which the library exports what an expression names; undefined for all else. */
  ownName(node: ts.Expression): string | undefined {
    const { api, checker } = this;
    const name = api.isPropertyAccessExpression(node) ? node.name : node;
    if (!api.isIdentifier(name)) return undefined;
    for (const declaration of checker.getSymbolAtLocation(name)?.declarations ?? [])
      if (api.isImportSpecifier(declaration) && isOwnModule(declaration.parent.parent.parent.moduleSpecifier))
        return (declaration.propertyName ?? declaration.name).text;
    if (name !== node && this.isOwnNamespace((node as ts.PropertyAccessExpression).expression)) return name.text;
    const symbol = this.symbolOf(name);
    return symbol?.declarations?.some((declaration) => isOwnFile(declaration.getSourceFile().fileName)) ? symbol.name : undefined;
  }

  private isOwnNamespace(node: ts.Expression): boolean {
    const { api, checker } = this;
    const [declaration] = checker.getSymbolAtLocation(node)?.declarations ?? [];
    return declaration !== undefined && api.isNamespaceImport(declaration) && isOwnModule(declaration.parent.parent.moduleSpecifier);
  }

  /** Calls of a function in the program's own files, by its name or by the parameter that it is given for. */
  private callsOf(fn: ts.Node): readonly ts.CallExpression[] {
    const { of, givenFor } = this.allCalls();
    return [fn, ...(givenFor.get(fn) ?? [])].flatMap((each) => of.get(each) ?? []);
  }

  /** The list that `helper(fn, list)` gives a function that is declared elsewhere. */
  listOf(fn: ts.Node): ts.Expression | undefined {
    return this.allCalls().helpers.get(fn)?.arguments[1];
  }

  private allCalls(): Calls {
    if (this.calls) return this.calls;
    this.calls = { of: new Map(), givenFor: new Map(), helpers: new Map() };
    const visit = (node: ts.Node): void => {
      if (this.api.isCallExpression(node)) this.noteCall(node, this.calls!);
      node.forEachChild(visit);
    };
    for (const file of this.program.getSourceFiles()) if (!file.isDeclarationFile && !file.fileName.includes("/node_modules/")) visit(file);
    return this.calls;
  }

  private noteCall(node: ts.CallExpression, { of, givenFor, helpers }: Calls): void {
    const { api } = this;
    const [first] = node.arguments;
    if (first && api.isIdentifier(first) && this.ownName(node.expression) === "helper") {
      const named = this.symbolOf(first)?.valueDeclaration;
      const fn = named && this.functionOf(named);
      if (fn) helpers.set(fn, node);
    }
    const called = this.symbolOf(api.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression);
    const declared = called?.valueDeclaration;
    const fn = declared && (api.isParameter(declared) ? declared : this.functionOf(declared));
    if (!fn) return;
    append(of, fn, node);
    if (api.isParameter(fn)) return;
    node.arguments.forEach((given, n) => {
      if (fn.parameters[n] && isFunctionSyntax(api, given)) append(givenFor, given, fn.parameters[n]);
    });
  }

  /** The function that a declaration declares. */
  functionOf(declaration: ts.Node): FunctionSyntax | undefined {
    const { api } = this;
    const made = api.isVariableDeclaration(declaration) || api.isPropertyAssignment(declaration) ? declaration.initializer : declaration;
    return made && isFunctionSyntax(api, made) ? made : undefined;
  }

  /** The expression that the call whose turn it is gives for a parameter; undefined where nothing is given. Throws UnknownValue where nobody calls the function. */
  argumentFor(parameter: ts.ParameterDeclaration): ts.Expression | undefined {
    const fn = parameter.parent;
    const calls = this.callsOf(fn);
    const place = fn.parameters.indexOf(parameter);
    if (calls.length === 0 || parameter.dotDotDotToken) throw new UnknownValue(parameter.name.getText());
    this.turns = Math.min(MOST_CALLS, Math.max(this.turns, calls.length));
    const { arguments: given } = calls[this.turn % calls.length];
    if (given.slice(0, place + 1).some((each) => this.api.isSpreadElement(each))) throw new UnknownValue(parameter.name.getText());
    return given[place] ?? parameter.initializer;
  }
}

/** Calls in a program. */
interface Calls {
  /** By function, or by the parameter that is called. */
  readonly of: Map<ts.Node, ts.CallExpression[]>;
  /** Parameters for which a function that is written out is given. */
  readonly givenFor: Map<ts.Node, ts.Node[]>;
  readonly helpers: Map<ts.Node, ts.CallExpression>;
}

const append = <K, V>(map: Map<K, V[]>, key: K, value: V): void => void map.set(key, [...(map.get(key) ?? []), value]);

const isOwnModule = (specifier: ts.Node): boolean => /^["']isoform(?:\/|["'])/.test(specifier.getText());

const isOwnFile = (file: string): boolean =>
  file.includes("/node_modules/isoform/dist/src/") || file.startsWith(`${PACKAGE}dist/src/`) || file.startsWith(`${PACKAGE}src/`);
