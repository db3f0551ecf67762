import { contributionsIn } from "../../ir/analysis/contributions.js";
import { identityOf } from "../../ir/identity.js";
import { foldLanes } from "../../ir/lanes.js";
import { REDUCTION_LANES, type Stmt, type TeamResult } from "../../ir/types.js";
import { isShared, readsOutside, scratchArrays, teamRows } from "../../ir/analysis/teams.js";
import { blocksOf, hasJump } from "../../ir/walk.js";
import { WgslTeamOrder } from "./order.js";
import type { WgslBodyWriter } from "./body.js";
import { foldWorkgroup } from "./folds.js";
import type { WgslStmtOf } from "./frame.js";
import { WGSL_TYPES, zeroVariable, type ShaderEntry } from "./shader-program.js";
import type { Cells, WorkgroupFold } from "./subgroups.js";
import { EntryWriter, type ProgramWriter } from "./writer.js";

const LANES = REDUCTION_LANES;

/** The main shader of a team kernel: a workgroup is a team, its invocations are the members. */
export class TeamWriter extends EntryWriter {
  protected readonly indexNames: readonly string[];
  private readonly accumulators = new Map<string, string>();
  /** Results of the teamReduce being written. */
  private folding: readonly WorkgroupFold[] = [];
  /** True inside teamFor, teamReduce and single, where one invocation stands for one member. */
  private apart = false;
  private readonly order = new WgslTeamOrder();
  /**
   * In code with checked indices: an index that all members compute alike was outside, and one of a member. What decides for all of them must
   * not depend on what is known to one.
   */
  private readonly flags: readonly string[];
  private readonly scratch: ReadonlySet<string>;
  /** By sorted target: the variable with the team's next slot, alike for all members, and inside a shared loop the member's own. */
  private readonly nextSlots = new Map<string, string>();
  private readonly memberSlots = new Map<string, string>();
  private readonly barrierBefore: boolean;
  /** Statements that must be decided alike by all members, as barriers follow the decision. */
  private readonly decided = new Set<Stmt>();
  /** Statements right after a barrier, or after one that the same invocation runs: their values are available. */
  private readonly afterBarrier = new Set<Stmt>();
  /** Statements of one invocation that are followed by another such. */
  private readonly joined = new Set<Stmt>();
  /** Cells for folds of members' values, by type and number in one fold. */
  private readonly cells = new Map<string, string>();
  private readonly decisions = new Map<string, string>();

  constructor(program: ProgramWriter) {
    super(program, "main");
    this.indexNames = ["team", "place"];
    for (const { name } of program.reduces) this.accumulators.set(name, this.names.fresh(name));
    this.flags = this.ir.checks ? ["failed", "member_failed"].map((name) => this.names.fresh(name)) : [];
    this.scratch = scratchArrays(program.ir.body);
    this.barrierBefore = readsOutside(program.ir.body, (view) => program.access.views[view]?.written, this.scratch);
    this.collectDecided(program.ir.body, false);
    this.collectBarriers(program.ir.body);
  }

  entry(): ShaderEntry {
    const { code } = this;
    const { members } = this.program.assumptions;
    const team = this.indexNames[0];
    code.line("let thread = i32(thread_number);");
    code.line(`let threads = ${members};`);
    if (teamRows(this.ir).length > 0) code.line(`let ${this.indexNames[1]} = i32(workgroup.x);`);
    const sorted = this.program.scatters("sorted");
    const first = sorted.length > 0 ? this.field({ kind: "firstTeam" }) : undefined;
    const start = `${first ? `u32(${first}) + ` : ""}workgroup.x`;
    const n = this.names.fresh("n");
    // As u32, so that the last step of a stride does not wrap to below zero.
    code.block(`for (var ${n} = ${start}; ${n} < u32(${this.field({ kind: "league" })}); ${n} += workgroups.x)`, () => {
      code.line(`let ${team} = i32(${n});`);
      for (const flag of this.flags) code.line(`var ${flag} = false;`);
      for (const { name } of sorted) {
        const slot = this.names.fresh(`${name}_slot`);
        this.nextSlots.set(name, slot);
        code.line(`var ${slot} = (${team} - ${first}) * ${this.field({ kind: "slots", name })};`);
      }
      for (const { name, type, identity } of this.program.reduces)
        code.line(`var ${this.accumulators.get(name)} = ${this.body.constant(type, identity)};`);
      this.body.statements(this.ir.body);
      for (const param of this.program.reduces)
        code.line(`if thread == 0 { ${this.writePartial(param, team, this.accumulators.get(param.name)!)} }`);
      const last = this.ir.body.at(-1);
      if (!last || !this.endsWithBarrier(last)) this.barrier();
    });
    return this.finish([members, 1, 1]);
  }

