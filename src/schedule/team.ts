import { ownIdentifier, type Identifier } from "../base/names.js";
import { contributionsIn } from "../ir/analysis/contributions.js";
import { readsOutside, scratchArrays, teamRows, usesLanes } from "../ir/analysis/teams.js";
import type { Tunables } from "../ir/tuning.js";
import type { Stmt as KernelStmt } from "../ir/types.js";
import { blocksOf } from "../ir/walk.js";
import { isPlain, type Body } from "./body.js";
import {
  add,
  agreed,
  assign,
  BARRIER,
  block,
  blocks,
  cast,
  declare,
  div,
  element,
  eq,
  fixed,
  gt,
  lt,
  increase,
  local,
  mul,
  num,
  or,
  rem,
  sub,
  thread,
  threads,
  upTo,
  valueOf,
  variable,
  when,
  word,
  write,
} from "./build.js";
import { entryName, EntrySchedule, type ScheduledEntry } from "./entry.js";
import type { Program } from "./kernel-program.js";
import { turnsOverOwnArrays } from "./own-arrays.js";
import { TeamOrder } from "./faults.js";
import { isFirstThread, THREAD, THREADS } from "./folds.js";
import { turnsOverScratch } from "./shared-turns.js";
import type { StmtOf } from "./frame.js";
import type { Expr, Memory, Place, Stmt } from "./nodes.js";
import { TeamFolds, type Folding, type Runners, type SharedLoop, type SharingTeam } from "./team-folds.js";
import { dynamicScratchBytes, lanesOf, unitsOf } from "./team-size.js";

/**
 * The main entry of a team kernel: a block is a team, its threads are the members, or `lanes` neighbouring ones each where members share
 * work out among lanes. All lanes of a member run what it does outside of their loops, with the same values.
 */
export class TeamSchedule extends EntrySchedule implements SharingTeam {
  protected readonly indexNames: readonly Identifier[];
  private readonly accumulators = new Map<string, Place>();
  /** Results of the teamReduce at hand. */
  folding: readonly Folding[] = [];
  runs: Runners = "team";
  readonly lanes: number;
  readonly member: { lane: Expr; number: Expr; count: Expr; group: Expr } = { lane: num(0), number: THREAD, count: THREADS, group: num(0) };
  private scratchMemory: Memory | undefined;
  private scratchOffset = 0;
  private readonly scratch: ReadonlySet<string>;
  /** By sorted target: the variable with the team's next slot, alike for all members, and inside a shared loop the member's own. */
  private readonly nextSlots = new Map<string, Place>();
  private readonly memberSlots = new Map<string, Place>();
  private readonly order = new TeamOrder();
  /**
   * In code with checked indices, by who runs it alike: an index of theirs was outside. What decides for all of them must not depend on what
   * is known to one.
   */
  private readonly flags: Readonly<Record<Runners, Identifier>>;
  private readonly barrierBefore: boolean;
  private readonly dynamic_: boolean;
  private readonly folds = new TeamFolds(this);

  constructor(program: Program) {
    super(program, entryName(program.ir.name), true);
    this.indexNames = [ownIdentifier("team"), ownIdentifier("place")];
    for (const { name, type } of program.reduces) this.accumulators.set(name, variable(this.names.fresh(name), type));
    this.dynamic_ = dynamicScratchBytes(program.ir.body) > 0;
    const flag = (wish: string) => (this.ir.checks ? this.names.fresh(wish) : ownIdentifier(""));
    this.flags = { team: flag("failed"), member: flag("member_failed"), thread: flag("thread_failed") };
    this.scratch = scratchArrays(program.ir.body);
    this.barrierBefore = readsOutside(program.ir.body, (view) => program.access.views[view]?.written === true, this.scratch);
    this.lanes = lanesOf(program);
  }

