import { REDUCTION_CHUNK, type Expr, type ReduceParam, type Stmt } from "../../ir/types.js";
import { foldGroups } from "../../ir/joint.js";
import { ARRAY } from "../js/arrays.js";
import { JsBody } from "../js/body.js";
import { emitExpr, HELPERS, helpersIn, numberText, P } from "../js/expr.js";
import { HALF_HELPERS } from "../js/half.js";
import { ATOMIC_HELPERS } from "../js/scatter.js";
import { indent, type Lines } from "../js/lines.js";
import { combineText, identityText, FoldLanes, ownFolds } from "../js/reduction.js";
import { Code } from "../c/code.js";
import { FOLD_JOINTLY, FOLD_PARTIALS } from "./js-folds.js";
import type { SignatureSlot } from "../../schedule/slots.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { argumentFor, argumentGroups, asProperties, INDEX_NAMES, launchArguments, writeComment, type Argument } from "./signature.js";
import { commentText, keyText, originText } from "../text.js";

/** An ES module. It runs on one thread, and gives the bits of strict mode in fast mode too. */
export function emitJsFile(request: EmitRequest): EmittedFile[] {
  return [{ name: `${request.stem}.mjs`, text: new ModuleWriter(request).text() }];
}

/** The body of a kernel whose extents and strides are arguments. */
class OpenBody extends JsBody {
  readonly args: readonly Argument[];
  private readonly indices: readonly string[];
  private lastLine = 0;

  constructor(private readonly request: EmitRequest) {
    const { ir } = request;
    const rank = ir.policy.kind === "range" ? ir.policy.rank : 1;
    super({
      ir,
      policy:
        ir.policy.kind === "range"
          ? { kind: "range", begin: Array(rank).fill(0), extents: Array(rank).fill(0) }
          : { kind: "team", league: 0 },
      workers: 1,
      views: {},
      scalars: { address: 0 },
      partials: {},
      // One thread adds in the order of the elements.
      scatter: Object.fromEntries(ir.params.filter((p) => p.kind === "scatter").map(({ name }) => [name, { strategy: "sorted" }])),
    });
    this.args = launchArguments(request, {
      of: (kind, name, wish = name) => (kind === "argument" ? this.names.argument(name, wish) : this.names.of(name)),
    });
    // A team has a row of scratch for itself.
    this.indices = ir.policy.kind === "team" ? ["team", "team"] : INDEX_NAMES.slice(0, rank);
  }

  arg(slot: SignatureSlot): string {
    return argumentFor(this.args, slot).name;
  }

  override index(axis: number): string {
    return this.indices[axis];
  }

  override extent(view: string, axis: number): string {
    return this.arg({ kind: "extent", name: view, axis });
  }

  protected override viewOffset(name: string, indices: readonly Expr[]): string {
    const unit = this.request.unitStrides[name];
    return this.sum(indices, (axis) => (unit[axis] ? "1" : this.arg({ kind: "stride", name, axis })));
  }

  protected override offset(_name: string, indices: readonly Expr[], _shape: readonly number[], strides: readonly number[]): string {
    return this.sum(indices, (axis) => String(strides[axis]));
  }

  private sum(indices: readonly Expr[], stride: (axis: number) => string): string {
    const terms = indices.flatMap((e, axis) => {
      if (e.op === "const" && e.value === 0) return [];
      const factor = stride(axis);
      return [factor === "1" ? emitExpr(e, this, P.add) : `${emitExpr(e, this, P.multiply)} * ${factor}`];
    });
    return terms.join(" + ") || "0";
  }

  override unrolls(): boolean {
    return false;
  }

  /** Statements with the number of their source line, where that is a new one. */
  override block(stmts: readonly Stmt[]): Lines {
    return stmts.flatMap((stmt) => {
      const { line } = stmt.location;
      // Assignments may go into the head of a loop.
      const noted = stmt.kind !== "assign" && line > 0 && line !== this.lastLine;
      if (noted) this.lastLine = line;
      const [first, ...rest] = super.block([stmt]);
      return [noted ? `${first}  // line ${line}` : first, ...rest];
    });
  }
}

class ModuleWriter {
  private readonly body: OpenBody;
  private readonly reductions: readonly ReduceParam[];

  constructor(private readonly request: EmitRequest) {
    this.body = new OpenBody(request);
    this.reductions = request.ir.params.filter((p) => p.kind === "reduce");
  }