  override fault(body: WgslBodyWriter, site: number, at: string): void {
    body.code.block(`if !${this.failed()}`, () => {
      body.code.line(`${this.flags[this.apart ? 1 : 0]} = true;`);
      body.code.line(this.noteFailure(String(site), at, [this.indexNames[0], ...this.order.place]));
    });
  }

  override failed(): string {
    return this.apart ? `(${this.flags.join(" || ")})` : this.flags[0];
  }

  override teamSize(): string {
    return "threads";
  }

  override uniform(body: WgslBodyWriter, stmt: Stmt, type: "bool" | "i32", value: string): string {
    if (!this.decided.has(stmt) || /^(-?\d+|launch\.\w+)$/.test(value)) return value;
    const decision = this.decisions.get(type) ?? this.shared(`decided_${type}`, type);
    this.decisions.set(type, decision);
    const known = this.names.fresh("known");
    body.code.line(`if thread == 0 { ${decision} = ${value}; }`);
    body.code.line(`let ${known} = workgroupUniformLoad(&${decision});`);
    return known;
  }

  override array(body: WgslBodyWriter, stmt: WgslStmtOf<"array">): void {
    if (stmt.space === "private") super.array(body, stmt);
    else this.declareShared(body.local(stmt.name), `array<${WGSL_TYPES[stmt.type]}, ${stmt.length}>`);
  }

  /** Outside of the shared loops a store happens once, between what all members did before it and what they do after. */
  override store(body: WgslBodyWriter, stmt: WgslStmtOf<"store">, offset: string, value: string): void {
    this.once(body, stmt, () => super.store(body, stmt, offset, value));
  }

  override setElement(body: WgslBodyWriter, stmt: WgslStmtOf<"setElement">, place: string, value: string): void {
    if (this.scratch.has(stmt.array)) this.once(body, stmt, () => super.setElement(body, stmt, place, value));
    else super.setElement(body, stmt, place, value);
  }

  override scatter(body: WgslBodyWriter, stmt: WgslStmtOf<"scatter">, offset: string, value: string): void {
    if (this.apart) return super.scatter(body, stmt, offset, value);
    const slot = this.nextSlots.get(stmt.target);
    body.code.block("if thread == 0", () => (slot ? this.contribute(body, stmt, value, slot) : super.scatter(body, stmt, offset, value)));
    if (slot) body.code.line(`${slot} += 1;`);
  }

  protected override slotOf(target: string): string {
    return this.memberSlots.get(target)!;
  }

  /**
   * Work that members share out, or that one of them does: members contribute in member order; the team's slot counter then advances past them.
   * `turn` is the number of the member's turn out of `turns`; `write` writes it, and calls what it is given at the start of each turn.
   */
  private contributing(
    body: WgslBodyWriter,
    stmts: readonly Stmt[],
    turn: string,
    turns: string,
    write: (begin: () => void) => void,
  ): void {
    const targets = [...this.nextSlots].flatMap(([target, next]) => {
      const count = contributionsIn(stmts, target) ?? 0;
      return count > 0 ? [{ target, next, count }] : [];
    });
    write(() => {
      for (const { target, next, count } of targets) {
        const slot = this.names.fresh(`${target}_member_slot`);
        this.memberSlots.set(target, slot);
        body.code.line(`var ${slot} = ${next}${turn === "0" ? "" : ` + ${turn} * ${count}`};`);
      }
    });
    for (const { next, count } of targets) body.code.line(`${next} += max(0, ${turns}) * ${count};`);
  }

  reduce(body: WgslBodyWriter, stmt: WgslStmtOf<"reduce">, value: string): void {
    const folding = this.folding.find(({ result }) => result.name === stmt.target);
    if (folding) return body.line(stmt, this.foldInto(folding.result, folding.result.type, folding.accumulator, value));
    const param = this.program.reduces.find((p) => p.name === stmt.target)!;
    body.line(stmt, this.foldInto(param, param.type, this.accumulators.get(stmt.target)!, value));
  }

  override reduceJointly(body: WgslBodyWriter, stmt: WgslStmtOf<"reduceJointly">, values: readonly string[]): void {
    this.reduceInto(body, stmt, values, (name) => this.accumulators.get(name)!);
  }