  schedule(): ScheduledEntry {
    const { out } = this;
    const [teamName, placeName] = this.indexNames as [Identifier, Identifier];
    const team = local(teamName, "index");
    const league = this.number({ kind: "league" }, "i32", "league");
    if (this.dynamic_) this.scratchMemory = this.dynamicShared("scratch_memory");
    const { abreast } = this;
    const beside = abreast > 1 ? this.names.fresh("beside") : "";
    if (beside) out.put(fixed(beside, cast(rem(thread("x"), abreast), "int")));
    const shared = (all: Expr) => cast(beside ? div(all, abreast) : all, "int");
    out.put(fixed("thread", shared(thread("x"))), {
      kind: "let",
      id: ownIdentifier("threads"),
      type: "int",
      value: shared(threads("x")),
      fixed: true,
      ifUsed: true,
    });
    if (this.lanes > 1) this.declareMember();
    if (teamRows(this.ir).length > 0) out.put(fixed(placeName, cast(block("x"), "index")));
    const sorted = this.program.scatters("sorted");
    const first = sorted.length > 0 ? this.number({ kind: "firstTeam" }, "i32", "first_team") : undefined;
    const own = beside ? add(mul(cast(block("x"), "index"), abreast), cast(local(beside, "int"), "index")) : cast(block("x"), "index");
    const body = out.inside(() => this.team(team, first));
    const start = first ? add(cast(first, "index"), own) : own;
    const more = lt(team, cast(league, "index"));
    out.put({
      kind: "loop",
      id: teamName,
      type: "index",
      start,
      // Blocks have as many teams as are abreast, all of which take the same number of turns.
      cond: beside ? agreed(more) : more,
      step: { fn: "add", by: beside ? mul(blocks("x"), abreast) : blocks("x") },
      body,
    });
    return this.finished(this.threads, [this.threads, 1, 1], this.resident(this.threads));
  }

  private team(team: Expr, first: Expr | undefined): void {
    const { out, program } = this;
    if (this.ir.checks) for (const name of Object.values(this.flags)) out.put(declare(name, "bool", FALSE));
    for (const { name } of program.scatters("sorted")) {
      const slot = this.names.fresh(`${name}_slot`);
      this.nextSlots.set(name, variable(slot, "u32"));
      out.put(declare(slot, "u32", mul(cast(sub(team, cast(first!, "index")), "u32"), this.slotCount(name))));
    }
    for (const param of program.reduces) out.put(declare(this.nameOf(param.name), param.type, this.identity(param)));
    this.body.statements(this.ir.body);
    for (const { name, type } of program.reduces) {
      const partials = this.given({ kind: "partials", name }, `${name}_partials`, type, { apart: true });
      out.put(when(isFirstThread, [write(partials, team, valueOf(this.accumulators.get(name)!))]));
    }
  }

  private nameOf(reduction: string): Identifier {
    return (this.accumulators.get(reduction) as Extract<Place, { id: Identifier }>).id;
  }

  /** Ways in which teams can be tuned. */
  tunables(): Tunables {
    return this.residents(false);
  }

  private declareMember(): void {
    const { out, lanes } = this;
    const [lane, number, count] = ["lane", "member", "members"].map((wish) => this.names.fresh(wish)) as [
      Identifier,
      Identifier,
      Identifier,
    ];
    const of = (name: Identifier) => local(name, "int");
    out.put(fixed(lane, rem(THREAD, lanes)), fixed(number, div(THREAD, lanes)), fixed(count, div(THREADS, lanes)));
    Object.assign(this.member, { lane: of(lane), number: of(number), count: of(count) });
    if (!this.features.namesLanes) return;
    const group = this.names.fresh("lanes");
    out.put(fixed(group, word("lanesTogether", "u32", THREAD, of(lane), num(lanes))));
    this.member.group = local(group, "u32");
  }

  /** Teams of a block, side by side. */
  get abreast(): number {
    return this.program.assumptions.abreast ?? 1;
  }

  get threads(): number {
    return this.program.assumptions.members;
  }

  override fault(body: Body, site: number, at: Expr): void {
    const note = this.out.inside(() => {
      this.out.put(assign(variable(this.flags[this.runs], "bool"), TRUE));
      this.noteFailure(num(site), at, [local(this.indexNames[0]!, "index"), ...this.order.place]);
    });
    body.out.put(when({ op: "unary", type: "bool", fn: "not", a: this.failed() }, note));
  }

  override failed(): Expr {
    const [team, member, own] = [this.flags.team, this.flags.member, this.flags.thread].map((name) => local(name, "bool")) as [
      Expr,
      Expr,
      Expr,
    ];
    return { team, member: or(team, member), thread: or(team, member, own) }[this.runs];
  }

  override teamSize(): Expr {
    return cast(this.member.count, "i32");
  }

  turnsWrittenOut(stmt: StmtOf<"for">): number | undefined {
    return this.features.writesOutTurns ? (turnsOverOwnArrays(this.ir, stmt) ?? turnsOverScratch(stmt)) : undefined;
  }

  override array(body: Body, stmt: StmtOf<"array">): Memory {
    const name = body.local(stmt.name);
    if (stmt.space === "private") return super.array(body, stmt);
    if (!this.scratchMemory) return this.sharedArray(name, stmt.type, stmt.length);
    const memory: Memory = { id: name, element: stmt.type, space: "block" };
    body.out.put({ kind: "pointer", memory, fixed: true, to: { of: this.scratchMemory, offset: num(this.scratchOffset) } });
    this.scratchOffset += unitsOf(stmt);
    return memory;
  }

  /* Stores and scatters. */

