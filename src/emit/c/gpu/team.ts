import { contributionsIn } from "../../../ir/contributions.js";
import { identityOf } from "../../../ir/identity.js";
import { foldLanes } from "../../../ir/lanes.js";
import { REDUCTION_LANES, type Stmt, type TeamResult } from "../../../ir/types.js";
import { readsOutside, scratchArrays } from "../../../ir/teams.js";
import { blocksOf } from "../../../ir/walk.js";
import type { BodyWriter } from "../body.js";
import { foldByHalves } from "./folds.js";
import type { Entry } from "./program.js";
import { entryName, EntryWriter, type ProgramWriter, type StmtOf } from "./writer.js";

const LANES = REDUCTION_LANES;
/** The largest team, and the usual one. */
export const MEMBER_LIMIT = 1024;
export const MEMBERS = 256;
/** Static shared memory of a block; scratch beyond it is dynamic. */
const STATIC_SHARED = 40 << 10;

const SIZE = { f64: 8, f32: 4, i32: 4, u32: 4 };

/** Bytes of the kernel's scratch arrays, each on a multiple of 8. */
export function scratchBytes(body: readonly Stmt[]): number {
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

/** The main entry of a team kernel: a block is a team, its threads are the members. */
export class TeamWriter extends EntryWriter {
  protected readonly indexNames: readonly string[];
  private readonly accumulators = new Map<string, string>();
  /** Results of the teamReduce being written. */
  private folding: readonly { result: TeamResult; accumulator: string }[] = [];
  /** True inside teamFor, teamReduce and single, where one thread stands for one member. */
  private apart = false;
  private scratchMemory = "";
  private scratchOffset = 0;
  private readonly scratch: ReadonlySet<string>;
  /** By recorded target: the variable with the team's next slot, alike for all members, and inside a shared loop the member's own. */
  private readonly nextSlots = new Map<string, string>();
  private readonly memberSlots = new Map<string, string>();
  private readonly barrierBefore: boolean;
  private readonly dynamic: boolean;

  constructor(program: ProgramWriter) {
    super(program, entryName(program.ir.name), true);
    this.indexNames = [this.names.fresh("team")];
    for (const { name } of program.reduces) this.accumulators.set(name, this.names.fresh(name));
    this.dynamic = dynamicScratchBytes(program.ir.body) > 0;
    this.scratch = scratchArrays(program.ir.body);
    this.barrierBefore = readsOutside(program.ir.body, (view) => program.access.views[view]?.written, this.scratch);
  }

  write(): { entry: Entry; text: string } {
    const { code, T } = this;
    const team = this.indexNames[0];
    const league = this.param("league", "i32", "league");
    const { block, blocks, thread, threads } = this.dialect;
    if (this.dynamic) this.scratchMemory = this.dynamicShared("scratch_memory");
    code.line(`const int thread = ${thread("x")};`);
    code.line(`const int threads = ${threads("x")};`);
    const recorded = this.program.scatters("recorded");
    const first = recorded.length > 0 ? this.param("firstTeam", "i32", "first_team") : undefined;
    code.block(
      `for (${T.index} ${team} = ${first ? `${first} + ` : ""}${block("x")}; ${team} < ${league}; ${team} += ${blocks("x")})`,
      () => {
        for (const { name } of recorded) {
          const slot = this.names.fresh(`${name}_slot`);
          this.nextSlots.set(name, slot);
          code.line(`unsigned int ${slot} = (unsigned int)(${team} - ${first}) * ${this.slotCount(name)};`);
        }
        for (const { name, type, identity } of this.program.reduces)
          code.line(`${T[type]} ${this.accumulators.get(name)} = ${this.constant(type, identity)};`);
        this.body.statements(this.ir.body);
        for (const { name, type } of this.program.reduces) {
          const partials = this.pointerParam(`partials:${name}`, `${name}_partials`, type, { restrict: true });
          code.line(`if (thread == 0) ${partials}[${team}] = ${this.accumulators.get(name)};`);
        }
      },
    );
    const { members } = this.program.assumptions;
    return this.finish(members, [members, 1, 1]);
  }

  get threads(): number {
    return this.program.assumptions.members;
  }

  override teamSize(): string {
    return "threads";
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
    if (this.apart) return super.scatter(body, stmt, offset, value);
    const slot = this.nextSlots.get(stmt.target);
    body.code.block("if (thread == 0)", () => (slot ? this.record(body, stmt, value, slot) : super.scatter(body, stmt, offset, value)));
    if (slot) body.code.line(`${slot}++;`);
  }

  protected override slotOf(target: string): string {
    return this.memberSlots.get(target)!;
  }

  /**
   * What members share out, or one of them does: they record behind each other, member after member, and the team goes on behind them all.
   * `turn` is the number of the member's turn out of `turns`; `write` writes it, and calls what it is given at the start of each turn.
   */
  private recording(body: BodyWriter, stmts: readonly Stmt[], turn: string, turns: string, write: (begin: () => void) => void): void {
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
    const { index } = this.T;
    this.before(body);
    const count = this.turnsOf(body, stmt);
    const name = body.counter(stmt.name);
    this.recording(body, stmt.body, name, count, (begin) => {
      body.code.line(`for (${index} ${name} = thread; ${name} < ${count}; ${name} += threads) {`);
      body.code.indented(begin);
      this.inside(() => body.loop(stmt.body));
      body.code.line("}");
    });
    body.code.line(`${this.dialect.barrier};`);
  }

  override teamReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">): void {
    this.before(body);
    const folding = stmt.results.map((result) => ({
      result,
      accumulator: this.names.fresh(`${result.name}_part`),
      known: body.local(result.name),
    }));
    const identities = folding.map(({ result }) => this.constant(result.type, identityOf(result.op, result.type)));
    for (const { result, known } of folding) body.code.line(`${this.T[result.type]} ${known};`);
    body.code.block("", () => {
      if (this.program.assumptions.strict || this.program.serial) this.strictReduce(body, stmt, folding, identities);
      else this.fastReduce(body, stmt, folding, identities);
    });
    body.code.line(`${this.dialect.barrier};`);
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
    const name = body.counter(stmt.name);
    this.recording(body, stmt.body, name, count, (begin) =>
      body.code.block(`for (int ${lane} = thread; ${lane} < ${LANES}; ${lane} += threads)`, () => {
        folding.forEach(({ result, accumulator }, n) => body.code.line(`${this.T[result.type]} ${accumulator} = ${identities[n]};`));
        body.code.line(`for (${index} ${name} = ${lane}; ${name} < ${count}; ${name} += ${LANES}) {`);
        body.code.indented(begin);
        this.withFolding(folding, () => body.loop(stmt.body));
        body.code.line("}");
        folding.forEach(({ accumulator }, n) => body.code.line(`${lanes[n]}[${lane}] = ${accumulator};`));
      }),
    );
    body.code.line(`${this.dialect.barrier};`);
    folding.forEach(({ result, known }, n) => {
      const values = Array.from({ length: LANES }, (_, k) => `${lanes[n]}[${k}]`);
      body.code.line(`${known} = ${foldLanes(values, (a, b) => this.fold(body, result, a, b))};`);
    });
  }

  /** Shuffles inside the warps, then all threads fold the warps' values; by halves where there are no shuffles. */
  private fastReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">, folding: readonly Folding[], identities: readonly string[]): void {
    const { index } = this.T;
    const count = this.turnsOf(body, stmt);
    const name = body.counter(stmt.name);
    folding.forEach(({ result, accumulator }, n) => body.code.line(`${this.T[result.type]} ${accumulator} = ${identities[n]};`));
    this.recording(body, stmt.body, name, count, (begin) => {
      body.code.line(`for (${index} ${name} = thread; ${name} < ${count}; ${name} += threads) {`);
      body.code.indented(begin);
      this.withFolding(folding, () => body.loop(stmt.body));
      body.code.line("}");
    });
    const { shuffle } = this.dialect;
    if (!shuffle) {
      for (const { result, accumulator, known } of folding) {
        foldByHalves(this, body, result.op, result.type, accumulator, this.program.assumptions.members, (total) => `${known} = ${total};`);
      }
      return;
    }
    const { warp } = shuffle;
    const warps = folding.map(({ result, accumulator }) => {
      const array = this.names.fresh(`${result.name}_warps`);
      this.sharedArray(array, result.type, MEMBER_LIMIT / warp);
      body.code.block(`for (int step = ${warp / 2}; step > 0; step /= 2)`, () =>
        this.foldInto(body, result.op, result.type, accumulator, shuffle.xor(accumulator, "step")),
      );
      body.code.line(`if (thread % ${warp} == 0) ${array}[thread / ${warp}] = ${accumulator};`);
      return array;
    });
    body.code.line(`${this.dialect.barrier};`);
    folding.forEach(({ result, known }, n) => {
      body.code.line(`${known} = ${warps[n]}[0];`);
      body.code.block(`for (int warp = 1; warp < threads / ${warp}; warp++)`, () =>
        this.foldInto(body, result.op, result.type, known, `${warps[n]}[warp]`),
      );
    });
  }

  override single(body: BodyWriter, stmt: StmtOf<"single">): void {
    this.before(body);
    this.recording(body, stmt.body, "0", "1", (begin) =>
      body.code.block("if (thread == 0)", () => {
        begin();
        this.inside(() => body.statements(stmt.body));
      }),
    );
    body.code.line(`${this.dialect.barrier};`);
  }

  /** The number of turns of a shared loop, known before its body changes memory where it is needed behind it. */
  private turnsOf(body: BodyWriter, stmt: StmtOf<"teamFor" | "teamReduce">): string {
    const count = body.address(stmt.count);
    if (this.nextSlots.size === 0 || /^\w+$/.test(count)) return count;
    const turns = this.names.fresh(`${stmt.name}_turns`);
    body.code.line(`const ${this.T.index} ${turns} = ${count};`);
    return turns;
  }

  private fold(body: BodyWriter, { op, type }: TeamResult, a: string, b: string): string {
    return op === "sum" && (type === "f64" || type === "f32") ? `(${a} + ${b})` : body.fold(op, type, a, b);
  }

  private withFolding(folding: readonly Folding[], write: () => void): void {
    const outer = this.folding;
    this.folding = folding;
    this.inside(write);
    this.folding = outer;
  }

  private inside(write: () => void): void {
    const outer = this.apart;
    this.apart = true;
    write();
    this.apart = outer;
  }

  private once(body: BodyWriter, stmt: Stmt, line: string): void {
    if (this.apart) return body.line(stmt, line);
    body.code.line(`${this.dialect.barrier};`);
    body.line(stmt, `if (thread == 0) ${line}`);
    body.code.line(`${this.dialect.barrier};`);
  }

  /** Members that still read what all may read, before one of them changes it. */
  private before(body: BodyWriter): void {
    if (this.barrierBefore) body.code.line(`${this.dialect.barrier};`);
  }
}

interface Folding {
  result: TeamResult;
  accumulator: string;
  known: string;
}
