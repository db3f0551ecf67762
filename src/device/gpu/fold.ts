import { LaunchError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Launch } from "../device.js";
import type { Policy } from "../launch/policy.js";
import { BYTES, type Buffer, type View } from "../memory/view.js";
import type { WritingWork } from "../memory/writes.js";
import { canSend } from "../../schedule/mailbox.js";
import { mailboxBytes, type FinalReduction, type Members } from "./final-reduction.js";
import type { GpuLaunch } from "./launch.js";
import type { GpuMachine } from "./machine.js";

/** One GPU's part of a fold, and the views of one element that take its result, by reduce parameter. */
interface FoldPart {
  readonly gpu: GpuMachine;
  readonly launches: readonly GpuLaunch[];
  readonly results: Readonly<Record<string, View>>;
}

/** Memory through which GPUs of several processes exchange totals. All processes call its functions alike, in one order. */
export interface Mailboxes {
  /** The number of this process, and of all. */
  readonly me: number;
  readonly count: number;
  /** Seconds after which a GPU gives up the others. */
  readonly patience: number;
  /** The greatest of the numbers of all; undefined where one has none. */
  most(own: number | undefined): number | undefined;
  /** As many zeroed bytes in the memory of each; undefined where one has no room. */
  take(bytes: number): TakenMailboxes | undefined;
}

/** Mailboxes of one fold. */
export interface TakenMailboxes {
  /** One for each process, reached from here. */
  readonly addresses: readonly number[];
  /** Gives back this process's own. */
  free(): void;
}

/** Folds on one GPU what launches of one kernel, there and on others, have left of their reductions. */
export class GpuFold implements Launch, WritingWork {
  readonly kernel: Kernel;
  readonly policy: Policy;
  readonly precision = "fast";
  readonly cost = { flops: 0, bytes: 0 };
  readonly remarks: readonly string[];
  readonly ran = false;
  readonly recorded = [];
  private freed = false;

  private constructor(
    readonly gpu: GpuMachine,
    private readonly launches: readonly GpuLaunch[],
    private readonly memory: readonly { free(): void }[],
    private readonly reduction: FinalReduction,
    readonly written: readonly Buffer[],
  ) {
    ({ kernel: this.kernel, policy: this.policy } = launches[0]);
    this.remarks = [`partials of ${launches.length} launches, folded by ${reduction.blocks} blocks`];
  }

  /**
   * One fold for each part. GPUs that are all different ones, and can wait for each other, fold what is their own and exchange the results
   * while they do so (`allReduces`); else each reads the partials of all. Undefined if a part has no launches, or they were folded at once.
   */
  static together(parts: readonly FoldPart[]): { folds: readonly GpuFold[]; allReduces: boolean } | undefined {
    if (parts.some(({ launches }) => launches.length === 0)) return undefined;
    const reductions = Object.keys(parts[0].results).length;
    const apart = new Set(parts.map(({ gpu }) => gpu)).size === parts.length;
    const allReduces = parts[0].gpu.language.allReduces && apart && canSend(reductions, parts.length);
    const all = parts.flatMap(({ launches }) => launches);
    const blocks = parts.map(({ launches }) =>
      launches[0].finalReductionBlocks(allReduces ? launches : all, allReduces ? parts.length : 1),
    );
    if (blocks.includes(undefined)) return undefined;
    const most = Math.max(...(blocks as number[]));
    const mailboxes = allReduces ? parts.map(({ gpu }) => gpu.allocate(mailboxBytes(parts.length, most, reductions))) : [];
    const addresses = mailboxes.map(({ address }) => address);
    const folds = parts.map(({ gpu, launches, results }, me) => {
      const sources = allReduces ? launches : all;
      const members = allReduces ? { me, mailboxes: addresses, blocks: most } : undefined;
      return GpuFold.of({ gpu, launches: sources, results }, mailboxes.slice(me, me + 1), members);
    });
    return { folds, allReduces };
  }

  /**
   * This process's fold of several: GPUs of others fold what is theirs, and all exchange the results while they do so. Undefined on all where one has no
   * launches, or cannot wait for others.
   */
  static across(part: FoldPart, mailboxes: Mailboxes): GpuFold | undefined {
    const { gpu, launches, results } = part;
    const { me, count, patience } = mailboxes;
    const reductions = Object.keys(results).length;
    const fits = launches.length > 0 && gpu.language.allReduces && canSend(reductions, count);
    const blocks = mailboxes.most(fits ? launches[0].finalReductionBlocks(launches, count) : undefined);
    if (blocks === undefined) return undefined;
    const taken = mailboxes.take(mailboxBytes(count, blocks, reductions));
    return taken && GpuFold.of(part, [taken], { me, mailboxes: taken.addresses, blocks, patience });
  }

  /** @param boxes memory that goes with the fold */
  private static of({ gpu, launches, results }: FoldPart, boxes: readonly { free(): void }[], members: Members | undefined): GpuFold {
    const totals = gpu.allocate(8 * Object.keys(results).length);
    const reduction = launches[0].finalReductionOf(launches, { results: totals.address, outputs: outputAddresses(results) }, members)!;
    return new GpuFold(gpu, launches, [totals, ...boxes], reduction, [...new Set(Object.values(results).map(({ buffer }) => buffer))]);
  }

  /** Throws LaunchError if it, or a launch that leaves partials, was freed. */
  requireReady(): void {
    if (this.freed) throw new LaunchError(`the fold of kernel "${this.kernel.name}" was freed and cannot run again; prepare it anew`);
    for (const launch of this.launches) launch.requireReady();
  }

  enqueue(stream: number): void {
    this.gpu.starts(this.kernel.name);
    this.reduction.step.enqueue(stream);
  }

  source(): string {
    return this.launches[0].source();
  }

  submit(): void {
    throw new LaunchError("a fold of partials has no numbers and no range of its own; submit it to a queue");
  }

  free(): void {
    if (this.freed) return;
    this.freed = true;
    this.reduction.free();
    for (const piece of this.memory) piece.free();
  }
}

const outputAddresses = (results: Readonly<Record<string, View>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(results).map(([name, { buffer, offset, type }]) => [name, Number(buffer.address) + offset * BYTES[type]]),
  );
