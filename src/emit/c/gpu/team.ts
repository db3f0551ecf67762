import { isFloat } from "../../../ir/scalars.js";
import { contributionsIn } from "../../../ir/analysis/contributions.js";
import { identityOf } from "../../../ir/identity.js";
import { foldLanes } from "../../../ir/lanes.js";
import { REDUCTION_LANES, type Stmt, type TeamResult } from "../../../ir/types.js";
import { laneLoops, readsOutside, scratchArrays, teamRows, usesLanes } from "../../../ir/analysis/teams.js";
import type { Tunables } from "../../../ir/tuning.js";
import { blocksOf } from "../../../ir/walk.js";
import type { BodyWriter } from "../body.js";
import { TeamOrder } from "./faults.js";
import { foldByHalves } from "./folds.js";
import type { Entry } from "./program.js";
import { entryName, EntryWriter, type ProgramWriter, type StmtOf } from "./writer.js";

const LANES = REDUCTION_LANES;
/** The largest team, and the default. */
export const MEMBER_LIMIT = 1024;
export const MEMBERS = 256;
/** Lanes of a member where their loops have no length that is known. */
export const DEFAULT_LANES = 8;
/** Static shared memory of a block; scratch beyond it is dynamic. */
const STATIC_SHARED = 40 << 10;

/** The beginning of a line that stores for the team. */
const ONE_THREAD = "if (thread == 0) ";

const SIZE = { f64: 8, f32: 4, i32: 4, u32: 4 };

/** Bytes of the kernel's scratch arrays, each on a multiple of 8. */
function scratchBytes(body: readonly Stmt[]): number {
  return body.reduce((sum, stmt) => {
    const own = stmt.kind === "array" && stmt.space === "scratch" ? Math.ceil((stmt.length * SIZE[stmt.type]) / 8) * 8 : 0;
    return sum + own + blocksOf(stmt).reduce((inner, block) => inner + scratchBytes(block), 0);
  }, 0);
}

/** Scratch bytes that do not fit the static limit, which a launch must ask for. */
export function dynamicScratchBytes(body: readonly Stmt[]): number {
  const bytes = scratchBytes(body);
  return bytes > STATIC_SHARED ? bytes : 0;
}

/** Lanes of a member of the kernel's teams; 1 where it does not share work out among them. */
export const lanesOf = ({ assumptions, dialect, ir }: ProgramWriter): number =>
  dialect.shuffle && laneLoops(ir.body).length > 0 ? assumptions.lanes : 1;

/**
 * The main entry of a team kernel: a block is a team, its threads are the members, or `lanes` neighbouring ones each where members share
 * work out among lanes. All lanes of a member run what it does outside of their loops, with the same values.
 */
export class TeamWriter extends EntryWriter {
  protected readonly indexNames: readonly string[];
  private readonly accumulators = new Map<string, string>();
  /** Results of the teamReduce being written. */
  private folding: readonly { result: TeamResult; accumulator: string }[] = [];
  /** Threads that run the statements being written: all threads alike, the threads of a member alike, or one thread by itself. */
  private runs: "team" | "member" | "thread" = "team";
  private readonly lanes: number;
  private readonly member = { lane: "", number: "thread", count: "threads", mask: "" };
  private scratchMemory = "";
  private scratchOffset = 0;
  private readonly scratch: ReadonlySet<string>;
  /** By sorted target: the variable with the team's next slot, alike for all members, and inside a shared loop the member's own. */
  private readonly nextSlots = new Map<string, string>();
  private readonly memberSlots = new Map<string, string>();
  private readonly order = new TeamOrder();
  /**
   * In code with checked indices, by who runs it alike: an index of theirs was outside. What decides for all of them must not depend on what
   * is known to one.
   */
  private readonly flags: Readonly<Record<typeof this.runs, string>>;
  private readonly barrierBefore: boolean;
  private readonly dynamic: boolean;

