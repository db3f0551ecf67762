import type ts from "typescript";
import type { FieldUse } from "../domain/grid/grid.js";
import { identityOf } from "../ir/identity.js";
import type { NumericType, ScatterOp } from "../ir/types.js";
import type { Dimension } from "../kernel/declare/cells.js";
import type { LowerSource } from "../kernel/lower/lower.js";
import { bool, f64, type ParamToken } from "../kernel/declare/params.js";
import type { DeclaringCall } from "./find-declarations.js";
import { Evaluator } from "./evaluate.js";
import { UnknownValue } from "./scope.js";
import type { TypeReader } from "./type-values.js";

/* Parameters of containers by their types: fields, arrays along axes, scalars, columns of particles. */

type Token = LowerSource["params"][string];

/** A field as the analysis of containers knows it. */
type CheckedField = Pick<FieldUse, "level"> & { readonly field: { readonly cardinality: number } };
interface CheckedAxes {
  readonly axes: readonly number[];
  readonly ghosts: number;
}

export interface ContainerParts {
  readonly dimension: Dimension;
  readonly tokens: Record<string, Token>;
  readonly fields: Map<string, CheckedField>;
  readonly axisArrays: Map<string, CheckedAxes>;
  /** Columns of particles. */
  readonly columns: ReadonlySet<string>;
}

/** More ghosts than any container reaches, where the number is known only when the program runs. */
export const MANY_GHOSTS = 64;

/** Sorts parameters into tokens and facts. Throws UnknownValue. */
export class ContainerReader {
  private readonly types: TypeReader;
  private readonly dimension: Dimension;
  private readonly fields = new Map<string, CheckedField>();
  private readonly axisArrays = new Map<string, CheckedAxes>();
  private readonly columns = new Set<string>();
  /** By the symbol of a variable: the parameter that has the field already. */
  private readonly seen = new Map<ts.Symbol, string>();

  constructor(
    private readonly values: Evaluator,
    private readonly declared: DeclaringCall,
    private readonly body: string,
  ) {
    const { checker } = values.names;
    this.types = values.typesAt(declared.node);
    const owner = checker.getTypeAtLocation(declared.owner!);
    const grid = declared.kind === "overParticles" ? (this.types.member(owner, "grid") ?? owner) : owner;
    // Both numbers of axes are possible in the type; three are assumed.
    this.dimension = (this.types.literal(lastOf(this.types.member(grid, "dimension"))) ?? 3) as Dimension;
  }

  read(params: ts.Expression): ContainerParts {
    const parts = this.values.partsOf(params);
    const tokens = Object.fromEntries(parts.map(({ name, node, type }) => [name, this.token(name, type, node)] as const));
    const { dimension, fields, axisArrays, columns } = this;
    return { dimension, tokens, fields, axisArrays, columns };
  }

  private token(name: string, given: ts.Type, node: ts.Expression | undefined): Token {
    const { types } = this;
    const { TypeFlags } = this.values.names.api;
    const type = types.plain(given);
    // Numbers and truth values of containers are given with each launch.
    if (type.flags & (TypeFlags.NumberLike | TypeFlags.BooleanLike)) return type.flags & TypeFlags.NumberLike ? f64 : bool;
    const element = types.property(type, "type") as NumericType | undefined;
    const cardinality = types.property(type, "cardinality");
    if (element && types.member(type, "fillValue")) return this.field(name, node && this.values.names.symbolOf(node), element, cardinality);
    if (element && types.member(type, "axes") && types.member(type, "ghosts")) return this.axisArray(name, type, element, cardinality);
    if (element && types.member(type, "species")) return this.column(name, type, element);
    if (element && types.member(type, "devices")) return { kind: "resident", type: element };
    const kind = types.property(type, "kind");
    if (kind === "deposit") return this.deposit(name, type);
    if (kind === "assign" && element) return { kind: "assign", type: element, into: undefined as never };
    if (kind === "reduce" && types.member(type, "into")) return this.reduction(name, type);
    return (node ? this.values.valueOf(node) : this.values.valueOfType(type, this.declared.node, name)) as ParamToken;
  }

  private field(name: string, symbol: ts.Symbol | undefined, element: NumericType, cardinality: unknown): Token {
    if (typeof cardinality !== "number") throw new UnknownValue(`the cardinality of ${name}`);
    const level = this.levelOf(name);
    const same = symbol && this.seen.get(symbol);
    if (same === undefined) {
      this.fields.set(name, { level, field: { cardinality } });
      if (symbol) this.seen.set(symbol, name);
    }
    return { kind: "field", element, cardinality, level, same };
  }

  /** Grid of a field, which its type does not tell: the body does by how it reads it. */
  private levelOf(name: string): FieldUse["level"] {
    const read = new RegExp(`\\b${name.replace(/\W/g, "\\$&")}\\s*\\.\\s*(fine|coarse)\\s*\\(`).exec(this.body);
    return read ? (read[1] as "fine" | "coarse") : "own";
  }

  private axisArray(name: string, type: ts.Type, element: NumericType, cardinality: unknown): Token {
    const axes = this.axesOf(type, name);
    if (typeof cardinality !== "number") throw new UnknownValue(`the cardinality of ${name}`);
    this.axisArrays.set(name, { axes, ghosts: MANY_GHOSTS });
    return { kind: "axis", element, axes, cardinality, ghosts: MANY_GHOSTS };
  }

  /** How many axes it has is in the type, which ones is not: the first are as good as any. */
  private axesOf(type: ts.Type, name: string): number[] {
    const axes = this.types.member(type, "axes");
    const length = axes && this.types.property(axes, "length");
    if (typeof length !== "number") throw new UnknownValue(`the axes of ${name}`);
    return Array.from({ length }, (_, axis) => axis);
  }

  private column(name: string, type: ts.Type, element: NumericType): Token {
    const components = this.types.property(type, "components");
    if (typeof components !== "number") throw new UnknownValue(`the components of ${name}`);
    this.columns.add(name);
    return { kind: "view", element, rank: components === 1 ? 1 : 2, disjoint: true };
  }

  private deposit(name: string, type: ts.Type): Token {
    const field = this.types.member(type, "field")!;
    const [element, cardinality] = [this.types.property(field, "type"), this.types.property(field, "cardinality")];
    if (!element || typeof cardinality !== "number") throw new UnknownValue(name);
    return { kind: "deposit", element: element as NumericType, cardinality };
  }

  private reduction(name: string, type: ts.Type): Token {
    const into = this.types.member(type, "into")!;
    const [element, op] = [this.types.property(into, "type") as NumericType, this.types.property(type, "op") as ScatterOp];
    const cardinality = this.types.member(into, "axes") ? this.types.property(into, "cardinality") : 1;
    if (!element || !op || typeof cardinality !== "number") throw new UnknownValue(name);
    const components = cardinality > 1 ? { components: [0, cardinality] as const } : {};
    return {
      kind: "reduce",
      type: element,
      op,
      identity: identityOf(op, element),
      into: { cardinality },
      ...components,
    } as unknown as Token;
  }
}

const lastOf = (type: ts.Type | undefined): ts.Type | undefined => (type?.isUnion() ? type.types.at(-1) : type);
