import type { DeviceEvent, Graph as DeviceGraph, Launch, Precision, Queue } from "../../device/device.js";
import { prepareTogether } from "../../device/cpu/compile-aside.js";
import { tune } from "../../device/tuning/tune.js";
import type { Container } from "../../domain/grid/grid.js";
import type { HaloCopy, Round, Rounds } from "../../domain/grid/parts.js";
import { digestible } from "../../domain/container/digestible.js";
import { collect, roundsOf, type Collection } from "../../domain/container/reductions.js";
import { byLocal, copyLocally, isLocal, isMessage, localOf, type DeviceSet } from "../../set/index.js";
import { deliver, postMessages, type StagedMessage } from "../../set/staging.js";
import { getOrMake } from "../entry.js";
import { meansNeighbours, type ComputeNode, type Node } from "../plan/nodes.js";
import type { Plan } from "../plan/plan.js";
import type { Task } from "../plan/schedule.js";
import { enqueueExchange, exchangeOf, exchangesIn, partnersIn } from "./carried.js";
import type { Op } from "./op.js";
import { stretchesOf, type ProgramStretch } from "./parts.js";
import { shareReduction, type SharedReduction } from "./shared-reduction.js";
import { sweepsBackward, type SweepOrder } from "./sweep-order.js";

/** Marks before and after an operation, by the clock of its member. */
export interface OpMarks {
  readonly begin: DeviceEvent;
  readonly end: DeviceEvent;
}

/** Containers that a message names. */
const NAMED = 4;

/** A plan bound to memory: launches prepared, copies known, events placed. */
export class BoundProgram {
  /** Its containers, for messages. */
  readonly name: string;
  /** Operations of all members; members of other processes have no launches. */
  readonly ops: readonly Op[];
  /** Lets what carries messages forget this program. */
  private forget: (() => void) | undefined;
  /** Operations of members of this process. */
  private readonly own: readonly Op[];
  private readonly launches: Launch[] = [];
  private readonly inRounds: Rounds[] = [];
  private readonly collections = new Map<number, Collection[]>();
  /** Reductions that devices fold without copies, by stage; undefined if they cannot. */
  private readonly shared = new Map<number, SharedReduction | undefined>();
  private readonly signalling: ReadonlySet<Op>;
  /** Streams in use, stream 0 of the first member before all others. */
  private readonly queues: readonly Queue[];
  /** Devices of one kind are driven together. */
  private readonly capturable: boolean;
  private parts: readonly ProgramStretch[] = [];
  /** One for each part. */
  private graphs: readonly DeviceGraph[] | undefined;

  constructor(
    readonly plan: Plan,
    private readonly set: DeviceSet,
    private readonly precision: Precision,
    private readonly sweepOrder: SweepOrder,
  ) {
    this.name = namesOf(plan.stages.containers);
    try {
      this.ops = prepareTogether(() => this.lower(plan.schedule.tasks));
    } catch (error) {
      this.free();
      throw error;
    }
    this.own = this.ops.filter(({ member }) => isLocal(set.members[member]));
    this.parts = stretchesOf(set, this.ops);
    this.signalling = new Set(this.ops.flatMap((op) => op.waits));
    this.queues = [...new Set([...set.locals.map((member) => member.queue(0)), ...this.own.map((op) => this.queue(op)), ...this.way])];
    const [first, ...others] = set.locals.map((member) => member.device);
    this.capturable = others.every((device) => device.memory === first.memory || device.backend === first.backend);
  }

  /**
   * Submits everything, as one where the devices can. All of it comes after what is in stream 0 of the first member, and what is submitted
   * there later comes after all of it. Where messages come from other processes, the thread waits for them.
   */
  submit(): void {
    const graphs = this.capture();
    const [origin] = this.queues;
    const { carrier } = this.set;
    carrier?.submitting();
    let posted: StagedMessage[] = [];
    for (const [n, part] of this.parts.entries()) {
      if (part.waits) {
        this.set.transport!.waitNow(`the plan of ${this.name}`);
        deliver(posted, origin);
        posted = [];
      }
      if (graphs) origin.submit(graphs[n]);
      else this.forked(() => this.enqueue(part.ops));
      for (const messages of part.posts) {
        postMessages(this.set.transport!, messages, origin);
        posted.push(...messages);
      }
    }
    carrier?.submitted(origin, `in the plan of ${this.name}`, this.launches.length);
  }

