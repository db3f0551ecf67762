import { originalPosition } from "../../kernel/source-map.js";
import { KernelError } from "../../kernel/errors.js";
import type { Kernel } from "../../kernel/kernel.js";
import type { Location } from "../../ir/types.js";
import type { Piece } from "./arena.js";
import { Shadow } from "./shadow.js";

/** What a kernel's function is doing while it is watched: which element runs, and which touched what. */
export class Watch {
  /** The element of the range, or the team; counted from 0. */
  element = 0;
  /** Words for an element. */
  describe: (element: number) => string = (element) => `element ${element}`;
  /** For team kernels: the member at work, by a number that rises over all members of all steps, and the first of this step. */
  member = 0;
  step = 0;
  /** Words for the member at work, where one is. */
  memberName = "";
  private readonly elements: Shadow[];
  private readonly members: Shadow[] | undefined;

  constructor(
    private readonly kernel: Kernel,
    pieces: readonly Piece[],
  ) {
    const shadows = (): Shadow[] => pieces.map((p) => new Shadow(Math.ceil((p.end - p.start) / p.granule)));
    this.elements = shadows();
    if (kernel.policy === "team") this.members = shadows();
  }

  /** Notes a read of a place of a piece; throws if another element wrote it. */
  read(piece: number, place: number, what: () => string): void {
    const writer = this.elements[piece].read(place, this.element, 0);
    if (writer !== undefined) this.fail(`${what()} is read, and ${this.describe(writer)} writes it: elements race`, RACE);
    if (this.members?.[piece].read(place, this.member, this.step) !== undefined)
      this.fail(`${what()} is read, and another member of the team writes it in the same step: members race`, STEP);
  }

  /** Notes a write; throws if another element read or wrote the place. */
  write(piece: number, place: number, what: () => string, remedy = RACE): void {
    const other = this.elements[piece].write(place, this.element, 0);
    if (other)
      this.fail(
        "wrote" in other
          ? `${what()} is written by ${this.describe(other.wrote)} too: elements race`
          : `${what()} is written, and ${this.describe(other.read)} reads it: elements race`,
        remedy,
      );
    if (this.members?.[piece].write(place, this.member, this.step))
      this.fail(`${what()} is written, and another member of the team reads or writes it in the same step: members race`, STEP);
  }

  /** Throws a KernelError that names the place in the kernel's source and the element. */
  fail(problem: string, remedy?: string): never {
    throw new KernelError(this.kernel.name, here(this.kernel), `${problem} (${this.describe(this.element)}${this.memberName})`, remedy);
  }
}

const RACE = "write the element's own place only, or use scatter or a reduction";
const STEP = "put the read into a step of its own: each team.range ends with a barrier";

/** The line of the author's function that called into this folder. */
function here(kernel: Kernel): Location {
  const folder = new URL(/* @vite-ignore */ ".", import.meta.url).href;
  const own = (file: string): boolean => file.startsWith(folder) || `file://${file}`.startsWith(folder);
  for (const line of (new Error().stack ?? "").split("\n").slice(1)) {
    const m = /\(?((?:file:\/\/|[A-Za-z]:[\\/]|\/|https?:\/\/)[^()]*?):(\d+):(\d+)\)?$/.exec(line.trim());
    if (m && !own(m[1])) return originalPosition({ file: m[1].replace(/^file:\/\//, ""), line: Number(m[2]), column: Number(m[3]) });
  }
  return originalPosition(kernel.location);
}
