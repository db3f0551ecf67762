import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Command } from "commander";
import { makeProgram } from "../../src/cli/make-program.js";

/* The help of every command. */

const program = await makeProgram(["help"]);

/** Commands that run, each with its words: `lbm cavity`. */
const commandsOf = (parent: Command, words: readonly string[] = []): (readonly [name: string, command: Command])[] =>
  parent.commands.flatMap((command) => {
    const own = [...words, command.name()];
    return command.commands.length > 0 ? commandsOf(command, own) : [[own.join(" "), command] as const];
  });
const COMMANDS = commandsOf(program);

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** Lines of a help that show a command, without what is said of it behind. */
const examplesOf = (help: string): string[] =>
  [...(help.split("\nExamples:\n")[1] ?? "").matchAll(/^ {2}isoform (.*?)(?: {3,}.*)?$/gm)].map(([, line]) => line);

describe("the help of every command", () => {
  it("is that of over 25 commands", () => assert.ok(COMMANDS.length > 25, `${COMMANDS.length}`));

  for (const [name, command] of COMMANDS)
    it(name, () => {
      assert.match(command.description(), /^[a-zA-Z]/);
      const shown = command.options.filter(({ hidden }) => !hidden);
      const fragments = shown.filter(({ description }) => !/^[a-zA-Z]/.test(description) || /^(of|at|in|the same) /.test(description));
      assert.deepEqual(
        fragments.map(({ flags, description }) => `${flags}: ${description}`),
        [],
      );
      if (name === "doctor") return;
      const examples = examplesOf(helpOf(command));
      assert.ok(examples.length > 0, "it has no examples");
      const options = new Set([...command.options, ...program.options].map(({ long }) => long));
      for (const example of examples) {
        assert.ok(example === name || example.startsWith(`${name} `), example);
        const unknown = [...example.matchAll(/(?<= )--[\w-]+/g)].filter(([option]) => !options.has(option));
        assert.deepEqual(unknown, [], example);
      }
    });
});
