import { type Identifier } from "../base/names.js";
import { identityOf } from "../ir/identity.js";
import { foldLanes } from "../ir/lanes.js";
import { REDUCTION_LANES, type Stmt as KernelStmt, type TeamResult } from "../ir/types.js";
import type { Body } from "./body.js";
import {
  agreed,
  assign,
  cast,
  declare,
  div,
  element,
  eq,
  fixed,
  halving,
  inBlock,
  local,
  lt,
  ne,
  num,
  read,
  rem,
  upTo,
  valueOf,
  variable,
  when,
  write,
} from "./build.js";
import { foldByHalves, storeByWarp, THREADS } from "./folds.js";
import type { StmtOf } from "./frame.js";
import type { Expr, Memory, Place, Stmt } from "./nodes.js";
import { MEMBER_LIMIT } from "./team-size.js";
import type { EntrySchedule } from "./entry.js";

const LANES = REDUCTION_LANES;

/** Threads that run the statements at hand: all threads alike, the threads of a member alike, or one thread by itself. */
export type Runners = "team" | "member" | "thread";

/** A result of a teamReduce, and where members fold it. */
export interface Folding {
  readonly result: TeamResult;
  readonly accumulator: Place;
  /** The variable with the result. */
  readonly known: Identifier;
}

/** A loop that members or lanes share out. */
export type SharedLoop = StmtOf<"teamFor" | "teamReduce">;

/** A team whose members, and lanes of members, share out loops. */
export interface SharingTeam extends EntrySchedule {
  readonly runs: Runners;
  readonly lanes: number;
  /** Threads of the team at most. */
  readonly threads: number;
  /** Teams of a block, side by side: a warp has all members of each. */
  readonly abreast: number;
  readonly member: { readonly lane: Expr; readonly number: Expr; readonly count: Expr; readonly group: Expr };
  turnsOf(body: Body, stmt: SharedLoop): Expr;
  writes(stmts: readonly KernelStmt[]): boolean;
  synchronise(body: Body): void;
  barrier(body: Body): void;
  runnersOf(stmt: SharedLoop): "member" | "thread";
  sharersOf(stmt: SharedLoop): readonly [number: Expr, count: Expr];
  laneTurns(body: Body, stmt: SharedLoop, turns: Expr, folding: readonly Folding[]): void;
  sharedLoop(body: Body, stmt: SharedLoop, of: { name: Identifier; turns: Expr; folding: readonly Folding[] }): void;
  contributing(
    body: Body,
    stmts: readonly KernelStmt[],
    loop: { turn: Expr; turns: Expr } | undefined,
    make: (begin: () => void) => void,
  ): void;
  inside(runs: "member" | "thread", turn: Expr, make: () => void, folding?: readonly Folding[]): void;
}

interface Reduction {
  readonly body: Body;
  readonly stmt: StmtOf<"teamReduce">;
  readonly folding: readonly Folding[];
}

/** Folds what the members of a team have met, so that all of them know the results. */
export class TeamFolds {
  constructor(private readonly team: SharingTeam) {}

  reduce(body: Body, stmt: StmtOf<"teamReduce">): void {
    const { team } = this;
    const { program } = team;
    const folding = stmt.results.map((result) => ({
      result,
      accumulator: variable(team.names.fresh(`${result.name}_part`), result.type),
      known: body.local(result.name),
    }));
    for (const { result, known } of folding) body.out.put(declare(known, result.type));
    const reduction = { body, stmt, folding };
    const inside = body.out.inside(() => {
      // One thread goes by the order of the elements, in which it scatters.
      if (team.runs !== "team" || program.serial) this.byLanes(reduction);
      else if (this.inOrder) this.strictly(reduction);
      else this.inAnyOrder(reduction);
    });
    body.out.put(inBlock(inside));
  }

  private get inOrder(): boolean {
    return this.team.program.ordered || this.team.program.serial;
  }

  /**
   * The lanes of a member fold with each other, in the order of strict reductions: each thread has several of the eight sums of that order
   * where it is one of fewer. In any order one is enough.
   */
  private byLanes({ body, stmt, folding }: Reduction): void {
    const { team } = this;
    const { out } = body;
    const threads = team.runs === "member" ? team.lanes : 1;
    const parts = this.inOrder ? LANES / threads : 1;
    const turns = team.turnsOf(body, stmt);
    const turn = local(body.enter(stmt), "index");
    const place = rem(threads > 1 ? div(turn, threads) : turn, parts);
    const sums = folding.map(({ result, accumulator }): Memory => ({ id: nameOf(accumulator), element: result.type, space: "thread" }));
    folding.forEach(({ result, accumulator }, n) => {
      if (parts > 1) out.put({ kind: "array", memory: sums[n]!, length: parts, fill: identity(result) });
      else out.put(declare(nameOf(accumulator), result.type, identity(result)));
    });
    const writes = team.writes(stmt.body);
    if (writes) team.synchronise(body);
    team.laneTurns(body, stmt, turns, parts > 1 ? folding.map((f, n) => ({ ...f, accumulator: element(sums[n]!, place) })) : folding);
    folding.forEach(({ result, accumulator, known }, n) => {
      const values = Array.from({ length: parts }, (_, k) => read(sums[n]!, num(k)));
      const total = parts > 1 ? foldLanes(values, (a, b) => body.fold(result.op, result.type, a, b)) : valueOf(accumulator);
      const place_ = variable(known, result.type);
      out.put(assign(place_, total));
      for (let step = threads / 2; step >= 1; step /= 2)
        team.foldInto(body, result.op, result.type, place_, {
          op: "shuffle",
          type: result.type,
          how: "xor",
          value: valueOf(place_),
          by: num(step),
          among: team.member.group,
        });
    });
    if (writes) team.synchronise(body);
  }