  /** Outside of the shared loops a store happens once, between what all members did before it and what they do after. */
  override store(body: Body, stmt: StmtOf<"store">, offset: Expr, value: Expr): void {
    this.once(body, assign(element(this.memory(stmt.view), offset), value));
  }

  override setElement(body: Body, stmt: StmtOf<"setElement">, memory: Memory, offset: Expr, value: Expr): void {
    if (this.scratch.has(stmt.array)) this.once(body, assign(element(memory, offset), value));
    else super.setElement(body, stmt, memory, offset, value);
  }

  override scatter(body: Body, stmt: StmtOf<"scatter">, offset: Expr, value: Expr): void {
    if (this.runs === "thread") return super.scatter(body, stmt, offset, value);
    const whole = () => super.scatter(body, stmt, offset, value);
    if (this.runs === "member") return void body.out.put(when(eq(this.member.lane, 0), body.out.inside(whole)));
    const slot = this.nextSlots.get(stmt.target);
    body.out.put(
      when(
        isFirstThread,
        body.out.inside(() => (slot ? this.contribute(body, stmt, value, slot, "put") : whole())),
      ),
    );
    if (slot) body.out.put(increase(slot, 1));
  }

  protected override slotOf(target: string): Place {
    return this.memberSlots.get(target)!;
  }

  /**
   * Work that members share out, or that one of them does: members contribute in member order; the team's slot counter then advances past them.
   * `turn` is the number of the member's turn out of `turns`, undefined for the only one; `make` makes it, and calls what it is given at the start of
   * each turn.
   */
  contributing(
    body: Body,
    stmts: readonly KernelStmt[],
    loop: { turn: Expr; turns: Expr } | undefined,
    make: (begin: () => void) => void,
  ): void {
    const targets = [...this.nextSlots].flatMap(([target, next]) => {
      const count = contributionsIn(stmts, target) ?? 0;
      return count > 0 ? [{ target, next, count }] : [];
    });
    const counted = (turns: Expr, count: number): Expr => mul(cast(turns, "u32"), { op: "const", type: "u32", value: count });
    make(() => {
      for (const { target, next, count } of targets) {
        const slot = this.names.fresh(`${target}_member_slot`);
        this.memberSlots.set(target, variable(slot, "u32"));
        body.out.put(declare(slot, "u32", loop ? add(valueOf(next), counted(loop.turn, count)) : valueOf(next)));
      }
    });
    for (const { next, count } of targets) {
      const turns = loop?.turns ?? num(1);
      const known = turns.op === "const" ? Number(turns.value) : undefined;
      const by: Expr = known === undefined ? counted(turns, count) : { op: "const", type: "u32", value: known * count };
      if (known !== undefined) body.out.put(increase(next, by));
      else body.out.put(when(gt(turns, 0), [increase(next, by)]));
    }
  }

  reduce(body: Body, stmt: StmtOf<"reduce">, value: Expr): void {
    const folding = this.folding.find(({ result }) => result.name === stmt.target);
    if (folding) return this.foldInto(body, folding.result.op, folding.result.type, folding.accumulator, value);
    const param = this.program.reduces.find((p) => p.name === stmt.target)!;
    this.foldInto(body, param, param.type, this.accumulators.get(stmt.target)!, value);
  }

  override reduceJointly(body: Body, stmt: StmtOf<"reduceJointly">, values: readonly Expr[]): void {
    const parts = stmt.targets.map((target) => this.program.reduces.find((p) => p.name === target)!);
    this.foldAll(
      body,
      parts,
      stmt.targets.map((target) => this.accumulators.get(target)!),
      values,
    );
  }

  /* Shared loops. */

  override teamFor(body: Body, stmt: StmtOf<"teamFor">): void {
    if (this.runs !== "team") return this.laneFor(body, stmt);
    this.before(body);
    const turns = this.turnsOf(body, stmt);
    const name = body.enter(stmt);
    this.sharedLoop(body, stmt, { name, turns, folding: this.folding });
    this.barrier(body);
  }

  /** A loop that the team's members share out, each with turns at a distance. */
  sharedLoop(body: Body, stmt: SharedLoop, of: { name: Identifier; turns: Expr; folding: readonly Folding[] }): void {
    const [first, step] = this.sharersOf(stmt);
    const turn = local(of.name, "index");
    this.contributing(body, stmt.body, { turn, turns: of.turns }, (begin) => {
      const inside = body.out.inside(() => {
        begin();
        this.inside(this.runnersOf(stmt), turn, () => body.statements(stmt.body), of.folding);
      });
      body.out.put(upTo(of.name, cast(first, "index"), of.turns, cast(step, "index"), inside));
    });
  }