  /** Captures everything, for which devices may compile, before `submit` needs it, a graph for each part; undefined where they cannot run it as one. */
  capture(): readonly DeviceGraph[] | undefined {
    const [origin, ...others] = this.queues;
    const { carrier } = this.set;
    if (carrier && !this.graphs) {
      carrier.connect(partnersIn(this.set, this.ops));
      this.forget ??= carrier.beforeClose(() => this.freeGraphs());
    }
    if (this.capturable) this.graphs ??= this.parts.map(({ ops }) => origin.capture(() => this.enqueue(ops), others));
    return this.graphs;
  }

  /** The same, one by one, with marks around each operation; in one process. */
  trace(): ReadonlyMap<Op, OpMarks> {
    const marks = new Map<Op, OpMarks>();
    this.forked(() => this.enqueue(this.own, marks));
    return marks;
  }

  /** Remarks of the devices on the captured program, and the tuning of its launches, a line each. */
  get remarks(): readonly string[] {
    const launches = this.ops.flatMap((op) => op.launches);
    const tuned = launches.flatMap(({ kernel, tuning }) => (tuning?.remarks ?? []).map((line) => `${kernel.name}: ${line}`));
    return [...(this.graphs ?? []).flatMap((graph) => graph.remarks), ...new Set(tuned)];
  }

  /** Measures launches for which nothing is known, on devices that are to; true where something was found. */
  async tune(): Promise<boolean> {
    const seen = new Set<string>();
    let found = false;
    for (const { member, launches } of this.own) {
      const { device } = localOf(this.set, member);
      for (const launch of device.tuning.measuring ? launches : []) {
        const key = launch.tuning?.from === "default" ? `${device.name} ${launch.tuning.key}` : undefined;
        if (key === undefined || seen.has(key)) continue;
        seen.add(key);
        if (await tune(device, launch)) found = true;
      }
    }
    return found;
  }

  /** Everything in which the programs of processes must be alike: grids, code, values, and the order of operations and copies. */
  get digestible(): string {
    const { stages, level, schedule } = this.plan;
    const tasks = schedule.tasks.map(({ node, stream }) => [node.name, stream]);
    const copies = this.ops.flatMap((op) => op.copies.map(({ from, to }) => [op.node.name, from, to]));
    return digestible(stages.containers, level, this.precision, tasks, copies);
  }

  free(): void {
    this.freeGraphs();
    this.forget?.();
    for (const { stage } of this.parts.flatMap(({ posts }) => posts).flat()) stage?.free();
    for (const launch of this.launches) launch.free();
    for (const rounds of this.inRounds) rounds.free();
    for (const collection of [...this.collections.values()].flat()) collection.free();
  }

  private freeGraphs(): void {
    for (const graph of this.graphs ?? []) graph.free();
  }

  /** The stream in which messages go without the host. */
  private get way(): readonly Queue[] {
    const { carrier } = this.set;
    return carrier ? [carrier.queue] : [];
  }

  private forked(work: () => void): void {
    const [origin, ...others] = this.queues;
    const start = origin.record();
    for (const queue of others) queue.wait(start);
    work();
    for (const queue of others) origin.wait(queue.record());
  }

  private enqueue(ops: readonly Op[], marks?: Map<Op, OpMarks>): void {
    const events = new Map<Op, DeviceEvent>();
    const { carrier } = this.set;
    if (!carrier) return this.enqueueEach(ops, events, marks);
    for (const group of exchangesIn(ops)) {
      const exchange = exchangeOf(this.set, group);
      if (exchange) enqueueExchange(this.set, carrier, exchange, events);
      else
        this.enqueueEach(
          group.filter(({ member }) => isLocal(this.set.members[member])),
          events,
        );
    }
  }

  private enqueueEach(ops: readonly Op[], events: Map<Op, DeviceEvent>, marks?: Map<Op, OpMarks>): void {
    for (const op of ops) {
      const queue = this.queue(op);
      for (const other of op.waits) {
        const event = events.get(other);
        // Another part's work, or another process's, is complete.
        if (event) queue.wait(event);
      }
      const begin = marks && queue.record();
      copyLocally(this.set, op.copies, op.stream);
      for (const launch of op.launches) queue.submit(launch);
      if (this.signalling.has(op)) events.set(op, queue.record());
      if (begin) marks.set(op, { begin, end: queue.record() });
    }
  }

