import type { DeviceEvent, Fold, Graph as DeviceGraph, Launch, Precision, Queue } from "../../device/device.js";
import { tune } from "../../device/tuning/tune.js";
import type { Container, Round, Rounds } from "../../domain/grid/grid.js";
import type { HaloCopy } from "../../domain/grid/parts.js";
import { collect, type Collection } from "../../domain/container/reductions.js";
import { copyBetween, type DeviceSet } from "../../set/index.js";
import { entry } from "../entry.js";
import { meansNeighbours, type ComputeNode, type Node } from "../plan/nodes.js";
import type { Plan } from "../plan/plan.js";
import type { Task } from "../plan/schedule.js";
import { sweepsBackward, type SweepOrder } from "./sweep-order.js";

/** What one member does for one task, in one of its streams. */
export interface Op {
  readonly node: Node;
  readonly member: number;
  readonly stream: number;
  readonly launches: readonly Launch[];
  /** From this member to others. */
  readonly copies: readonly HaloCopy[];
  /** Operations of other streams or members that are waited for. */
  readonly waits: readonly Op[];
  /** Operations of other members that it waits for while it runs, without an event. */
  readonly exchangesWith: readonly Op[];
}

/** Marks before and after an operation, by the clock of its member. */
export interface OpMarks {
  readonly begin: DeviceEvent;
  readonly end: DeviceEvent;
}

/** A reduction whose partials each member reads where they are. */
interface SharedReduction {
  /** By node and member. */
  readonly launches: ReadonlyMap<ComputeNode, readonly (readonly Launch[])[]>;
  readonly fold: Fold;
}

/** A plan bound to memory: launches prepared, copies known, events placed. */
export class Program {
  readonly ops: readonly Op[];
  private readonly launches: Launch[] = [];
  private readonly inRounds: Rounds[] = [];
  private readonly collections = new Map<number, Collection[]>();
  /** Reductions that devices fold without copies, by stage; undefined where they cannot. */
  private readonly shared = new Map<number, SharedReduction | undefined>();
  private readonly signalling: ReadonlySet<Op>;
  /** Those in use, stream 0 of the first member before all others. */
  private readonly queues: readonly Queue[];
  /** Devices of one kind are driven together. */
  private readonly capturable: boolean;
  private graph: DeviceGraph | undefined;

  constructor(
    readonly plan: Plan,
    private readonly set: DeviceSet,
    private readonly precision: Precision,
    private readonly sweepOrder: SweepOrder,
  ) {
    try {
      this.ops = this.lower(plan.schedule.tasks);
    } catch (error) {
      this.free();
      throw error;
    }
    this.signalling = new Set(this.ops.flatMap((op) => op.waits));
    this.queues = [...new Set([...set.members.map((member) => member.queue(0)), ...this.ops.map((op) => this.queue(op))])];
    const [first, ...others] = set.members.map((member) => member.device);
    this.capturable = others.every((device) => device.memory === first.memory || device.backend === first.backend);
  }

  /**
   * Submits everything, as one where the devices can. All of it comes after what is in stream 0 of the first member, and what is submitted
   * there later comes after all of it.
   */
  submit(): void {
    const [origin, ...others] = this.queues;
    if (this.capturable) {
      this.graph ??= origin.capture(() => this.enqueue(), others);
      return origin.submit(this.graph);
    }
    this.forked(() => this.enqueue());
  }

  /** The same, one by one, with marks around each operation. */
  trace(): ReadonlyMap<Op, OpMarks> {
    const marks = new Map<Op, OpMarks>();
    this.forked(() => this.enqueue(marks));
    return marks;
  }

  /** What the devices made of the captured program, and how its launches are tuned, a line each. */
  get remarks(): readonly string[] {
    const launches = this.ops.flatMap((op) => op.launches);
    const tuned = launches.flatMap(({ kernel, tuning }) => (tuning?.remarks ?? []).map((line) => `${kernel.name}: ${line}`));
    return [...(this.graph?.remarks ?? []), ...new Set(tuned)];
  }

