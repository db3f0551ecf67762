import { open, range, type Device, type Kernel, type View } from "isoform";
import { addressIn, Baselines, NARROW, type CArgument } from "./baselines.js";
import type { Variant } from "./interleave.js";

/* Programs beside the functions in C that do the same, over the same memory. */

/** One program on one device, and the same in C. */
export interface ProgramBesideC {
  readonly own: Variant["run"];
  readonly c: () => unknown;
  /** The same compiled for vectors of 128 bits, as `wasm` has them. */
  readonly narrow: () => unknown;
  free(): void | Promise<void>;
}

/** The functions of a file in baselines/. */
export class Functions {
  private readonly wide: Baselines;
  private readonly narrow: Baselines;

  constructor(private readonly file: string) {
    const compiler = process.env.CC ?? "gcc";
    this.wide = new Baselines(compiler, undefined, [file]);
    this.narrow = new Baselines(compiler, NARROW, [file]);
  }

  /** One of them with its arguments, compiled both ways. */
  bind(name: string, args: readonly (View | CArgument)[]): Pick<ProgramBesideC, "c" | "narrow"> {
    const given = args.map((arg) => (typeof arg === "object" ? addressOf(arg) : arg));
    return { c: this.wide.bind(this.file, name, given), narrow: this.narrow.bind(this.file, name, given) };
  }
}

const addressOf = ({ buffer }: View): bigint => addressIn(buffer.host!, Number(buffer.address));
export const big = (...numbers: number[]): bigint[] => numbers.map(BigInt);
/** A number from 0 to 1. */
export const noise = (n: number): number => Math.abs(Math.sin(12.9898 * (n + 1)) * 43758.5453) % 1;

/** What is submitted, and the arguments of its function in C. */
export interface Made {
  readonly work: { submit(): void };
  readonly c: readonly (View | CArgument)[];
  /** The view that both write, where they read none of it. */
  readonly output?: View;
}

/** Work on a device beside a function in C. */
export async function beside(functions: Functions, name: string, make: (device: Device) => Made, where: string): Promise<ProgramBesideC> {
  const device = await open(where);
  const { work, c: args, output } = make(device);
  const inC = functions.bind(name, args);
  if (output) {
    work.submit();
    const own = await device.queue.read(output);
    inC.c();
    requireNear(name, own, await device.queue.read(output));
  }
  return {
    own: (times) => {
      for (let n = 0; n < times; n++) work.submit();
      return device.queue.finish();
    },
    ...inC,
    free: () => device.close(),
  };
}

/** A launch over a range. */
export const over = (device: Device, kernel: Kernel<never>, args: object, ...extents: number[]): Made["work"] =>
  device.prepare(kernel as Kernel, args as never, range(...(extents as [number])));

/** Part of the greatest value by which sums in another order may differ: f32, of thousands of terms. */
const TOLERANCE = 1e-3;

/** Throws where values differ from the ones in C. */
function requireNear(name: string, own: ArrayLike<number>, byHand: ArrayLike<number>): void {
  let [off, greatest] = [0, 0];
  for (let n = 0; n < own.length; n++) {
    off = Math.max(off, Math.abs(own[n] - byHand[n]));
    greatest = Math.max(greatest, Math.abs(byHand[n]));
  }
  if (!(off <= TOLERANCE * greatest)) throw new Error(`${name}: values differ by ${off} from C's, of ${greatest} at most`);
}