  private queue({ member, stream }: Pick<Op, "member" | "stream">): Queue {
    return localOf(this.set, member).queue(stream);
  }

  private lower(tasks: readonly Task<Node>[]): Op[] {
    const members = this.set.members.map((_, m) => m);
    const ops: Op[] = [];
    /** Place of each operation in the order of submission. */
    const order = new Map<Op, number>();
    /** By operation: the one before it in its stream. */
    const before = new Map<Op, Op | undefined>();
    /** The last operation of each stream of each member. */
    const lasts = members.map(() => new Map<number, Op>());
    /** Operations that must be complete before a member goes on after a node. */
    const completion = new Map<Node, (member: number) => readonly Op[]>();
    /** The latest fold of each member that waits for other members while it runs, and the streams that have gone on after it. */
    const barriers = members.map(() => ({ fold: undefined as Op | undefined, passed: new Set<number>() }));
    /** By member: exchanges since its latest fold that bring something from other processes. */
    const arrivals = members.map((): Op[] => []);
    const add = (
      task: Task<Node>,
      member: number,
      work: Partial<Pick<Op, "launches" | "copies" | "exchange" | "exchangesWith">>,
      after: readonly Op[],
    ): Op => {
      const { node, stream } = task;
      const { fold, passed } = barriers[member];
      // A message is work of the member that takes it, too.
      const takers = (work.copies ?? []).map(({ to }) => to).filter((to) => isMessage(this.set, { from: member, to }));
      const held = [...after, ...(fold && !passed.has(stream) ? [fold] : []), ...takers.flatMap((to) => barriers[to].fold ?? [])];
      passed.add(stream);
      const op = {
        node,
        member,
        stream,
        launches: [],
        copies: [],
        exchangesWith: [],
        ...work,
        waits: lastOfEach(held, { member, stream }, order),
      };
      for (const to of new Set(takers)) arrivals[to].push(op);
      order.set(op, ops.length);
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
      /** Work of neighbours that must be done before a member stores in their halos, or reads the values that they have stored in its own. */
      const around = ({ container: { grid } }: ComputeNode, m: number) =>
        grid
          .neighbours(m)
          .filter((n) => n !== undefined)
          .flatMap((n) => parents.flatMap(({ completed, wide }) => (wide ? completed(n).filter((op) => op.member === n) : [])));
      const inRounds = this.roundsOf(node);
      if (inRounds) {
        this.inRounds.push(inRounds);
        completion.set(
          node,
          addRounds(inRounds.rounds, members, after, (member, work, waits) => add(task, member, work, waits)),
        );
      } else if (node.kind === "compute") {
        const done = members.map((m) => {
          const own = after(m);
          const neighbours = around(node, m);
          const last = lasts[m].get(task.stream);
          const completed = neighbours.length > 0 ? complete(last ? [...own, last] : own, before) : undefined;
          return add(task, m, { launches: this.prepare(node, m) }, [...own, ...neighbours.filter((op) => !completed?.has(op))]);
        });
        completion.set(node, (m) => [done[m]]);
      } else if (node.kind === "pack" || node.kind === "sort") {
        const { species, kind } = node;
        const patterns = byLocal(this.set, (_, m) => (kind === "pack" ? species.leaving(m) : species.sorting(m)));
        const done = members.map((m) => add(task, m, { launches: patterns[m]?.launches ?? [] }, after(m)));
        completion.set(node, (m) => [done[m]]);
      } else if (node.kind === "halo" || node.kind === "move") {
        const copies = node.kind === "halo" ? node.field.grid.halo(node.field) : node.species.transfers();
        const leaving = bySource(copies);
        const exchange = {};
        const done = members.map((m) => {
          const own = leaving.get(m) ?? [];
          return add(task, m, { copies: own, exchange }, after(m, ...new Set(own.map(({ to }) => to))));
        });
        const arriving = byTarget(done);
        completion.set(node, (m) => [...new Set([done[m], ...(arriving.get(m) ?? [])])]);
      } else {
        const shared = this.sharedOf(node.stage);
        if (shared) {
          const { folds: list, allReduces } = shared;
          // Waits for all work so far: the device may put independent work after a fold, as it does not know what the fold waits for: that
          // would hold back work that another device's fold waits for, and both would wait for ever.
          const all = members.map((m) => [...lasts[m].values(), ...arrivals[m].splice(0)]);
          const waits = (m: number) => (allReduces ? all[m] : after(...members));
          const exchanging = allReduces ? after(...members) : [];
          const folds = members.map((m) =>
            add(task, m, { launches: list[m] ?? [], exchangesWith: exchanging.filter((op) => op.member !== m) }, waits(m)),
          );
          if (allReduces) folds.forEach((fold, m) => (barriers[m] = { fold, passed: new Set([task.stream]) }));
          completion.set(node, (m) => [folds[m]]);
          continue;
        }
        const rounds = roundsOf(this.collectionsOf(node.container, node.stage), members.length);
        completion.set(
          node,
          addRounds(rounds, members, after, (member, work, waits) => add(task, member, work, waits)),
        );
      }
    }
    return ops;
  }

