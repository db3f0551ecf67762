/* The function that Fortran calls for a loop: it works out sizes, launches the kernel, and folds results with their previous values. */

import { Names } from "../../../base/names.js";
import type { CudaLike } from "../../../emit/standalone/cuda-like.js";
import type { EmitRequest } from "../../../emit/standalone/request.js";
import { launchArguments } from "../../../emit/standalone/signature.js";
import { commentText, formatText } from "../../../emit/text.js";
import { unreachable } from "../../../base/unreachable.js";
import { valueType } from "../../../ir/scalars.js";
import type { Expr, Param, ScatterParam, ViewParam } from "../../../ir/types.js";
import type { SignatureSlot } from "../../../schedule/slots.js";
import type { ParallelRegion } from "../../analyse/regions.js";
import { findNamed, type UnitScope } from "../../analyse/symbols.js";
import { sizeName } from "../../analyse/thread-index.js";
import type { LoweredKernel } from "../../lower/kernels.js";
import type { ParamSource } from "../../lower/lowering.js";
import { Unlowerable } from "../../lower/values.js";
import { actualOf, arrayAddress, boundOf, resultPlace, scalarValue, type HostVariable } from "./actuals.js";
import { hostText, withoutParentheses } from "./host-text.js";
import { needsSizes, sizeGiven } from "./launch-sizes.js";
import { resultLines } from "./results.js";
import { CPP_TYPES, type Parameter } from "./types.js";

interface Loop {
  readonly region: ParallelRegion;
  readonly lowered: LoweredKernel;
  /** Scope of the kernel. */
  readonly scope: UnitScope;
  readonly request: EmitRequest;
}

export class Caller {
  readonly parameters: readonly Parameter[];
  private readonly names = new Names();
  private readonly stream = this.names.fresh("stream");
  private readonly given: Parameter[] = [];
  /** Expressions for the kernel's parameters; what a reduction gives; where results go. */
  private readonly values = new Map<string, string>();
  private readonly places = new Map<string, string>();
  /** Extents of arrays, by axis. */
  private readonly extents = new Map<string, readonly string[]>();
  /** Threads along axes that the kernel does not look at. */
  private readonly once: string[] = [];
  private readonly trips: readonly { readonly name: string; readonly text: string }[];

  constructor(
    private readonly loop: Loop,
    private readonly like: CudaLike,
  ) {
    const { lowered, request, scope } = loop;
    const { params } = request.ir;
    const rows = new Set(lowered.rows.map(({ param }) => param));
    for (const param of params) if (param.kind === "scalar") this.scalar(param.name);
    for (const param of params) if (isArray(param) && !rows.has(param.name) && !isOfTeams(param)) this.array(param);
    this.trips = lowered.trips.map((trips, n) => {
      const { variable, axis } = lowered.axes[n];
      const count = trips ? this.host(trips) : this.threads(axis ?? "x");
      return { name: this.name(`${variable}_trips`), text: `f::trips(${withoutParentheses(count)})` };
    });
    // A kernel that does not look at an axis of its launch would compute the same several times.
    if (needsSizes(loop.region) && !lowered.ofBlocks)
      for (const axis of ["x", "y", "z"] as const)
        if (!lowered.axes.some((each) => each.axis === axis)) this.once.push(withoutParentheses(this.threads(axis)));
    for (const param of params)
      if (param.kind === "view" && param.teamLength) {
        this.extents.set(param.name, [this.league(), this.host(param.teamLength)]);
        this.values.set(param.name, this.name(param.name));
      }
    for (const { param, length } of lowered.rows) {
      this.extents.set(param, [...this.trips.map(({ name }) => name), this.host(length)]);
      this.values.set(param, this.name(param));
    }
    for (const param of params) if (param.kind === "reduce") this.values.set(param.name, this.name(`${param.name}_part`));
    const results = lowered.outcomes.map(({ param, name, type }): Parameter => {
      const variable = findNamed(scope, name);
      if (!variable) throw new Unlowerable(loop.region.at, name, "the loop's result is not a variable", "use a scalar variable");
      if (variable.wide) throw new Unlowerable(loop.region.at, name, "an integer of 64 bits is a result of the loop", "use integer(4)");
      const place = this.name(name);
      this.places.set(param, place);
      const isOther = type === "bool" || variable.byte === true;
      return {
        name: place,
        type,
        kind: "result",
        written: true,
        ...(isOther && { held: true }),
        actual: resultPlace(this.actual({ name, variable })),
      };
    });
    this.parameters = [...this.given.sort((a, b) => rank(a) - rank(b)), ...results];
  }