  /** Eight threads are the lanes; where there are fewer threads each takes several lanes. */
  private strictly({ body, stmt, folding }: Reduction): void {
    const { team } = this;
    const { out } = body;
    const laneName = team.names.fresh("lane");
    const lanes = folding.map(({ result }) => team.sharedArray(team.names.fresh(`${result.name}_lanes`), result.type, LANES));
    const turns = team.turnsOf(body, stmt);
    const name = body.enter(stmt);
    const [first, step] = team.sharersOf(stmt);
    const runs = team.runnersOf(stmt);
    const sharers = team.program.assumptions.members / (runs === "member" ? team.lanes : 1);
    const lane = local(laneName, "int");
    const turn = local(name, "index");
    // A condition where a loop has one turn at most: PoCL 3.1 loses sums of such a loop around another.
    const isOne = sharers >= LANES;
    if (isOne) out.put(fixed(laneName, first));
    team.contributing(body, stmt.body, { turn, turns }, (begin) => {
      const inside = out.inside(() => {
        for (const { result, accumulator } of folding) out.put(declare(nameOf(accumulator), result.type, identity(result)));
        const element_ = out.inside(() => {
          begin();
          team.inside(runs, turn, () => body.statements(stmt.body), folding);
        });
        out.put(upTo(name, cast(lane, "index"), turns, LANES, element_));
        const stores = folding.map(({ accumulator }, n) => write(lanes[n]!, lane, valueOf(accumulator)));
        out.put(...(runs === "member" ? stores.map((store) => when(eq(team.member.lane, 0), [store])) : stores));
      });
      out.put(isOne ? when(lt(lane, LANES), inside) : upTo(laneName, first, LANES, step, inside));
    });
    team.barrier(body);
    folding.forEach(({ result, known }, n) => {
      const values = Array.from({ length: LANES }, (_, k) => read(lanes[n]!, num(k)));
      const total = foldLanes(values, (a, b) => body.fold(result.op, result.type, a, b));
      out.put(assign(variable(known, result.type), total));
    });
  }

  /** Shuffles inside the warps, then all threads fold the warps' values; by halves where there are no shuffles. */
  private inAnyOrder({ body, stmt, folding }: Reduction): void {
    const { team } = this;
    const { out } = body;
    const { warp } = team.features;
    const turns = team.turnsOf(body, stmt);
    const name = body.enter(stmt);
    for (const { result, accumulator } of folding) out.put(declare(nameOf(accumulator), result.type, identity(result)));
    team.sharedLoop(body, stmt, { name, turns, folding });
    // All lanes of a member have what it folded.
    if (team.runnersOf(stmt) === "member")
      for (const { result, accumulator } of folding) out.put(when(ne(team.member.lane, 0), [assign(accumulator, identity(result))]));
    if (warp === 0) {
      for (const { result, accumulator, known } of folding) {
        const use = (total: Expr): Stmt[] => [assign(variable(known, result.type), total)];
        foldByHalves(team, body, { op: result.op, type: result.type, accumulator }, team.program.assumptions.members, use);
      }
      return;
    }
    this.acrossWarps(body, folding, warp);
  }

  private acrossWarps(body: Body, folding: readonly Folding[], warp: number): void {
    const { team } = this;
    const { out } = body;
    for (const { result, accumulator } of folding) {
      const value = valueOf(accumulator);
      const other: Expr = { op: "shuffle", type: result.type, how: "xor", value, by: local("step", "int") };
      out.put(
        halving(
          "step",
          warp / 2,
          out.inside(() => team.foldInto(body, result.op, result.type, accumulator, other)),
          team.abreast > 1 ? team.abreast / 2 : 0,
        ),
      );
    }
    if (team.threads === warp) {
      for (const { result, accumulator, known } of folding) {
        const total = valueOf(accumulator);
        out.put(assign(variable(known, result.type), team.abreast > 1 ? total : agreed(total)));
      }
      return;
    }
    const warps = folding.map(({ result, accumulator }) => {
      const memory = team.sharedArray(team.names.fresh(`${result.name}_warps`), result.type, MEMBER_LIMIT / warp);
      out.put(storeByWarp(memory, warp, accumulator));
      return memory;
    });
    team.barrier(body);
    folding.forEach(({ result, known }, n) => {
      const total = variable(known, result.type);
      out.put(assign(total, read(warps[n]!, num(0))));
      const fold = out.inside(() => team.foldInto(body, result.op, result.type, total, read(warps[n]!, local("warp", "int"))));
      out.put(upTo("warp", num(1), div(THREADS, warp), 1, fold));
    });
  }
}

const identity = ({ op, type }: TeamResult): Expr => ({ op: "const", type, value: identityOf(op, type) });
const nameOf = (place: Place): Identifier => (place as Extract<Place, { id: Identifier }>).id;
