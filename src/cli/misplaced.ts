import type { Command } from "commander";

/*
 * Words that stand where commander would answer about something else.
 */

/** Lets commands with cases, such as `lbm cavity`, say where an option belongs that is given before the case. */
export function placeOptionsOfCases(program: Command): void {
  for (const group of program.commands) {
    const cases = group.commands;
    if (cases.length === 0) continue;
    const takes = (option: string): Command | undefined => cases.find(({ options }) => options.some(({ long }) => long === option));
    group.configureOutput({
      outputError(text, write) {
        const [, option] = /^error: unknown option '(--[^'=]+)/.exec(text) ?? [];
        const one = option === undefined ? undefined : takes(option);
        if (!one) return write(text);
        const names = cases.map((each) => each.name()).join(", ");
        write(
          `error: ${option} comes after a case of ${group.name()}: isoform ${group.name()} ${one.name()} ${option} ...; the cases are ${names}\n`,
        );
      },
    });
  }
}

/**
 * The words to parse. Where they ask for help of a command that does not exist, commander would show the help of the command above it: the unknown name
 * alone is refused, with the nearest one.
 */
export function parsedWords(program: Command, words: readonly string[]): string[] {
  const asksForHelp = words.some((word) => word === "--help" || word === "-h") || firstOperand(program, words)?.word === "help";
  if (!asksForHelp) return [...words];
  const path: string[] = [];
  let [command, rest] = [program, words];
  while (command.commands.length > 0) {
    const found = firstOperand(command, rest);
    if (found === undefined) break;
    rest = rest.slice(found.at + 1);
    if (found.word === "help") continue;
    path.push(found.word);
    const next = command.commands.find((each) => each.name() === found.word || each.aliases().includes(found.word));
    if (!next) return path;
    command = next;
  }
  return [...words];
}

/** The first word that is neither an option nor the value of one. */
function firstOperand({ options }: Command, words: readonly string[]): { word: string; at: number } | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word.startsWith("-")) return { word, at };
    if (options.find(({ long, short }) => word === long || word === short)?.required) at++;
  }
  return undefined;
}
