import type { EventEmitter } from "node:events";
import { Option, type Command } from "commander";

/** Lets every command that has `--devices` take `--device`, too. Help shows `--devices` alone. */
export function acceptDevice(command: Command): void {
  if (command.options.some(({ long }) => long === "--devices")) {
    command.addOption(new Option("--device <set>").hideHelp());
    command.on("option:device", (value: string) => {
      // A command is an emitter of its options, which commander's types leave out.
      (command as Command & EventEmitter).emit("option:devices", value);
      command.setOptionValue("device", undefined);
    });
  }
  command.commands.forEach(acceptDevice);
}