  /** Measures launches for which nothing is known, on devices that are to; true where something was found. */
  async tune(): Promise<boolean> {
    const seen = new Set<string>();
    let found = false;
    for (const { member, launches } of this.ops) {
      const { device } = this.set.members[member];
      for (const launch of device.tuning.measuring ? launches : []) {
        const key = launch.tuning?.from === "default" ? `${device.name} ${launch.tuning.key}` : undefined;
        if (key === undefined || seen.has(key)) continue;
        seen.add(key);
        if (await tune(device, launch)) found = true;
      }
    }
    return found;
  }

  free(): void {
    this.graph?.free();
    for (const launch of this.launches) launch.free();
    for (const rounds of this.inRounds) rounds.free();
    for (const collection of [...this.collections.values()].flat()) collection.free();
  }

  private forked(work: () => void): void {
    const [origin, ...others] = this.queues;
    const start = origin.record();
    for (const queue of others) queue.wait(start);
    work();
    for (const queue of others) origin.wait(queue.record());
  }

  private enqueue(marks?: Map<Op, OpMarks>): void {
    const { members } = this.set;
    const events = new Map<Op, DeviceEvent>();
    for (const op of this.ops) {
      const queue = this.queue(op);
      for (const other of op.waits) queue.wait(events.get(other)!);
      const begin = marks && queue.record();
      for (const { from, to, source, target } of op.copies)
        copyBetween(source, target, members[from].queue(op.stream), members[to].queue(op.stream));
      for (const launch of op.launches) queue.submit(launch);
      if (this.signalling.has(op)) events.set(op, queue.record());
      if (begin) marks.set(op, { begin, end: queue.record() });
    }
  }

  private queue({ member, stream }: Pick<Op, "member" | "stream">): Queue {
    return this.set.members[member].queue(stream);
  }