  /** The work of nodes that have launches and copies by turns. */
  private roundsOf(node: Node): Rounds | undefined {
    if (node.kind === "halo") return node.field.grid.haloRounds?.(node.field);
    return node.kind === "compute" ? node.container.inRounds?.(node.container, this.precision) : undefined;
  }

  private prepare(node: ComputeNode, member: number): readonly Launch[] {
    const { container, view, stage } = node;
    if (!isLocal(this.set.members[member])) return [];
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
    return launches;
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
    const nodes = this.plan.graph.nodes.filter((node): node is ComputeNode => node.kind === "compute" && node.stage === stage);
    const shared = shareReduction(this.set, nodes, this.precision, this.sweepsBackward(stage));
    if (shared) this.launches.push(...shared.all);
    return shared;
  }

  private collectionsOf(container: Container, stage: number): readonly Collection[] {
    return getOrMake(this.collections, stage, () =>
      [...container.reductions.keys()].map((param) => collect(container, param, this.precision)),
    );
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
  add: (member: number, work: Partial<Pick<Op, "launches" | "copies" | "exchange">>, waits: readonly Op[]) => Op,
): (member: number) => readonly Op[] {
  const latest = new Map<number, Op>();
  let arrivals: readonly Op[] = [];
  for (const { launches, copies } of rounds) {
    const arriving = byTarget(arrivals);
    const arrived = (m: number) => arriving.get(m) ?? [];
    for (const m of members)
      if (!latest.has(m)) latest.set(m, add(m, { launches: launches[m] }, before(m)));
      else if (launches[m].length > 0 || arrived(m).length > 0) latest.set(m, add(m, { launches: launches[m] }, arrived(m)));
    const ready = new Map(latest);
    const leaving = bySource(copies);
    const exchange = {};
    arrivals = members.flatMap((m) => {
      const own = leaving.get(m) ?? [];
      if (own.length === 0) return [];
      const op = add(
        m,
        { copies: own, exchange },
        own.map(({ to }) => ready.get(to)!),
      );
      latest.set(m, op);
      return [op];
    });
  }
  const arriving = byTarget(arrivals);
  return (m) => [latest.get(m)!, ...(arriving.get(m) ?? [])];
}

function namesOf(containers: readonly Container[]): string {
  const names = [...new Set(containers.map(({ name }) => `"${name}"`))];
  return `${names.slice(0, NAMED).join(", ")}${names.length > NAMED ? ", ..." : ""}`;
}

/** Copies by the member that they leave. */
function bySource(copies: readonly HaloCopy[]): ReadonlyMap<number, HaloCopy[]> {
  const leaving = new Map<number, HaloCopy[]>();
  for (const copy of copies) getOrMake(leaving, copy.from, () => []).push(copy);
  return leaving;
}

/** Operations by the members that their copies go to, each once for a member. */
function byTarget(ops: readonly Op[]): ReadonlyMap<number, Op[]> {
  const arriving = new Map<number, Op[]>();
  for (const op of ops) for (const to of new Set(op.copies.map((copy) => copy.to))) getOrMake(arriving, to, () => []).push(op);
  return arriving;
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

/** The last operation of each stream that is waited for, except the stream that waits, which keeps its own order. */
function lastOfEach(after: readonly Op[], own: { member: number; stream: number }, order: ReadonlyMap<Op, number>): Op[] {
  const last = new Map<string, Op>();
  for (const op of new Set(after)) {
    if (op.member === own.member && op.stream === own.stream) continue;
    const key = `${op.member} ${op.stream}`;
    const known = last.get(key);
    if (!known || order.get(op)! > order.get(known)!) last.set(key, op);
  }
  return [...last.values()];
}