  /** An identifier of C++ and Fortran like a name. */
  private name(wish: string): string {
    return this.names.fresh(wish.toLowerCase().slice(0, LONGEST));
  }

  private actual(source: ParamSource): HostVariable {
    return actualOf(this.loop.region.scope, source, this.loop.region.at);
  }

  private host(e: Expr): string {
    const names = {
      param: (name: string) => this.values.get(name)!,
      extent: (view: string, axis: number) => this.extents.get(view)![axis],
    };
    return hostText(e, names, this.loop.region.at);
  }

  /** A number of the launch. */
  private size(of: "grid" | "block", axis: "x" | "y" | "z"): string {
    const name = sizeName(of, axis);
    const known = [...this.loop.lowered.sources].find(([param, source]) => source.name === name && this.values.has(param));
    if (known) return this.values.get(known[0])!;
    const made = this.values.get(name) ?? this.name(name);
    if (!this.values.has(name))
      this.given.push({ name: made, type: "i32", kind: "value", written: false, actual: sizeGiven(name, this.loop.region.at)! });
    this.values.set(name, made);
    return made;
  }

  private threads(axis: "x" | "y" | "z"): string {
    return `(${this.size("grid", axis)} * ${this.size("block", axis)})`;
  }

  private league(): string {
    return `(${(["x", "y", "z"] as const).map((axis) => this.size("grid", axis)).join(" * ")})`;
  }

  private scalar(param: string): void {
    const { region, lowered, request } = this.loop;
    const source = lowered.sources.get(param)!;
    const { type } = request.ir.params.find(({ name }) => name === param) as Extract<Param, { kind: "scalar" }>;
    if (source.asks)
      throw new Unlowerable(
        region.at,
        source.name,
        "the loop asks whether it is there",
        "ask before the loop, and keep the answer in a variable",
      );
    const name = this.name(param);
    const size = sizeGiven(source.name, region.at);
    if (size) {
      this.given.push({ name, type, kind: "value", written: false, actual: size });
      return void this.values.set(param, name);
    }
    const actual = this.actual(source);
    const { wide } = source.lower === undefined ? source.variable : {};
    const value = source.lower === undefined ? scalarValue(actual) : boundOf("lbound", actual, source.lower, source.variable.dims!.length);
    this.given.push({ name, type, kind: "value", written: false, ...(wide && { wide }), actual: value });
    this.values.set(param, wide ? `f::narrow(${name})` : name);
  }

  private array(param: ViewParam | ScatterParam): void {
    const { lowered, request } = this.loop;
    const source = lowered.sources.get(param.name)!;
    const actual = this.actual(source);
    const name = this.name(param.name);
    const written = param.kind === "scatter" || request.access.views[param.name]?.written === true;
    this.given.push({ name, type: valueType(param.element), kind: "array", written, actual: arrayAddress(actual) });
    this.values.set(param.name, name);
    const { dims } = source.variable;
    const extents = source.extents!.map((extent, axis): string => {
      if (extent) return this.host(extent);
      // The caller alone knows the end of the last axis, and no address depends on it.
      if (dims![axis]?.upper === "*") return "1";
      const open = this.name(`${param.name}_extent${axis + 1}`);
      this.given.push({ name: open, type: "i32", kind: "value", written: false, actual: boundOf("size", actual, axis, dims!.length) });
      return open;
    });
    this.extents.set(param.name, extents.reverse());
  }

  private slot(slot: SignatureSlot): string {
    switch (slot.kind) {
      case "scalar":
      case "view":
        return this.values.get(slot.name)!;
      case "result":
        return `&${this.values.get(slot.name)}`;
      case "extent":
        return withoutParentheses(this.extents.get(slot.name)![slot.axis]);
      case "stride":
        return this.stride(slot.name, slot.axis);
      case "begin":
        return "0";
      case "end":
        return this.trips[slot.axis]?.name ?? "1";
      case "league":
        return withoutParentheses(this.league());
      default:
        return unreachable(slot);
    }
  }

