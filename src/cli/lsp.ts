import type { Command } from "commander";

const EXAMPLES = `
Examples:
  isoform lsp     for an editor, which starts it: docs/checking.md has the settings of VS Code, Neovim and Helix`;

/** Adds `isoform lsp`. */
export function addLsp(program: Command): void {
  program
    .command("lsp")
    .description("be a language server on standard input and output: editors show mistakes in kernels, and what kernels cost")
    .option("--stdio", "use standard input and output, which it does anyway")
    .addHelpText("after", EXAMPLES)
    .action(async () => {
      const { MessageReader, framed } = await import("../check/lsp/framing.js");
      const { LspServer } = await import("../check/lsp/server.js");
      const reader = new MessageReader();
      const server = new LspServer(
        (message) => void process.stdout.write(framed(message)),
        (code) => process.exit(code),
      );
      process.stdin.on("data", (bytes: Buffer) => reader.take(bytes).forEach((message) => server.receive(message)));
      // The editor is gone.
      process.stdin.on("end", () => process.exit(1));
    });
}