  constructor(program: ProgramWriter) {
    super(program, entryName(program.ir.name), true);
    this.indexNames = ["team", "place"];
    for (const { name } of program.reduces) this.accumulators.set(name, this.names.fresh(name));
    this.dynamic = dynamicScratchBytes(program.ir.body) > 0;
    const flag = (wish: string) => (this.ir.checks ? this.names.fresh(wish) : "");
    this.flags = { team: flag("failed"), member: flag("member_failed"), thread: flag("thread_failed") };
    this.scratch = scratchArrays(program.ir.body);
    this.barrierBefore = readsOutside(program.ir.body, (view) => program.access.views[view]?.written, this.scratch);
    this.lanes = lanesOf(program);
  }

  write(): { entry: Entry; text: string } {
    const { code, T } = this;
    const team = this.indexNames[0];
    const league = this.param({ kind: "league" }, "i32", "league");
    const { block, blocks, thread, threads } = this.dialect;
    if (this.dynamic) this.scratchMemory = this.dynamicShared("scratch_memory");
    const { abreast } = this;
    const place = abreast > 1 ? this.names.fresh("beside") : "";
    if (place) code.line(`const int ${place} = ${thread("x")} % ${abreast};`);
    code.line(`const int thread = ${thread("x")}${place ? ` / ${abreast}` : ""};`);
    code.declaration("threads", `const int threads = ${threads("x")}${place ? ` / ${abreast}` : ""};`);
    if (this.lanes > 1) this.declareMember();
    if (teamRows(this.ir).length > 0) code.line(`const ${T.index} ${this.indexNames[1]} = ${block("x")};`);
    const sorted = this.program.scatters("sorted");
    const first = sorted.length > 0 ? this.param({ kind: "firstTeam" }, "i32", "first_team") : undefined;
    code.block(
      `for (${T.index} ${team} = ${first ? `${first} + ` : ""}${place ? `${block("x")} * ${abreast} + ${place}` : block("x")}; ${team} < ${league}; ${team} += ${blocks("x")}${place ? ` * ${abreast}` : ""})`,
      () => {
        if (this.ir.checks) for (const flag of Object.values(this.flags)) code.line(`bool ${flag} = false;`);
        for (const { name } of sorted) {
          const slot = this.names.fresh(`${name}_slot`);
          this.nextSlots.set(name, slot);
          code.line(`unsigned int ${slot} = (unsigned int)(${team} - ${first}) * ${this.slotCount(name)};`);
        }
        for (const { name, type, identity } of this.program.reduces)
          code.line(`${T[type]} ${this.accumulators.get(name)} = ${this.constant(type, identity)};`);
        this.body.statements(this.ir.body);
        for (const { name, type } of this.program.reduces) {
          const partials = this.pointerParam({ kind: "partials", name }, `${name}_partials`, type, { restrict: true });
          code.line(`if (thread == 0) ${partials}[${team}] = ${this.accumulators.get(name)};`);
        }
      },
    );
    return this.finish(this.threads, [this.threads, 1, 1], this.resident(this.threads));
  }

  /** Ways in which teams can be tuned. */
  tunables(): Tunables {
    return this.residents(false);
  }

  private declareMember(): void {
    const { code, lanes, member } = this;
    const { mask } = this.dialect.shuffle!.group;
    Object.assign(member, { lane: this.names.fresh("lane"), number: this.names.fresh("member"), count: this.names.fresh("members") });
    code.line(`const int ${member.lane} = thread % ${lanes};`);
    code.line(`const int ${member.number} = thread / ${lanes};`);
    code.line(`const int ${member.count} = threads / ${lanes};`);
    if (!mask) return;
    member.mask = this.names.fresh("lanes");
    code.line(`const unsigned int ${member.mask} = ${mask("thread", member.lane, lanes)};`);
  }

  get threads(): number {
    return this.program.assumptions.members;
  }

  private get abreast(): number {
    return this.program.assumptions.abreast ?? 1;
  }

  override fault(_body: BodyWriter, site: number, at: string): string {
    const note = this.noteFailure(String(site), at, [this.indexNames[0], ...this.order.place]);
    return `${this.failed()} ? (void)0 : (${this.flags[this.runs]} = true, ${note})`;
  }

