import { isIndex } from "../../ir/scalars.js";
import { identityOf } from "../../ir/identity.js";
import { affineOf } from "../../ir/analysis/affine.js";
import { declares, walkExprs, walkStmts } from "../../ir/walk.js";
import type { TeamPolicy } from "../../ir/launch.js";
import { teamRows, usesLanes } from "../../ir/analysis/teams.js";
import { REDUCTION_LANES } from "../../ir/types.js";
import { InnerLoop } from "./inner-loop.js";
import { Int } from "./ints.js";
import { type KernelCode, SLICE_PARAMS, valType } from "./kernel-code.js";
import type { SliceUnits } from "./range.js";
import { emitFold, foldLocalsJointly, privateLanes, storePartial } from "./reduction.js";
import type { FoldedValues } from "./reduction.js";
import { ScalarCode } from "./scalar.js";
import type { MemberLoop } from "./scalar.js";
import { chooseWidth } from "./width.js";

const TEAMS_OF_SLICE = 8;

/** Members that the shortest vectors have lanes for. */
const FEWEST_LANES = 2;

type Reduce = (target: string, value: () => void) => void;

/** Fills `slice` for a league: a worker runs one team after the other, and a team's members are the lanes of vectors. A unit is a team. */
export function emitTeams(code: KernelCode, { league }: TeamPolicy): SliceUnits {
  const { fn, spec } = code;
  const team = code.localOf(0, "i32", "index");
  const partials = new Map(code.reductions.map((p) => [p.name, { fold: p, local: fn.local(valType(p.type)) }]));
  const reduce: Reduce = (target, value) => {
    const { fold, local } = partials.get(target)!;
    emitFold(scalar, fold, () => fn.get(local), value);
    fn.set(local);
  };
  const scalar: ScalarCode = new ScalarCode(code, undefined, {
    reduce,
    reduceJointly: (targets, values) =>
      foldLocalsJointly(
        scalar,
        targets.map((target) => partials.get(target)!),
        values,
      ),
    memberLoop: (stmt) => emitMemberLoop(code, stmt, reduce),
  });
  if (teamRows(spec.ir).length > 0) Int.local(fn, SLICE_PARAMS.worker).to(code.localOf(1, "i32", "index"));
  Int.local(fn, SLICE_PARAMS.first).to(team);
  const top = fn.loop();
  for (const { fold, local } of partials.values()) {
    scalar.constant(fold.type, fold.identity);
    fn.set(local);
  }
  scalar.element(spec.ir.body);
  for (const { fold, local } of partials.values()) storePartial(code, fold, team, () => fn.get(local));
  Int.local(fn, team).plus(1).to(team);
  Int.local(fn, team).isBelow(Int.local(fn, SLICE_PARAMS.end)).emit();
  fn.brIf(top);
  fn.end();
  return { units: league, batch: TEAMS_OF_SLICE };
}

/** Integers that a team has found before the loop, such as the distance of a neighbour, are terms of addresses that stay as they are. */
function fixOuterLocals({ definitions }: KernelCode, { body }: MemberLoop): void {
  const inner = new Set<string>();
  walkStmts(body, (s) => declares(s).forEach((name) => inner.add(name)));
  walkExprs(body, (e) => {
    if (e.op !== "local" || !isIndex(e.type) || inner.has(e.name)) return;
    if (definitions.has(e.name) && !affineOf(e, definitions)) definitions.set(e.name, undefined);
  });
}

/** A loop over the members of a team, or the lanes of a member, with its results. */
function emitMemberLoop(code: KernelCode, stmt: MemberLoop, reduce: Reduce, sharers = "members"): void {
  if (usesLanes(stmt.body)) return emitOneByOne(code, stmt, reduce);
  const { fn } = code;
  const scalar = new ScalarCode(code);
  const variable = { op: "local", type: "i32", name: stmt.name } as const;
  const results = resultsOf(stmt);
  const accumulators = new Map(results.map((r) => [r.name, privateLanes(code, r)]));
  fixOuterLocals(code, stmt);
  let foldsOutside = false;
  walkStmts(stmt.body, (s) => void (s.kind === "reduce" && !accumulators.has(s.target) && (foldsOutside = true)));
  const few = stmt.count.op === "const" && Number(stmt.count.value) < FEWEST_LANES;
  const width = foldsOutside || few ? 1 : chooseWidth(code, stmt.body, variable, results, `${sharers} "${stmt.name}"`);
  const [from, count] = [fn.local("i32"), fn.local("i32")];
  Int.constant(fn, 0).to(from);
  scalar.expr(stmt.count);
  fn.set(count);
  for (const fold of results) {
    scalar.constant(fold.type, fold.identity);
    fn.set(resultLocal(code, fold));
  }
  fn.get(count);
  fn.i32(0);
  fn.op("i32.gt_s");
  fn.if();
  new InnerLoop(code, { variable, body: stmt.body, width, accumulators, reduce }).emit(from, count);
  for (const a of accumulators.values()) {
    a.result();
    fn.set(resultLocal(code, a.fold));
  }
  fn.end();
}

/** A loop over members that share work out among their lanes, which are lanes of vectors: one member after the other. */
function emitOneByOne(code: KernelCode, stmt: MemberLoop, reduce: Reduce): void {
  const { fn } = code;
  const { name, count, body, location } = stmt;
  const accumulators = new Map(resultsOf(stmt).map((r) => [r.name, privateLanes(code, r)]));
  const lane = (): void => {
    fn.get(code.localOf(name, "i32"));
    fn.i32(REDUCTION_LANES - 1);
    fn.op("i32.and");
  };
  const scalar = new ScalarCode(code, undefined, {
    reduce: (target, value) => (accumulators.has(target) ? accumulators.get(target)!.foldLane(lane, value) : reduce(target, value)),
    memberLoop: (inner) => emitMemberLoop(code, inner, reduce, "lanes"),
  });
  for (const a of accumulators.values()) a.clear();
  scalar.statement({ kind: "for", name, start: { op: "const", type: "i32", value: 0 }, stop: count, step: 1, body, location });
  for (const a of accumulators.values()) {
    a.result();
    fn.set(resultLocal(code, a.fold));
  }
}

const resultsOf = (stmt: MemberLoop): FoldedValues[] =>
  stmt.kind === "teamReduce" ? stmt.results.map((r) => ({ ...r, identity: identityOf(r.op, r.type) })) : [];

const resultLocal = (code: KernelCode, { name, type }: FoldedValues): number => code.localOf(name, valType(type));