  text(): string {
    const { request, body, reductions } = this;
    const { ir, stem } = request;
    const loops = ir.policy.kind === "team" ? this.teams() : this.elements();
    const given = asProperties(body.args).filter(({ slot }) => slot.kind !== "result");
    const folded = (r: ReduceParam) =>
      `$foldPartials(${partials(body, r)}, (a, b) => ${combineText(body, r, "a", "b")}, ${identityText(r)})`;
    const results = reductions.map((r) => `${keyText(r.name)}: ${r.joint ? total(body, r) : folded(r)}`);
    const launch = [
      `export function ${stem}_launch({`,
      ...indent(argumentGroups(given).map((group) => `${group.map(({ key, name }) => `${keyText(key)}: ${name}`).join(", ")},`)),
      "}) {",
      ...indent([
        ...reductions.map((r) => `const ${partials(body, r)} = [];`),
        ...loops,
        ...foldGroups(reductions.filter(({ joint }) => joint)).map((parts) => jointTotals(body, parts)),
        ...(results.length > 0 ? [`return { ${results.join(", ")} };`] : []),
      ]),
      "}",
    ].join("\n");
    const declarations = [...this.tables(), ...this.customFolds(), ...body.declarations].join("\n");
    const code = new Code();
    code.line(`// ${originText(ir)} as JavaScript, for one thread.`);
    code.line(`// import { ${stem}_launch } from "./${stem}.mjs"`).line();
    const helpers = helpersIn(declarations + launch, {
      ...HELPERS,
      ...HALF_HELPERS,
      ...ATOMIC_HELPERS,
      $foldPartials: FOLD_PARTIALS,
      $foldJointly: FOLD_JOINTLY,
    });
    for (const part of [...helpers, declarations]) if (part !== "") code.text(part).line();
    const fromArrays = "Arrays are typed arrays that begin with element 0.";
    writeComment(code, request, given, [
      fromArrays,
      ...(results.length > 0 ? [`Returns { ${reductions.map(({ name }) => commentText(name)).join(", ")} }.`] : []),
    ]);
    return `${code}${launch}\n`;
  }

  private tables(): Lines {
    const { body } = this;
    return this.request.ir.tables.map(
      ({ name, type, values }) => `const ${body.names.of(name)} = ${ARRAY[type]}.of(${values.map(numberText).join(", ")});`,
    );
  }

  private customFolds(): Lines {
    return ownFolds(this.body, this.reductions);
  }

  private teams(): Lines {
    const { body, reductions } = this;
    const team = body.index(0);
    const total = (r: { name: string }): string => `$total_${body.names.of(r.name)}`;
    return [
      `for (let ${team} = 0; ${team} < ${body.arg({ kind: "league" })}; ${team}++) {`,
      ...indent([
        ...reductions.map((r) => `let ${total(r)} = ${identityText(r)};`),
        ...body.withAccumulators(reductions, total, () => body.block(this.request.ir.body)),
        ...reductions.map((r) => `${partials(body, r)}.push(${total(r)});`),
      ]),
      "}",
    ];
  }

  private elements(): Lines {
    const { body, request } = this;
    const rank = request.ir.policy.kind === "range" ? request.ir.policy.rank : 1;
    const nest = (axis: number): Lines => {
      const [index, begin, end] = [body.index(axis), body.arg({ kind: "begin", axis }), body.arg({ kind: "end", axis })];
      if (axis === rank - 1 && this.reductions.length > 0) return this.chunks(index, begin, end);
      const inside = axis === rank - 1 ? body.elementBody() : nest(axis + 1);
      return [`for (let ${index} = ${begin}; ${index} < ${end}; ${index}++) {`, ...indent(inside), "}"];
    };
    return nest(0);
  }

  /** A line in chunks of 256 elements, which fold in 8 lanes. */
  private chunks(index: string, begin: string, end: string): Lines {
    const { body, reductions } = this;
    const lanes = new FoldLanes(body, reductions, this.request.ir.body, () => body.elementBody());
    return [
      `for (let $first = ${begin}; $first < ${end}; $first += ${REDUCTION_CHUNK}) {`,
      ...indent([
        `const $end = Math.min($first + ${REDUCTION_CHUNK}, ${end});`,
        ...lanes.start,
        ...lanes.loop(index, "$first", "$end"),
        ...lanes.end,
        ...reductions.map((r) => `${partials(body, r)}.push(${lanes.result(r)});`),
      ]),
      "}",
    ];
  }
}

const partials = (body: JsBody, { name }: ReduceParam): string => `$partials_${body.names.of(name)}`;
const total = (body: JsBody, { name }: ReduceParam): string => `$total_${body.names.of(name)}`;

/** Declares the totals of reductions that fold jointly. */
function jointTotals(body: JsBody, parts: readonly ReduceParam[]): string {
  const list = (of: (r: ReduceParam) => string): string => `[${parts.map(of).join(", ")}]`;
  const folds = list((r) => body.foldName(r));
  return `const ${list((r) => total(body, r))} = $foldJointly(${list((r) => partials(body, r))}, ${folds}, ${list(identityText)});`;
}