  override failed(): string {
    const { team, member, thread } = this.flags;
    return { team, member: `(${team} || ${member})`, thread: `(${team} || ${member} || ${thread})` }[this.runs];
  }

  override teamSize(): string {
    return this.member.count;
  }

  array(body: BodyWriter, stmt: StmtOf<"array">): void {
    const name = body.local(stmt.name);
    const type = this.T[stmt.type];
    if (stmt.space === "private") body.code.line(`${type} ${name}[${stmt.length}] = {0};`);
    else if (!this.dynamic) this.sharedArray(name, stmt.type, stmt.length);
    else {
      const pointer = this.dialect.pointer("shared", stmt.type);
      body.code.line(`${pointer}const ${name} = (${pointer.trimEnd()})(${this.scratchMemory} + ${this.scratchOffset});`);
      this.scratchOffset += Math.ceil((stmt.length * SIZE[stmt.type]) / 8);
    }
  }

  /** Outside of the shared loops a store happens once, between what all members did before it and what they do after. */
  store(body: BodyWriter, stmt: StmtOf<"store">, place: string, value: string): void {
    this.once(body, stmt, `${place} = ${value};`);
  }

  setElement(body: BodyWriter, stmt: StmtOf<"setElement">, place: string, value: string): void {
    if (this.scratch.has(stmt.array)) this.once(body, stmt, `${place} = ${value};`);
    else body.line(stmt, `${place} = ${value};`);
  }

  override scatter(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void {
    if (this.runs === "thread") return super.scatter(body, stmt, offset, value);
    if (this.runs === "member") {
      body.code.block(`if (${this.member.lane} == 0)`, () => super.scatter(body, stmt, offset, value));
      return;
    }
    const slot = this.nextSlots.get(stmt.target);
    body.code.block("if (thread == 0)", () => (slot ? this.contribute(body, stmt, value, slot) : super.scatter(body, stmt, offset, value)));
    if (slot) body.code.line(`${slot}++;`);
  }

  protected override slotOf(target: string): string {
    return this.memberSlots.get(target)!;
  }

  /**
   * Work that members share out, or that one of them does: members contribute in member order; the team's slot counter then advances past them.
   * `turn` is the number of the member's turn out of `turns`; `write` writes it, and calls what it is given at the start of each turn.
   */
  private contributing(body: BodyWriter, stmts: readonly Stmt[], turn: string, turns: string, write: (begin: () => void) => void): void {
    const targets = [...this.nextSlots].flatMap(([target, next]) => {
      const count = contributionsIn(stmts, target) ?? 0;
      return count > 0 ? [{ target, next, count }] : [];
    });
    write(() => {
      for (const { target, next, count } of targets) {
        const slot = this.names.fresh(`${target}_member_slot`);
        this.memberSlots.set(target, slot);
        body.code.line(`unsigned int ${slot} = ${next}${turn === "0" ? "" : ` + (unsigned int)${turn} * ${count}u`};`);
      }
    });
    const constant = /^\d+$/.test(turns);
    for (const { next, count } of targets)
      body.code.line(
        constant ? `${next} += ${Number(turns) * count}u;` : `if (${turns} > 0) ${next} += (unsigned int)${turns} * ${count}u;`,
      );
  }

  reduce(body: BodyWriter, stmt: StmtOf<"reduce">, value: string): void {
    const folding = this.folding.find(({ result }) => result.name === stmt.target);
    if (folding) return this.foldInto(body, folding.result.op, folding.result.type, folding.accumulator, value, stmt);
    const param = this.program.reduces.find((p) => p.name === stmt.target)!;
    this.foldInto(body, param, param.type, this.accumulators.get(stmt.target)!, value, stmt);
  }

  override teamFor(body: BodyWriter, stmt: StmtOf<"teamFor">): void {
    if (this.runs !== "team") return this.laneFor(body, stmt);
    const { index } = this.T;
    this.before(body);
    const count = this.turnsOf(body, stmt);
    const name = body.enter(stmt);
    const [first, step] = this.sharersOf(stmt);
    this.contributing(body, stmt.body, name, count, (begin) => {
      body.code.line(`for (${index} ${name} = ${first}; ${name} < ${count}; ${name} += ${step}) {`);
      body.code.indented(begin);
      this.inside(this.runnersOf(stmt), name, () => body.loop(stmt.body));
      body.code.line("}");
    });
    this.barrier(body);
  }

  /** A loop over lanes; by one thread where it is the member. */
  private laneFor(body: BodyWriter, stmt: StmtOf<"teamFor">): void {
    const count = this.turnsOf(body, stmt);
    const writes = this.writes(stmt.body);
    if (writes) this.synchronise(body);
    this.lanesTurns(body, stmt, count, this.folding);
    if (writes) this.synchronise(body);
  }

  override teamReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">): void {
    if (this.runs === "team") this.before(body);
    const folding = stmt.results.map((result) => ({
      result,
      accumulator: this.names.fresh(`${result.name}_part`),
      known: body.local(result.name),
    }));
    const identities = folding.map(({ result }) => this.constant(result.type, identityOf(result.op, result.type)));
    for (const { result, known } of folding) body.code.line(`${this.T[result.type]} ${known};`);
    body.code.block("", () => {
      // One thread goes by the order of the elements, in which it scatters.
      if (this.runs !== "team" || this.program.serial) this.laneReduce(body, stmt, folding, identities);
      else if (this.inOrder) this.strictReduce(body, stmt, folding, identities);
      else this.fastReduce(body, stmt, folding, identities);
    });
    if (this.runs === "team") this.barrier(body);
  }