  override teamFor(body: WgslBodyWriter, stmt: WgslStmtOf<"teamFor">): void {
    if (this.apart) return this.laneLoop(body, stmt, this.turnsOf(body, stmt), this.folding);
    this.before(stmt);
    const count = this.turnsOf(body, stmt);
    const name = body.local(stmt.name);
    this.contributing(body, stmt.body, name, count, (begin) =>
      body.code.block(`for (var ${name} = thread; ${name} < ${count}; ${name} += threads)`, () => {
        begin();
        this.inside([], name, () => body.statements(stmt.body));
      }),
    );
    this.barrier();
  }

  override teamReduce(body: WgslBodyWriter, stmt: WgslStmtOf<"teamReduce">): void {
    // One invocation goes by the order of the elements, in which it scatters.
    if (this.apart || this.program.serial) return this.laneReduce(body, stmt);
    this.before(stmt);
    const folding = stmt.results.map((result) => ({
      result,
      accumulator: this.names.fresh(`${result.name}_part`),
      known: body.local(result.name),
    }));
    const count = this.turnsOf(body, stmt);
    if (this.inOrder) this.foldInOrder(body, stmt, folding, count);
    else this.foldInAnyOrder(body, stmt, folding, count);
    this.barrier();
  }

  /** A member is one invocation: no part of a workgroup can wait for its own stores. */
  private laneLoop(body: WgslBodyWriter, stmt: WgslStmtOf<"teamFor" | "teamReduce">, count: string, folding: TeamWriter["folding"]): void {
    const name = body.local(stmt.name);
    body.code.block(`for (var ${name} = 0; ${name} < ${count}; ${name}++)`, () =>
      this.inside(folding, name, () => body.statements(stmt.body)),
    );
  }

  /** In order, into as many sums as strict reductions have. */
  private laneReduce(body: WgslBodyWriter, stmt: WgslStmtOf<"teamReduce">): void {
    const { code } = body;
    const results = stmt.results.map((result) => ({
      result,
      sums: this.names.fresh(`${result.name}_sums`),
      known: body.local(result.name),
      identity: body.constant(result.type, identityOf(result.op, result.type)),
    }));
    const { inOrder } = this;
    for (const { result, known } of results) code.line(zeroVariable(known, WGSL_TYPES[result.type]));
    code.block("", () => {
      for (const { result, sums, identity } of results)
        code.line(
          `var ${sums} = ${inOrder ? `array<${WGSL_TYPES[result.type]}, ${LANES}>(${Array(LANES).fill(identity).join(", ")})` : identity};`,
        );
      const place = inOrder ? `[${body.local(stmt.name)} % ${LANES}]` : "";
      const count = this.turnsOf(body, stmt);
      this.laneLoop(
        body,
        stmt,
        count,
        results.map(({ result, sums }) => ({ result, accumulator: sums + place })),
      );
      for (const { result, sums, known } of results) {
        const values = Array.from({ length: LANES }, (_, k) => `${sums}[${k}]`);
        code.line(`${known} = ${inOrder ? foldLanes(values, (a, b) => body.fold(result.op, result.type, a, b)) : sums};`);
      }
    });
  }

  private get inOrder(): boolean {
    return this.program.ordered || this.program.serial;
  }

  /** Eight invocations are the lanes; where there are fewer each takes several lanes. */
  private foldInOrder(body: WgslBodyWriter, stmt: WgslStmtOf<"teamReduce">, folding: readonly KnownFolding[], count: string): void {
    const { code } = body;
    const cells = folding.map(({ result }, n) => this.cellsOf(result.type, n, LANES));
    const lane = this.names.fresh("lane");
    const name = body.local(stmt.name);
    this.contributing(body, stmt.body, name, count, (begin) =>
      code.block(`for (var ${lane} = thread; ${lane} < ${LANES}; ${lane} += threads)`, () => {
        this.declare(folding);
        code.block(`for (var ${name} = ${lane}; ${name} < ${count}; ${name} += ${LANES})`, () => {
          begin();
          this.inside(folding, name, () => body.statements(stmt.body));
        });
        folding.forEach(({ accumulator }, n) => code.line(`${cells[n]}[${lane}] = ${accumulator};`));
      }),
    );
    code.line("workgroupBarrier();");
    folding.forEach(({ result, known }, n) => {
      const values = Array.from({ length: LANES }, (_, k) => `${cells[n]}[${k}]`);
      code.line(`let ${known} = ${foldLanes(values, (a, b) => body.fold(result.op, result.type, a, b))};`);
    });
  }