  /** A loop over lanes; by one thread where it is the member. */
  private laneFor(body: Body, stmt: StmtOf<"teamFor">): void {
    const turns = this.turnsOf(body, stmt);
    const writes = this.writes(stmt.body);
    if (writes) this.synchronise(body);
    this.laneTurns(body, stmt, turns, this.folding);
    if (writes) this.synchronise(body);
  }

  override teamReduce(body: Body, stmt: StmtOf<"teamReduce">): void {
    if (this.runs === "team") this.before(body);
    this.folds.reduce(body, stmt);
    if (this.runs === "team") this.barrier(body);
  }

  /** The loop itself: each lane takes its turns, or one thread all of them. */
  laneTurns(body: Body, stmt: SharedLoop, turns: Expr, folding: readonly Folding[]): void {
    const name = body.enter(stmt);
    const [first, by] = this.runs === "member" ? [cast(this.member.lane, "index"), this.lanes] : [num(0, "index"), 1];
    const inside = body.out.inside(() => this.inside("thread", local(name, "index"), () => body.statements(stmt.body), folding));
    body.out.put(upTo(name, first, turns, by, inside));
  }

  /** True of statements that write memory which other threads may read. */
  writes(stmts: readonly KernelStmt[]): boolean {
    return stmts.some(
      (stmt) =>
        stmt.kind === "store" ||
        (stmt.kind === "setElement" && this.scratch.has(stmt.array)) ||
        blocksOf(stmt).some((list) => this.writes(list)),
    );
  }

  override single(body: Body, stmt: StmtOf<"single">): void {
    this.before(body);
    this.contributing(body, stmt.body, undefined, (begin) => {
      const inside = body.out.inside(() => {
        begin();
        this.inside("thread", num(0), () => body.statements(stmt.body));
      });
      body.out.put(when(isFirstThread, inside));
    });
    this.barrier(body);
  }

  /** The number of turns of a shared loop, computed before its body changes memory if it is needed after the loop. */
  turnsOf(body: Body, stmt: SharedLoop): Expr {
    const count = body.integer(stmt.count);
    if (this.nextSlots.size === 0 || isPlain(count)) return count;
    const turns = this.names.fresh(`${stmt.name}_turns`);
    body.out.put(fixed(turns, count));
    return local(turns, "index");
  }

  /** Who runs the body of a loop of the team: a member of several threads where they share work out. */
  runnersOf({ body }: SharedLoop): "member" | "thread" {
    return this.lanes > 1 && usesLanes(body) ? "member" : "thread";
  }

  /** The number of who runs the body of such a loop, and how many there are. */
  sharersOf(stmt: SharedLoop): readonly [number: Expr, count: Expr] {
    return this.runnersOf(stmt) === "member" ? [this.member.number, this.member.count] : [THREAD, THREADS];
  }

  /** `turn` is the variable of a shared loop. */
  inside(runs: "member" | "thread", turn: Expr, make: () => void, folding: readonly Folding[] = this.folding): void {
    const outer = { runs: this.runs, folding: this.folding };
    Object.assign(this, { runs, folding });
    this.order.inside(turn, make);
    Object.assign(this, outer);
  }

  private once(body: Body, store: Stmt): void {
    const { out } = body;
    if (this.runs === "thread") return void out.put(store);
    if (this.runs === "member") {
      this.synchronise(body);
      out.put(when(eq(this.member.lane, 0), [store]));
      return this.synchronise(body);
    }
    const [before, last] = out.last(2);
    // Stores of one thread, one after the other, need no barriers in between.
    if (last?.kind === "barrier" && before && this.isOnce.has(before)) out.takeBack();
    else this.barrier(body);
    out.put(when(isFirstThread, [store]));
    this.isOnce.add(out.last(1)[0]!);
    this.barrier(body);
  }

  /** Statements that store for the team. */
  private readonly isOnce = new WeakSet<Stmt>();

  /** The lanes of a member see each other's stores, where memory passes between them. */
  synchronise(body: Body): void {
    const { access, assumptions } = this.program;
    const passes =
      this.scratch.size > 0 || !assumptions.restrict || Object.values(access.views).some(({ read, written }) => read && written);
    if (this.runs === "member" && passes) body.out.put({ kind: "lanesBarrier", lanes: this.member.group });
  }

  /** Waits for all threads, unless they have just waited. */
  barrier(body: Body): void {
    if (body.out.last(1)[0]?.kind !== "barrier") body.out.put(BARRIER);
  }

  /** Members that still read what all may read, before one of them changes it. */
  private before(body: Body): void {
    if (this.barrierBefore) this.barrier(body);
  }
}

const TRUE: Expr = { op: "const", type: "bool", value: true };
const FALSE: Expr = { op: "const", type: "bool", value: false };