  private get inOrder(): boolean {
    return this.program.ordered || this.program.serial;
  }

  /**
   * The lanes of a member fold with each other, in the order of strict reductions: each thread has several of the eight sums of that order
   * where it is one of fewer. In any order one is enough.
   */
  private laneReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">, folding: readonly Folding[], identities: readonly string[]): void {
    const threads = this.runs === "member" ? this.lanes : 1;
    const parts = this.inOrder ? LANES / threads : 1;
    const count = this.turnsOf(body, stmt);
    const name = body.enter(stmt);
    const part = `[${threads > 1 ? `${name} / ${threads}` : name} % ${parts}]`;
    folding.forEach(({ result, accumulator }, n) => {
      const [size, start] = parts > 1 ? [`[${parts}]`, `{${Array(parts).fill(identities[n]).join(", ")}}`] : ["", identities[n]];
      body.code.line(`${this.T[result.type]} ${accumulator}${size} = ${start};`);
    });
    const writes = this.writes(stmt.body);
    if (writes) this.synchronise(body);
    this.lanesTurns(body, stmt, count, parts > 1 ? folding.map((f) => ({ ...f, accumulator: f.accumulator + part })) : folding);
    for (const { result, accumulator, known } of folding) {
      const sums = Array.from({ length: parts }, (_, k) => `${accumulator}[${k}]`);
      body.code.line(`${known} = ${parts > 1 ? foldLanes(sums, (a, b) => this.fold(body, result, a, b)) : accumulator};`);
      for (let step = threads / 2; step >= 1; step /= 2)
        this.foldInto(body, result.op, result.type, known, this.dialect.shuffle!.group.xor(known, step, this.member.mask));
    }
    if (writes) this.synchronise(body);
  }

  /** The loop itself: each lane takes its turns, or one thread all of them. */
  private lanesTurns(body: BodyWriter, stmt: StmtOf<"teamFor" | "teamReduce">, count: string, folding: typeof this.folding): void {
    const name = body.enter(stmt);
    const [first, next] = this.runs === "member" ? [this.member.lane, `${name} += ${this.lanes}`] : [0, `${name}++`];
    body.code.line(`for (${this.T.index} ${name} = ${first}; ${name} < ${count}; ${next}) {`);
    this.inside("thread", name, () => body.loop(stmt.body), folding);
    body.code.line("}");
  }

  /** True of statements that write memory which other threads may read. */
  private writes(stmts: readonly Stmt[]): boolean {
    return stmts.some(
      (stmt) =>
        stmt.kind === "store" ||
        (stmt.kind === "setElement" && this.scratch.has(stmt.array)) ||
        blocksOf(stmt).some((block) => this.writes(block)),
    );
  }

  /** Eight threads are the lanes; where there are fewer threads each takes several lanes. */
  private strictReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">, folding: readonly Folding[], identities: readonly string[]): void {
    const { index } = this.T;
    const lane = this.names.fresh("lane");
    const lanes = folding.map(({ result }) => {
      const array = this.names.fresh(`${result.name}_lanes`);
      this.sharedArray(array, result.type, LANES);
      return array;
    });
    const count = this.turnsOf(body, stmt);
    const name = body.enter(stmt);
    const [first, step] = this.sharersOf(stmt);
    const runs = this.runnersOf(stmt);
    const sharers = this.program.assumptions.members / (runs === "member" ? this.lanes : 1);
    // A condition where a loop has one turn at most: PoCL 3.1 loses sums of such a loop around another.
    if (sharers >= LANES) body.code.line(`const int ${lane} = ${first};`);
    const head = sharers >= LANES ? `if (${lane} < ${LANES})` : `for (int ${lane} = ${first}; ${lane} < ${LANES}; ${lane} += ${step})`;
    this.contributing(body, stmt.body, name, count, (begin) =>
      body.code.block(head, () => {
        folding.forEach(({ result, accumulator }, n) => body.code.line(`${this.T[result.type]} ${accumulator} = ${identities[n]};`));
        body.code.line(`for (${index} ${name} = ${lane}; ${name} < ${count}; ${name} += ${LANES}) {`);
        body.code.indented(begin);
        this.inside(runs, name, () => body.loop(stmt.body), folding);
        body.code.line("}");
        const once = runs === "member" ? `if (${this.member.lane} == 0) ` : "";
        folding.forEach(({ accumulator }, n) => body.code.line(`${once}${lanes[n]}[${lane}] = ${accumulator};`));
      }),
    );
    this.barrier(body);
    folding.forEach(({ result, known }, n) => {
      const values = Array.from({ length: LANES }, (_, k) => `${lanes[n]}[${k}]`);
      body.code.line(`${known} = ${foldLanes(values, (a, b) => this.fold(body, result, a, b))};`);
    });
  }

  /** Shuffles inside the warps, then all threads fold the warps' values; by halves where there are no shuffles. */
  private fastReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">, folding: readonly Folding[], identities: readonly string[]): void {
    const { index } = this.T;
    const count = this.turnsOf(body, stmt);
    const name = body.enter(stmt);
    folding.forEach(({ result, accumulator }, n) => body.code.line(`${this.T[result.type]} ${accumulator} = ${identities[n]};`));
    this.contributing(body, stmt.body, name, count, (begin) => {
      const [first, step] = this.sharersOf(stmt);
      body.code.line(`for (${index} ${name} = ${first}; ${name} < ${count}; ${name} += ${step}) {`);
      body.code.indented(begin);
      this.inside(this.runnersOf(stmt), name, () => body.loop(stmt.body), folding);
      body.code.line("}");
    });
    // All lanes of a member have what it folded.
    if (this.runnersOf(stmt) === "member")
      folding.forEach(({ accumulator }, n) => body.code.line(`if (${this.member.lane} != 0) ${accumulator} = ${identities[n]};`));
    const { shuffle } = this.dialect;
    if (!shuffle) {
      for (const { result, accumulator, known } of folding) {
        foldByHalves(this, body, result.op, result.type, accumulator, this.program.assumptions.members, (total) => `${known} = ${total};`);
      }
      return;
    }
    const { warp } = shuffle;
    for (const { result, accumulator } of folding)
      body.code.block(`for (int step = ${warp / 2}; step > ${this.abreast > 1 ? this.abreast / 2 : 0}; step /= 2)`, () =>
        this.foldInto(body, result.op, result.type, accumulator, shuffle.xor(accumulator, "step")),
      );
    if (this.threads === warp) {
      for (const { accumulator, known } of folding) body.code.line(`${known} = ${accumulator};`);
      return;
    }
    const warps = folding.map(({ result, accumulator }) => {
      const array = this.names.fresh(`${result.name}_warps`);
      this.sharedArray(array, result.type, MEMBER_LIMIT / warp);
      body.code.line(`if (thread % ${warp} == 0) ${array}[thread / ${warp}] = ${accumulator};`);
      return array;
    });
    this.barrier(body);
    folding.forEach(({ result, known }, n) => {
      body.code.line(`${known} = ${warps[n]}[0];`);
      body.code.block(`for (int warp = 1; warp < threads / ${warp}; warp++)`, () =>
        this.foldInto(body, result.op, result.type, known, `${warps[n]}[warp]`),
      );
    });
  }

  override single(body: BodyWriter, stmt: StmtOf<"single">): void {
    this.before(body);
    this.contributing(body, stmt.body, "0", "1", (begin) =>
      body.code.block("if (thread == 0)", () => {
        begin();
        this.inside("thread", "0", () => body.statements(stmt.body));
      }),
    );
    this.barrier(body);
  }

  /** The number of turns of a shared loop, computed before its body changes memory if it is needed after the loop. */
  private turnsOf(body: BodyWriter, stmt: StmtOf<"teamFor" | "teamReduce">): string {
    const count = body.integer(stmt.count);
    if (this.nextSlots.size === 0 || /^\w+$/.test(count)) return count;
    const turns = this.names.fresh(`${stmt.name}_turns`);
    body.code.line(`const ${this.T.index} ${turns} = ${count};`);
    return turns;
  }

  private fold(body: BodyWriter, { op, type }: TeamResult, a: string, b: string): string {
    return op === "sum" && isFloat(type) ? `(${a} + ${b})` : body.fold(op, type, a, b);
  }

  /** Who runs the body of a loop of the team: a member of several threads where they share work out. */
  private runnersOf({ body }: StmtOf<"teamFor" | "teamReduce">): "member" | "thread" {
    return this.lanes > 1 && usesLanes(body) ? "member" : "thread";
  }

  /** The number of who runs the body of such a loop, and how many there are. */
  private sharersOf(stmt: StmtOf<"teamFor" | "teamReduce">): readonly [number: string, count: string] {
    return this.runnersOf(stmt) === "member" ? [this.member.number, this.member.count] : ["thread", "threads"];
  }

  /** `turn` is the variable of a shared loop. */
  private inside(runs: "member" | "thread", turn: string, write: () => void, folding: typeof this.folding = this.folding): void {
    const outer = { runs: this.runs, folding: this.folding };
    Object.assign(this, { runs, folding });
    this.order.inside(turn, write);
    Object.assign(this, outer);
  }

  private once(body: BodyWriter, stmt: Stmt, line: string): void {
    if (this.runs === "thread") return body.line(stmt, line);
    if (this.runs === "member") {
      this.synchronise(body);
      body.line(stmt, `if (${this.member.lane} == 0) ${line}`);
      return this.synchronise(body);
    }
    const [before, last] = body.code.last(2);
    // Stores of one thread, line after line, need no barriers in between.
    if (last === this.barrierLine && before.startsWith(ONE_THREAD)) body.code.takeBack();
    else this.barrier(body);
    body.line(stmt, `${ONE_THREAD}${line}`);
    this.barrier(body);
  }

  /** The lanes of a member see each other's stores, where memory passes between them. */
  private synchronise(body: BodyWriter): void {
    const { access, assumptions } = this.program;
    const passes =
      this.scratch.size > 0 || !assumptions.restrict || Object.values(access.views).some(({ read, written }) => read && written);
    if (this.runs === "member" && passes) body.code.line(`${this.dialect.shuffle!.group.fence(this.member.mask)};`);
  }

  private get barrierLine(): string {
    return `${this.dialect.barrier};`;
  }

  /** Waits for all threads, unless they have just waited. */
  private barrier(body: BodyWriter): void {
    if (body.code.last(1)[0] !== this.barrierLine) body.code.line(this.barrierLine);
  }

  /** Members that still read what all may read, before one of them changes it. */
  private before(body: BodyWriter): void {
    if (this.barrierBefore) this.barrier(body);
  }
}

interface Folding {
  result: TeamResult;
  accumulator: string;
  known: string;
}
