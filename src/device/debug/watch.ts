import { originalPosition } from "#source-map";
import { KernelError } from "../../base/errors.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { Location } from "../../ir/types.js";
import type { CopiedRange } from "./arena.js";
import { Shadow } from "./shadow.js";

/** The sharers of a step of a team, its members or the lanes of one: the one at work, and the accesses of each in this step. */
class Sharers {
  /** Words for who is at work, where one is. */
  name = "";
  /** A number that rises over all of all steps, and the first of this step. */
  private current = 0;
  private step = 0;

  constructor(
    private readonly whole: string,
    readonly one: string,
    private readonly shadows: readonly Shadow[],
  ) {}

  next(name: string): void {
    this.current++;
    this.name = name;
  }

  /** Begins a new step: accesses before it have happened for all of them. */
  nextStep(): void {
    this.next("");
    this.step = this.current;
  }

  /** Describes what is wrong with reading a place of a piece; undefined if nothing is. */
  read(piece: number | Shadow, at: number): string | undefined {
    if (this.shadowOf(piece)?.read(at, this.current, this.step) === undefined) return undefined;
    return `is read, and another ${this.one} of the ${this.whole} writes it in the same step: ${this.one}s race`;
  }

  write(piece: number | Shadow, at: number): string | undefined {
    if (!this.shadowOf(piece)?.write(at, this.current, this.step)) return undefined;
    return `is written, and another ${this.one} of the ${this.whole} reads or writes it in the same step: ${this.one}s race`;
  }

  private shadowOf(piece: number | Shadow): Shadow | undefined {
    return typeof piece === "number" ? this.shadows[piece] : piece;
  }
}

/** Accesses to memory of a team, by member and by lane. */
type TeamShadows = Readonly<Record<"members" | "lanes", Shadow>>;

/** State of a kernel's function while it is watched: the element that runs, and the accesses of each element. */
export class Watch {
  /** The element of the range, or the team; counted from 0. */
  element = 0;
  /** Words for an element. */
  describe: (element: number) => string = (element) => `element ${element}`;
  /** For team kernels. */
  readonly members: Sharers;
  readonly lanes: Sharers;
  private readonly elements: Shadow[];

  constructor(
    private readonly kernel: Kernel,
    pieces: readonly CopiedRange[],
  ) {
    const shadows = (): Shadow[] => pieces.map((p) => new Shadow(Math.ceil((p.end - p.start) / p.granule)));
    this.elements = shadows();
    const shared = (): Shadow[] => (kernel.policy === "team" ? shadows() : []);
    this.members = new Sharers("team", "member", shared());
    this.lanes = new Sharers("member", "lane", shared());
  }

  /** Notes a read of a place of a piece; throws if another element wrote it. */
  read(piece: number, at: number, what: () => string): void {
    const writer = this.elements[piece].read(at, this.element, 0);
    if (writer !== undefined) this.fail(`${what()} is read, and ${this.describe(writer)} writes it: elements race`, RACE);
    for (const sharers of [this.members, this.lanes]) {
      const problem = sharers.read(piece, at);
      if (problem) this.fail(`${what()} ${problem}`, stepRemedy(sharers));
    }
  }

  /** Notes a write; throws if another element read or wrote the place. */
  write(piece: number, at: number, what: () => string, remedy = RACE): void {
    const other = this.elements[piece].write(at, this.element, 0);
    if (other)
      this.fail(
        "wrote" in other
          ? `${what()} is written by ${this.describe(other.wrote)} too: elements race`
          : `${what()} is written, and ${this.describe(other.read)} reads it: elements race`,
        remedy,
      );
    for (const sharers of [this.members, this.lanes]) {
      const problem = sharers.write(piece, at);
      if (problem) this.fail(`${what()} ${problem}`, stepRemedy(sharers));
    }
  }

  /** Notes an access to memory of a team, which has a shadow for each kind of sharers; throws if they race. */
  inTeam(how: "read" | "write", shadows: TeamShadows, at: number, what: () => string): void {
    for (const of of ["members", "lanes"] as const) {
      const problem = this[of][how](shadows[of], at);
      if (problem) this.fail(`${what()} ${problem}`, stepRemedy(this[of]));
    }
  }

  /** Throws a KernelError that names the place in the kernel's source and the element. */
  fail(problem: string, remedy?: string): never {
    throw new KernelError(
      this.kernel.name,
      here(this.kernel),
      `${problem} (${this.describe(this.element)}${this.members.name}${this.lanes.name})`,
      remedy,
    );
  }
}

const RACE = "write the element's own place only, or use scatter or a reduction";
const stepRemedy = ({ one }: Sharers): string =>
  `put the read into a step of its own: each ${one === "member" ? "team.range ends with a barrier" : "lanes.range ends before the next step of the member begins"}`;

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
