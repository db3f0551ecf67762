import type ts from "typescript";
import { atomic, view, scatter, type ExtremumToken, type ReduceToken } from "../kernel/declare/params.js";
import { identityOf } from "../ir/identity.js";
import type { AtomicType, NumericType, ScatterOp } from "../ir/types.js";
import type { Choices } from "./choices.js";
import { PURE_GLOBALS } from "./pure.js";
import type { TypeScript } from "./typescript.js";

/* Values that types tell: literal numbers, and declarations of parameters, whose kind, element type and rank are literal types. */

/** Asks types for literals. */
export class TypeReader {
  constructor(
    private readonly api: TypeScript,
    private readonly checker: ts.TypeChecker,
    /** The node that types are asked for at. */
    private readonly at: ts.Node,
    private readonly choices: Choices,
  ) {}

  /** A type parameter as its bound; of several types one, as any of them may come. */
  plain(type: ts.Type): ts.Type {
    const bound = type.flags & this.api.TypeFlags.TypeParameter ? (this.checker.getBaseConstraintOfType(type) ?? type) : type;
    return bound.isUnion() && !(bound.flags & this.api.TypeFlags.Boolean) ? this.plain(this.choices.of(bound.types)) : bound;
  }

  literal(type: ts.Type | undefined): number | string | boolean | undefined {
    const plain = type && this.plain(type);
    if (!plain) return undefined;
    if (plain.isNumberLiteral() || plain.isStringLiteral()) return plain.value;
    return plain.flags & this.api.TypeFlags.BooleanLiteral ? this.checker.typeToString(plain) === "true" : undefined;
  }

  member(type: ts.Type, name: string): ts.Type | undefined {
    const symbol = this.checker.getPropertyOfType(this.plain(type), name);
    return symbol && this.checker.getTypeOfSymbolAtLocation(symbol, this.at);
  }

  /** The literal type of a property, `kind` of a token. */
  property(type: ts.Type, name: string): number | string | boolean | undefined {
    return this.literal(this.member(type, name));
  }
}

/** The value that a type tells; undefined where it leaves several. */
export function valueOfType(types: TypeReader, type: ts.Type): unknown {
  // A literal that is one of several is not known.
  if (!type.isUnion() && types.literal(type) !== undefined) return types.literal(type);
  const array = /^((?:Float64|Float32|Int32|Uint32)Array)Constructor$/.exec(types.plain(type).symbol?.name ?? "")?.[1];
  if (array) return PURE_GLOBALS[array];
  const [kind, element] = [types.property(type, "kind"), types.property(type, "element") ?? types.property(type, "type")];
  return element && Object.hasOwn(TOKENS, String(kind)) ? TOKENS[String(kind)](types, type, element as NumericType) : undefined;
}

type TokenMaker = (types: TypeReader, type: ts.Type, element: NumericType) => unknown;

const plainToken: TokenMaker = (types, type, element) => ({ kind: types.property(type, "kind"), type: element });

/** Tokens by the kind that their types tell; vectors and records are not in their types. */
const TOKENS: Readonly<Record<string, TokenMaker>> = {
  scalar: plainToken,
  fixed: plainToken,
  storage: plainToken,
  view(types, type, element) {
    const rank = types.property(type, "rank");
    if (types.property(type, "atomic") === true)
      return rank ? atomic({ kind: "scalar", type: element as AtomicType }, rank as 1) : undefined;
    // Nothing is said against an assertion that may be there.
    const disjoint = types.property(type, "disjoint") !== false;
    return rank && !types.member(type, "place") ? view({ kind: "scalar", type: element }, rank as 1, { disjoint }) : undefined;
  },
  scatter(types, type, element) {
    const [rank, op] = [types.property(type, "rank"), types.property(type, "op")];
    return rank && op && !types.member(type, "value") ? scatter({ kind: "scalar", type: element }, rank as 1, op as ScatterOp) : undefined;
  },
  reduce(types, type, element) {
    const op = types.property(type, "op") as ScatterOp | "custom" | undefined;
    if (!op || op === "custom") return undefined;
    return { kind: "reduce", type: element, op, identity: identityOf(op, element) } satisfies ReduceToken;
  },
  extremum(types, type, element) {
    const op = types.property(type, "op") as "min" | "max" | undefined;
    return op && ({ kind: "extremum", type: element, op } satisfies ExtremumToken);
  },
};