  /** All members fold what they met. */
  private foldInAnyOrder(body: WgslBodyWriter, stmt: WgslStmtOf<"teamReduce">, folding: readonly KnownFolding[], count: string): void {
    const { code } = body;
    const name = body.local(stmt.name);
    for (const { known, result } of folding) code.line(zeroVariable(known, WGSL_TYPES[result.type]));
    code.block("", () => {
      this.declare(folding);
      this.contributing(body, stmt.body, name, count, (begin) =>
        code.block(`for (var ${name} = thread; ${name} < ${count}; ${name} += threads)`, () => {
          begin();
          this.inside(folding, name, () => body.statements(stmt.body));
        }),
      );
      const { members } = this.program.assumptions;
      foldWorkgroup(this, folding, members, this.cellsOf, ({ known }, value) => code.line(`${known} = ${value};`));
    });
  }

  override single(body: WgslBodyWriter, stmt: WgslStmtOf<"single">): void {
    this.before(stmt);
    this.contributing(body, stmt.body, "0", "1", (begin) =>
      body.code.block("if thread == 0", () => {
        begin();
        this.inside([], "0", () => body.statements(stmt.body));
      }),
    );
    this.barrier();
  }

  private declare(folding: readonly KnownFolding[]): void {
    for (const { result, accumulator } of folding)
      this.code.line(`var ${accumulator} = ${this.body.constant(result.type, identityOf(result.op, result.type))};`);
  }

  private readonly cellsOf: Cells = (type, n, length) => {
    const key = `${type}_${n}`;
    const cells = this.cells.get(key) ?? this.shared(`cells_${key}`, `array<${WGSL_TYPES[type]}, ${length}>`);
    this.cells.set(key, cells);
    return cells;
  };

  /** The number of turns of a shared loop, computed before its body changes memory if it is needed after the loop. */
  private turnsOf(body: WgslBodyWriter, stmt: WgslStmtOf<"teamFor" | "teamReduce">): string {
    const count = body.value(stmt.count);
    if (/^[\w.]+$/.test(count)) return count;
    const turns = this.names.fresh(`${stmt.name}_turns`);
    body.code.line(`let ${turns} = ${count};`);
    return turns;
  }

  /** `turn` is the variable of a shared loop. */
  private inside(folding: TeamWriter["folding"], turn: string, write: () => void): void {
    const before = [this.folding, this.apart] as const;
    [this.folding, this.apart] = [folding, true];
    this.order.inside(turn, write);
    [this.folding, this.apart] = before;
  }

  private once(body: WgslBodyWriter, stmt: Stmt, write: () => void): void {
    if (this.apart) return write();
    if (!this.afterBarrier.has(stmt)) this.barrier();
    body.code.block("if thread == 0", write);
    if (!this.joined.has(stmt)) this.barrier();
  }

  /** Members that still read what all may read, before one of them changes it. */
  private before(stmt: Stmt): void {
    if (this.barrierBefore && !this.afterBarrier.has(stmt)) this.barrier();
  }

  private barrier(): void {
    this.code.line("storageBarrier();");
    this.code.line("workgroupBarrier();");
  }

  private collectDecided(list: readonly Stmt[], looping: boolean): void {
    for (const stmt of list) {
      const loops = stmt.kind === "for" || stmt.kind === "while";
      if (!loops && stmt.kind !== "if") continue;
      if (!this.hasBarrier(stmt) && !(looping && !loops && hasJump([stmt]))) continue;
      this.decided.add(stmt);
      for (const block of blocksOf(stmt)) this.collectDecided(block, looping || loops);
    }
  }

  private collectBarriers(list: readonly Stmt[]): void {
    list.forEach((stmt, n) => {
      const next = list[n + 1];
      if (next && this.endsWithBarrier(stmt)) this.afterBarrier.add(next);
      if (next && this.isOnce(stmt) && this.isOnce(next)) this.joined.add(stmt);
      if (!isShared(stmt)) for (const block of blocksOf(stmt)) this.collectBarriers(block);
    });
  }

  private hasBarrier(stmt: Stmt): boolean {
    return this.endsWithBarrier(stmt) || blocksOf(stmt).some((block) => block.some((inner) => this.hasBarrier(inner)));
  }

  /** True of statements that end with a barrier. */
  private endsWithBarrier(stmt: Stmt): boolean {
    return isShared(stmt) || this.isOnce(stmt);
  }

  private isOnce(stmt: Stmt): boolean {
    return stmt.kind === "store" || (stmt.kind === "setElement" && this.scratch.has(stmt.array));
  }
}

/** A result of a teamReduce, and the variable in which all members have it in the end. */
interface KnownFolding extends WorkgroupFold {
  readonly result: TeamResult;
  readonly known: string;
}