  private lower(tasks: readonly Task<Node>[]): Op[] {
    const members = this.set.members.map((_, m) => m);
    const ops: Op[] = [];
    /** By operation: the one before it in its stream. */
    const before = new Map<Op, Op | undefined>();
    /** The last operation of each stream of each member. */
    const lasts = members.map(() => new Map<number, Op>());
    /** What must be complete before a member goes on after a node. */
    const completion = new Map<Node, (member: number) => readonly Op[]>();
    /** The latest fold of each member that waits for other members while it runs, and the streams that have gone on after it. */
    const barriers = members.map(() => ({ fold: undefined as Op | undefined, passed: new Set<number>() }));
    const add = (
      task: Task<Node>,
      member: number,
      work: Partial<Pick<Op, "launches" | "copies" | "exchangesWith">>,
      after: readonly Op[],
    ): Op => {
      const { node, stream } = task;
      const { fold, passed } = barriers[member];
      const held = fold && !passed.has(stream) ? [...after, fold] : after;
      passed.add(stream);
      const op = {
        node,
        member,
        stream,
        launches: [],
        copies: [],
        exchangesWith: [],
        ...work,
        waits: lastOfEach(held, { member, stream }, ops),
      };
      ops.push(op);
      before.set(op, lasts[member].get(stream));
      lasts[member].set(stream, op);
      return op;
    };
    for (const task of tasks) {
      const { node } = task;
      const parents = this.plan.graph
        .incoming(node)
        .map((edge) => ({ completed: completion.get(edge.from)!, wide: meansNeighbours(edge) }));
      const after = (...on: number[]) => on.flatMap((m) => parents.flatMap(({ completed }) => completed(m)));
      /** What neighbours must have done before a member stores in their halos, or reads what they have stored in its own. */
      const around = ({ container: { grid } }: ComputeNode, m: number) =>
        grid
          .neighbours(m)
          .filter((n) => n !== undefined)
          .flatMap((n) => parents.flatMap(({ completed, wide }) => (wide ? completed(n).filter((op) => op.member === n) : [])));
      if (node.kind === "compute" && node.container.inRounds) {
        const made = node.container.inRounds(node.container, this.precision);
        this.inRounds.push(made);
        completion.set(
          node,
          addRounds(made.rounds, members, after, (member, work, waits) => add(task, member, work, waits)),
        );
      } else if (node.kind === "compute") {
        const done = members.map((m) => {
          const own = after(m);
          const last = lasts[m].get(task.stream);
          const completed = complete(last ? [...own, last] : own, before);
          return add(task, m, { launches: this.prepare(node, m) }, [...own, ...around(node, m).filter((op) => !completed.has(op))]);
        });
        completion.set(node, (m) => [done[m]]);
      } else if (node.kind === "pack" || node.kind === "sort") {
        const { species, kind } = node;
        const patterns = members.map((m) => (kind === "pack" ? species.leaving(m) : species.sorting(m)));
        const done = members.map((m) => add(task, m, { launches: patterns[m].launches }, after(m)));
        completion.set(node, (m) => [done[m]]);
      } else if (node.kind === "halo" || node.kind === "move") {
        const copies = node.kind === "halo" ? node.field.grid.halo(node.field) : node.species.transfers();
        const done = members.map((m) => {
          const own = copies.filter(({ from }) => from === m);
          return add(task, m, { copies: own }, after(m, ...new Set(own.map(({ to }) => to))));
        });
        completion.set(node, (m) => done.filter((op) => op.member === m || op.copies.some(({ to }) => to === m)));
      } else {
        const shared = this.sharedOf(node.stage);
        if (shared) {
          const { launches: list, allReduces } = shared.fold;
          // What neither comes before a fold nor after it may be put behind it by the device, which knows nothing of what the fold waits for: it
          // would keep back what another device's fold waits for, and both would wait for ever.
          const all = members.map((m) => [...lasts[m].values()]);
          const waits = (m: number) => (allReduces ? all[m] : after(...members));
          const exchanging = allReduces ? after(...members) : [];
          const folds = members.map((m) =>
            add(task, m, { launches: [list[m]], exchangesWith: exchanging.filter((op) => op.member !== m) }, waits(m)),
          );
          if (allReduces) folds.forEach((fold, m) => (barriers[m] = { fold, passed: new Set([task.stream]) }));
          completion.set(node, (m) => [folds[m]]);
          continue;
        }
        const collections = this.collectionsOf(node.container, node.stage);
        const gathers = members.map((m) =>
          add(task, m, { copies: collections.flatMap(({ copies }) => copies.filter(({ from }) => from === m)) }, after(m)),
        );
        const folds = members.map((m) =>
          add(task, m, { launches: collections.flatMap(({ folds: list }) => list.slice(m, m + 1)) }, gathers),
        );
        completion.set(node, (m) => [folds[m]]);
      }
    }
    return ops;
  }

  private prepare(node: ComputeNode, member: number): readonly Launch[] {
    const { container, view, stage } = node;
    const shared = this.sharedOf(stage);
    if (shared) return shared.launches.get(node)![member];
    const collections = this.collectionsOf(container, stage);
    const reductions = Object.fromEntries(collections.map(({ param, partials }) => [param, partials[member]]));
    const options = {
      precision: this.precision,
      reductions,
      peerStored: node.peerStored,
      sweepBackward: this.sweepsBackward(stage),
    };
    const launches = container.grid.prepare(container, member, view, options);
    this.launches.push(...launches);
    // Alone, a member has nothing to gather.
    return this.set.members.length > 1 ? launches : [...launches, ...collections.flatMap(({ folds }) => folds)];
  }

  /** Scalar steps sweep over nothing. */
  private sweepsBackward(stage: number): boolean {
    const before = this.plan.stages.containers.slice(0, stage).filter(({ assigned }) => !assigned);
    return sweepsBackward(this.sweepOrder, before.length);
  }

  /** In fast mode, where each member reaches what all others leave, and has something to leave itself. */
  private sharedOf(stage: number): SharedReduction | undefined {
    if (!this.shared.has(stage)) this.shared.set(stage, this.share(stage));
    return this.shared.get(stage);
  }

