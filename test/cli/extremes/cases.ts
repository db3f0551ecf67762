import type { Command, Option } from "commander";
import { fileURLToPath } from "node:url";
import { HEAT_FILE } from "../../fortran/fixtures.js";
import { makeProgram } from "../../../src/cli/make-program.js";

/*
 * Every option of every command with values that nobody should type, from commander's own definition of the commands: an option that is new is
 * tried without a word here, and a command that is new must be given words that make it quick.
 */

export interface Case {
  readonly words: readonly string[];
  /** It changes how later commands run, which must not be seen. */
  readonly last: boolean;
}

interface Quick {
  readonly arguments?: readonly string[];
  readonly options: readonly string[];
  /** Words that take less where the option names a file to write, which is written alike. */
  readonly writing?: Quick;
}

const TIMINGS = fileURLToPath(new URL("../../../../test/data/gaia-timings-10gb.csv", import.meta.url));
const GRID = ["--devices", "js"];
const FLOW = { options: [...GRID, "--size", "8", "--steps", "2"] };
const PLASMA = { options: ["--devices", "js", "--particles", "64", "--dt", "0.01", "--time", "0.02", "--every", "1"] };

/** Words with which a command is through within a moment. */
const QUICK: Readonly<Record<string, Quick>> = {
  assess: {
    arguments: ["stream"],
    options: [...GRID, "--gib", "0.0001", "--repeats", "1", "--iterations", "1", "--quick", "--no-handwritten"],
    // Peaks of a device take seconds
    writing: { options: ["--from", TIMINGS] },
  },
  // Ends before it loads TypeScript, which takes seconds.
  check: { arguments: ["nowhere.ts"], options: [] },
  doctor: { options: [] },
  elasticity: { options: [...GRID, "--size", "5", "--iterations", "2"] },
  emit: { arguments: ["heat"], options: ["--target", "c", "--size", "8"] },
  explain: { arguments: ["heat"], options: [...GRID, "--size", "8", "--iterations", "0"] },
  gsr: { options: ["--devices", "js", "--stars", "20", "--years", "1", "--iterations", "2"] },
  heat: { options: [...GRID, "--size", "8", "--steps", "2"] },
  "lbm cavity": FLOW,
  "lbm cylinder": { options: [...GRID, "--size", "4", "--steps", "2"] },
  "navier-stokes box": { options: [...GRID, "--nx", "16", "--ny", "16", "--steps", "2", "--every", "1"] },
  life: { options: [...GRID, "--generations", "2", "--width", "40", "--height", "12"] },
  "pic push": { options: ["--devices", "js", "--particles", "64", "--calls", "2"] },
  "pic weibel": PLASMA,
  lsp: { options: [] },
  port: { arguments: [HEAT_FILE], options: [] },
  poisson: { options: [...GRID, "--size", "8", "--iterations", "2"] },
  "assess-counters": { arguments: ["{}"], options: [] },
  "scaling-part": { arguments: ["{}"], options: [] },
  // Measures where the folder is given, and else ends before it does.
  scaling: {
    arguments: ["heat"],
    options: ["--devices", "js*{n}", "--strong", "16", "--ranks", "1", "--repeats", "1", "--output", "/dev/full"],
  },
  stream: { options: ["--devices", "js", "--gib", "0.0001", "--iterations", "2"] },
};

/** Options that name a file to write. */
const WRITTEN = ["json", "report"];

/** Values that are work which somebody may want, however long it takes. */
const LONG = ["1e12", "9007199254740991"];
const WORK: Readonly<Record<string, readonly string[]>> = {
  calls: LONG,
  generations: LONG,
  gib: ["0.5"],
  iterations: LONG,
  repeats: LONG,
  steps: LONG,
  time: LONG,
};

const HUGE = "x".repeat(100_000);
const WORDS = ["", " ", "constructor", "__proto__", "a\nb", HUGE];
const NUMBERS = [
  "0",
  "-1",
  "0.5",
  "1e12",
  "9007199254740991",
  "9007199254740993",
  "1e300",
  "-1e300",
  "1e-320",
  "1e309",
  "NaN",
  "1,2",
  "a=b",
];
const NAMES = ["-1", "js*99999999", "js*0", "\u0007", "/dev/full", "/proc/nope/nope", ".", "nowhere/file"];

/** All commands that do something, by their words. */
function leaves(command: Command, words: readonly string[] = []): (readonly [string, Command])[] {
  return command.commands.flatMap((each) => {
    const own = [...words, each.name()];
    return each.commands.length > 0 ? leaves(each, own) : [[own.join(" "), each] as const];
  });
}

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const written = (option: Option, value: string): string[] => [takesValue(option) ? `${option.long}=${value}` : option.long!];

function valuesOf(option: Option): readonly string[] {
  if (!takesValue(option)) return [""];
  if (option.argChoices) return WORDS;
  if (!option.parseArg) return [...WORDS, ...NAMES];
  return [...WORDS, ...NUMBERS.filter((value) => !WORK[option.name()]?.includes(value))];
}

export async function extremes(): Promise<Case[]> {
  const program = await makeProgram([]);
  const quickOf = (name: string): Quick => {
    if (!Object.hasOwn(QUICK, name)) throw new Error(`test/cli/extremes: say with which options "isoform ${name}" is quick`);
    return QUICK[name];
  };
  const wordsOf = (name: string, { arguments: given = [], options }: Quick, more: readonly string[]): string[] => [
    ...name.split(" "),
    ...given,
    ...options,
    ...more,
  ];
  // Cases of flows and plasmas have the same options, and differ in their problem alone.
  const commands = leaves(program).filter(([name]) => !/^(lbm|pic|navier-stokes) /.test(name) || Object.hasOwn(QUICK, name));
  const own = commands.flatMap(([name, command]) => {
    const quick = quickOf(name);
    const options = command.options.flatMap((option) => {
      const words = WRITTEN.includes(option.attributeName()) ? (quick.writing ?? quick) : quick;
      return valuesOf(option).map((value) => wordsOf(name, words, written(option, value)));
    });
    const places = command.registeredArguments.flatMap(() =>
      [...WORDS, ...NAMES].map((value) => wordsOf(name, { ...quick, arguments: [value] }, [])),
    );
    return [...options, ...places].map((words): Case => ({ words, last: false }));
  });
  const shared = program.options
    .filter(({ long }) => long !== "--version")
    .flatMap((option) =>
      valuesOf(option).map((value): Case => ({ words: wordsOf("heat", quickOf("heat"), written(option, value)), last: true })),
    );
  return [...own, ...shared];
}