  private stride(view: string, axis: number): string {
    const { lowered } = this.loop;
    const extents = this.extents.get(view)!;
    const isRow = lowered.rows.some(({ param }) => param === view);
    const last = extents.length - 1;
    // Rows lie side by side: the elements' first numbers, then their second ones.
    const inner = isRow ? extents.slice(axis === last ? 0 : axis + 1, last) : extents.slice(axis + 1);
    return inner.map((extent, n) => (n === 0 ? `(long long)${extent}` : extent)).join(" * ") || "1";
  }

  /** The function's text. `launch` is the function that the kernel's emitter has written. */
  lines(name: string, launch: string): string[] {
    const { region, lowered, request } = this.loop;
    const { prefix } = this.like;
    const at = formatText(commentText(`${region.at.file.replace(/^.*[\\/]/s, "")}:${region.at.line}`));
    const args = launchArguments(request, new Names()).map(({ slot }) => this.slot(slot));
    const parts = request.ir.params.flatMap((param) =>
      param.kind === "reduce" ? [`${CPP_TYPES[param.type]} ${this.values.get(param.name)} = 0;`] : [],
    );
    const ofTeams = request.ir.params.filter(isOfTeams).map(({ name: param, element: type }) => ({ param, type }));
    const own = [...lowered.rows, ...ofTeams];
    const rows = own.map(({ param, type }) => {
      const [first, ...others] = this.extents.get(param)!;
      const count = [`(long long)${first}`, ...others].join(" * ");
      return `${CPP_TYPES[type]} *${this.values.get(param)} = f::room<${CPP_TYPES[type]}>(${count}, ${this.stream});`;
    });
    const body = [
      ...this.trips.map(({ name, text }) => `const long long ${name} = ${text};`),
      ...this.once.map((count) => `f::once(${count}, "${at}");`),
      ...rows,
      ...parts,
      `f::check(${launch}(${[...args, this.stream].join(", ")}));`,
      ...own.map(({ param }) => `f::check(${prefix}FreeAsync(${this.values.get(param)}, ${this.stream}));`),
      ...lowered.outcomes.flatMap((outcome) =>
        resultLines(outcome, this.places.get(outcome.param)!, (param) => this.values.get(param)!, at),
      ),
      // Results wait for the kernel, too.
      ...(isAwaited(region) && lowered.outcomes.length === 0 ? [`f::check(${prefix}StreamSynchronize(${this.stream}));`] : []),
    ];
    const heads = [`${prefix}Stream_t ${this.stream}`, ...this.parameters.map((each) => this.declaration(each))];
    return [`extern "C" void ${name}(${heads.join(", ")})`, "{", ...body.map((line) => `  ${line}`), "}"];
  }

  private declaration({ name, type, kind, wide, written }: Parameter): string {
    if (kind === "value") return `${wide ? "long long" : CPP_TYPES[type]} ${name}`;
    if (kind === "result") return `${CPP_TYPES[type]} *${name}`;
    const found = this.loop.request.ir.params.find((each) => this.values.get(each.name) === name) as ViewParam | ScatterParam;
    return `${written ? "" : "const "}${CPP_TYPES[found.element]} *${name}`;
  }
}

/** Letters of a name at most: Fortran has 63, with what is added to it. */
const LONGEST = 56;

const isArray = (param: Param): param is ViewParam | ScatterParam => param.kind === "view" || param.kind === "scatter";

/** Memory of a team kernel, a row for each team. */
const isOfTeams = (param: Param): param is ViewParam & { teamLength: Expr } => param.kind === "view" && param.teamLength !== undefined;

const rank = ({ kind }: Parameter): number => (kind === "array" ? 1 : 0);

/** Whether statements after a loop find its results, as in all but CUDA Fortran. */
const isAwaited = ({ stmt }: ParallelRegion): boolean =>
  stmt !== undefined && !(stmt.kind === "directed" && stmt.directive.sentinel === "cuf");