  private share(stage: number): SharedReduction | undefined {
    const { members } = this.set;
    const nodes = this.plan.graph.nodes.filter((node): node is ComputeNode => node.kind === "compute" && node.stage === stage);
    const { reductions, grid } = nodes[0].container;
    if (this.precision !== "fast" || members.length === 1 || reductions.size === 0) return undefined;
    if (!members[0].device.fold) return undefined;
    const options = { precision: this.precision, unfolded: true, sweepBackward: this.sweepsBackward(stage) };
    const launchesOf = ({ container, view, peerStored }: ComputeNode) =>
      members.map((_, m) => grid.prepare(container, m, view, { ...options, peerStored }));
    const launches = new Map(nodes.map((node) => [node, launchesOf(node)]));
    const parts = members.map(({ device }, m) => ({
      device,
      launches: [...launches.values()].flatMap((byMember) => byMember[m]),
      results: Object.fromEntries([...reductions].map(([param, scalar]) => [param, scalar.views[m]])),
    }));
    const fold = members[0].device.fold?.(parts);
    const own = parts.flatMap((part) => part.launches);
    if (fold) this.launches.push(...own, ...fold.launches);
    else for (const launch of own) launch.free();
    return fold && { launches, fold };
  }

  private collectionsOf(container: Container, stage: number): readonly Collection[] {
    return entry(this.collections, stage, () => [...container.reductions.keys()].map((param) => collect(container, param, this.precision)));
  }
}

/**
 * Operations of the rounds of a container: launches wait for the copies that the round before has brought, copies for the member that they go to.
 * @returns what must be complete before a member goes on
 */
function addRounds(
  rounds: readonly Round[],
  members: readonly number[],
  before: (member: number) => readonly Op[],
  add: (member: number, work: Partial<Pick<Op, "launches" | "copies">>, waits: readonly Op[]) => Op,
): (member: number) => readonly Op[] {
  const latest = new Map<number, Op>();
  let arrivals: readonly Op[] = [];
  for (const { launches, copies } of rounds) {
    const arrived = (m: number) => arrivals.filter((op) => op.copies.some(({ to }) => to === m));
    for (const m of members)
      if (!latest.has(m)) latest.set(m, add(m, { launches: launches[m] }, before(m)));
      else if (launches[m].length > 0 || arrived(m).length > 0) latest.set(m, add(m, { launches: launches[m] }, arrived(m)));
    const ready = new Map(latest);
    arrivals = members.flatMap((m) => {
      const own = copies.filter(({ from }) => from === m);
      if (own.length === 0) return [];
      const op = add(
        m,
        { copies: own },
        own.map(({ to }) => ready.get(to)!),
      );
      latest.set(m, op);
      return [op];
    });
  }
  return (m) => [latest.get(m)!, ...arrivals.filter((op) => op.copies.some(({ to }) => to === m))];
}

/** All that is complete once some operations are: what they waited for or exchanged with, and what came `before` in the streams of it all. */
function complete(last: readonly Op[], before: ReadonlyMap<Op, Op | undefined>): ReadonlySet<Op> {
  const done = new Set<Op>(last);
  // Grows during the loop.
  for (const op of done) {
    for (const other of [...op.waits, ...op.exchangesWith]) done.add(other);
    const earlier = before.get(op);
    if (earlier) done.add(earlier);
  }
  return done;
}

/** Of each stream, the last of the operations that are waited for; none of the stream that waits, which keeps its own order. */
function lastOfEach(after: readonly Op[], own: { member: number; stream: number }, order: readonly Op[]): Op[] {
  const last = new Map<string, Op>();
  for (const op of new Set(after)) {
    if (op.member === own.member && op.stream === own.stream) continue;
    const key = `${op.member} ${op.stream}`;
    const known = last.get(key);
    if (!known || order.indexOf(op) > order.indexOf(known)) last.set(key, op);
  }
  return [...last.values()];
}
