import type { StructField } from "../../emit/c/arguments.js";
import type { OpenMPProgram } from "../../emit/c/openmp.js";
import type { OpenmpSlot } from "../../schedule/slots.js";
import type { NativeEntry, Loader } from "./library.js";
import { NativeStep } from "./step.js";

/** Calls by themselves, before what runs steps is compiled for the others. */
const DIRECT = 3;

/** Code as a call needs it. */
interface Code {
  readonly program: Pick<OpenMPProgram, "fields">;
  readonly entry: NativeEntry;
  readonly loader: Loader;
  runStep(step: bigint): void;
}

/** A compiled kernel with its arguments, to be called again and again. */
export class NativeCall {
  readonly address: bigint;
  private made: NativeStep | undefined;
  private calls = 0;
  private elements: number | undefined;

  /** @param free whether fewer threads than `args` says may run it */
  constructor(
    private readonly code: Code,
    private readonly args: ArrayBuffer,
    private readonly free: boolean,
  ) {
    this.address = code.loader.address(args);
  }

  /** The same for a graph. */
  get step(): NativeStep {
    const { loader, entry, program } = this.code;
    const isWorkers = ({ slot }: StructField<OpenmpSlot>): boolean => slot.kind === "workers";
    return (this.made ??= new NativeStep(loader, entry.address, this.args, this.free ? program.fields.find(isWorkers)?.offset : undefined));
  }

  /** Calls it here; `workers` is what `args` says. */
  run(workers: number): void {
    if (workers === 1 || !this.free || this.calls++ < DIRECT) this.code.entry.call(this.address);
    else this.code.runStep(this.step.address);
  }

  /** Takes note of the elements of the next run: times of others tell nothing. */
  of(elements: number): void {
    if (this.elements !== elements) this.made?.forget();
    this.elements = elements;
  }
}
