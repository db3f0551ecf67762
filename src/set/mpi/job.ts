import { writeSync } from "node:fs";
import { hostname } from "node:os";
import { isMainThread } from "node:worker_threads";
import { loadKoffi, noKoffi } from "../../device/ffi.js";
import { Loader } from "../../device/native/library.js";
import { IsoformError } from "../../base/errors.js";
import { agreedByAll, isAgreed, joinJob, runningJob, type Job } from "../job.js";
import { launched } from "../launched.js";
import { leaveTogether, letFirstTell } from "../leaving.js";
import { Calls } from "./calls.js";
import { Communicator, Turns, type CommunicatorOptions } from "./communicator.js";
import { loadMpi } from "./library.js";

/** Reason and remedy where koffi is missing. */
export const MPI_NEEDS_KOFFI = noKoffi("MPI");

/** Exit code of a process that threw. */
const THROWN = 1;
/** Exit code of processes that all refuse the same input. */
const REFUSED = 2;
/** Node's status where a program ends while it awaits something. */
const UNSETTLED = 13;
/** Seconds that MPI_Abort may take: MPICH 4 waits for ranks that are busy or finalising, without end. */
const ABORT_SECONDS = 2;

let joining: Promise<MpiJob> | undefined;

/**
 * Initialises MPI, once in a process.
 * @throws IsoformError where koffi or MPI is missing, and where MPI is not the one of the launcher
 */
export const joinMpi = (): Promise<MpiJob> => (joining ??= start());

async function start(): Promise<MpiJob> {
  if (!isMainThread) throw new IsoformError('a worker asks for "mpi:", and MPI is for the main thread: open the set there');
  process.on("uncaughtExceptionMonitor", endUncaught);
  try {
    const koffi = await loadKoffi();
    if (!koffi) throw new IsoformError(`no MPI: ${MPI_NEEDS_KOFFI.reason} (${MPI_NEEDS_KOFFI.remedy})`);
    // Compiled kernels need its stack, which is set before the first library is loaded.
    new Loader(koffi);
    const job = new MpiJob(new Calls(koffi, loadMpi(koffi)));
    joinJob(job);
    return job;
  } catch (error) {
    // Every rank finds the same, and rank 0 tells.
    throw error instanceof IsoformError ? agreedByAll(error) : error;
  }
}

/** The processes of MPI's world, on duplicates of its communicator. */
export class MpiJob implements Job {
  readonly rank: number;
  readonly count: number;
  readonly host = hostname();
  private readonly world: number;
  /** For calls that block the thread, whose order does not depend on calls that wait meanwhile. */
  private readonly blocking: number;
  private readonly node: number;
  /** One order for the calls of all sets. */
  private readonly turns = new Turns();
  private together = false;
  private ended = false;

  constructor(private readonly calls: Calls) {
    const { abi, library } = calls;
    const owned = calls.int("MPI_Initialized") === 0;
    if (owned) initialise(calls);
    if (owned) process.on("exit", (code) => this.end(code));
    this.rank = calls.int("MPI_Comm_rank", abi.world);
    this.count = calls.int("MPI_Comm_size", abi.world);
    const told = launched();
    if (told && told.count > 1 && this.count === 1)
      throw new IsoformError(
        `${told.launcher} started ${told.count} processes, and ${library.from}, ${library.version}, sees one: it is not the launcher's MPI. ` +
          `Remedy: set ISOFORM_MPI to the library that ${told.launcher} belongs to`,
      );
    this.world = duplicate(calls);
    this.blocking = duplicate(calls);
    this.node = split(calls, this.world, this.rank);
  }

  /** All ranks. */
  ranks(options: CommunicatorOptions): Communicator {
    return new Communicator(this.calls, this.world, this, options, this.turns);
  }

  /** All ranks, for calls that block the thread. */
  ranksThatBlock(options: CommunicatorOptions): Communicator {
    return new Communicator(this.calls, this.blocking, this, options);
  }

  /** The ranks that share this node's memory. */
  ranksOfNode(options: CommunicatorOptions): Communicator {
    return new Communicator(this.calls, this.node, this, options);
  }

  abort(text: string, code: number): never {
    // At once: the process ends within the next call.
    writeSync(2, `isoform: rank ${this.rank} of ${this.count} on ${this.host}: ${text}\n`);
    this.ended = true;
    this.calls.endAfter(ABORT_SECONDS);
    this.calls.functions.MPI_Abort(this.world ?? this.calls.abi.world, code);
    process.exit(code);
  }

  /** Lets the system end this process after some seconds, whatever it does, unless it is told other seconds before; 0 for never. */
  endAfter(seconds: number): void {
    this.calls.endAfter(seconds);
  }

  leaveTogether(): void {
    this.together = true;
  }

  /** Finalises MPI, which waits for the other ranks; or ends them, which would wait for this one. */
  private end(code: number): void {
    if (this.ended) return;
    const { stuck } = this.turns;
    if (stuck !== undefined && (code === 0 || code === UNSETTLED))
      this.abort(
        `${stuck} would wait for ever for a value that itself asks all ranks for something: await the value, and then give it`,
        THROWN,
      );
    if (code !== 0 && !this.together && this.count > 1) this.abort(`it exited with status ${code}, which ends all ranks`, code);
    this.ended = true;
    // MPI_Abort of a rank that fails meanwhile would wait for ranks that are inside MPI_Finalize.
    if (this.world !== undefined) this.ranks({ patience: Infinity }).waitAtExit((error) => this.tellAtExit(error));
    this.calls.functions.MPI_Finalize();
  }

  /** Tells of ranks that wait for this one, which is at its end. They throw the same, and rank 0 tells. */
  private tellAtExit(error: Error): void {
    if (this.rank === 0) writeSync(2, `isoform: ${error.message}\n`);
    process.exitCode = REFUSED;
  }
}

/** Ends all ranks for an error of this one; an error of all ranks is told by rank 0. */
function endUncaught(error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (isAgreed(error)) leaveTogether(text, REFUSED);
  if (error instanceof IsoformError) letFirstTell();
  runningJob()?.abort(text, THROWN);
}

function initialise(calls: Calls): void {
  const { funneled, world, self, errorsReturn } = calls.abi;
  const provided = new Int32Array(1);
  calls.call("MPI_Init_thread", 0, 0, funneled, calls.address(provided));
  if (provided[0] < funneled)
    throw new IsoformError(
      `${calls.library.from}, ${calls.library.version}, allows one thread a process, and Node has several: use one built with thread support`,
    );
  // Errors of tests belong to no communicator; these handlers are asked in its place.
  for (const handle of [world, self]) calls.call("MPI_Comm_set_errhandler", handle, errorsReturn);
}

/** Duplicates the world, so that messages never meet other libraries' messages. */
const duplicate = (calls: Calls): number => derived(calls, (handle) => calls.call("MPI_Comm_dup", calls.abi.world, handle));

/** Splits ranks by the memory that they share. */
function split(calls: Calls, world: number, rank: number): number {
  const { shared, infoNull } = calls.abi;
  return derived(calls, (handle) => calls.call("MPI_Comm_split_type", world, shared, rank, infoNull, handle));
}

/** Makes a communicator that returns errors. */
function derived(calls: Calls, make: (handle: number) => void): number {
  const memory = new Uint8Array(8);
  make(calls.address(memory));
  const handle = calls.handle(memory);
  calls.call("MPI_Comm_set_errhandler", handle, calls.abi.errorsReturn);
  return handle;
}
