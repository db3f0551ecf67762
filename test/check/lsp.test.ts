import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { framed, MessageReader, type LspMessage } from "../../src/check/lsp/framing.js";

/* The language server as an editor speaks to it: the process, its standard input and output. */

const MAIN = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "isoform-lsp-")));

/** An editor: it sends messages, and waits for the ones that it asks for. */
class Editor {
  private readonly process = spawn(process.execPath, [MAIN, "lsp", "--stdio"], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  private readonly reader = new MessageReader();
  private readonly got: LspMessage[] = [];
  private wake = (): void => undefined;
  private ids = 0;
  readonly ended = once(this.process, "close");

  constructor() {
    this.process.stdout.on("data", (bytes: Buffer) => {
      this.got.push(...this.reader.take(bytes).map((message) => message!));
      this.wake();
    });
  }

  /** Writes byte by byte what a pipe may cut anywhere. */
  raw(text: string): void {
    this.process.stdin.write(text);
  }

  notify(method: string, params: unknown): void {
    this.raw(framed({ jsonrpc: "2.0", method, params }));
  }

  async request(method: string, params: unknown): Promise<LspMessage> {
    const id = ++this.ids;
    this.raw(framed({ jsonrpc: "2.0", id, method, params }));
    return this.next((message) => message.id === id);
  }

  async next(is: (message: LspMessage) => boolean): Promise<LspMessage> {
    for (;;) {
      const at = this.got.findIndex(is);
      if (at >= 0) return this.got.splice(at, 1)[0];
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  async diagnostics(uri: string): Promise<Diagnostic[]> {
    const { params } = await this.next(
      ({ method, params }) => method === "textDocument/publishDiagnostics" && (params as Published).uri === uri,
    );
    return (params as Published).diagnostics;
  }
}

interface Diagnostic {
  readonly message: string;
  readonly severity: number;
  readonly range: { readonly start: { readonly line: number; readonly character: number }; readonly end: { readonly character: number } };
}
interface Published {
  readonly uri: string;
  readonly diagnostics: Diagnostic[];
}

const HEAD = 'import { f64, kernel, view } from "isoform";\n';
const RIGHT = `${HEAD}export const k = kernel("double it", { x: view(f64) }, ({ x }, i) => {\n  x[i] = 2 * x[i];\n});\n`;
const WRONG = RIGHT.replace("2 * x[i]", "2 * x[i + 1]");

test("an editor sees problems as it types, and what a kernel costs", { timeout: 240_000 }, async () => {
  const editor = new Editor();
  const path = join(folder, "gr\u00fc\u00dfe.ts");
  const uri = pathToFileURL(path).href;
  writeFileSync(path, RIGHT);
  const early = await editor.request("textDocument/hover", {});
  assert.equal(early.error?.code, -32_002);
  const { result } = await editor.request("initialize", { rootUri: pathToFileURL(folder).href, capabilities: {} });
  assert.equal((result as { capabilities: { hoverProvider: boolean } }).capabilities.hoverProvider, true);
  editor.notify("initialized", {});

  editor.notify("textDocument/didOpen", { textDocument: { uri, languageId: "typescript", version: 1, text: RIGHT } });
  assert.deepEqual(await editor.diagnostics(uri), []);
  const hover = await editor.request("textDocument/hover", { textDocument: { uri }, position: { line: 1, character: 20 } });
  const { contents } = hover.result as { contents: { value: string } };
  assert.equal(contents.value, "double it: 1 operations and 16 bytes for each element; reads x; writes x");
  const beside = await editor.request("textDocument/hover", { textDocument: { uri }, position: { line: 2, character: 3 } });
  assert.equal(beside.result, null);

  editor.notify("textDocument/didChange", { textDocument: { uri, version: 2 }, contentChanges: [{ text: WRONG }] });
  const [found, ...others] = await editor.diagnostics(uri);
  assert.equal(others.length, 0);
  assert.match(found.message, /^kernel "double it": reads x\[i \+ 1\] while x\[i\] is written by another element \(write to another view/);
  assert.equal(found.severity, 1);
  assert.deepEqual(found.range.start, { line: 2, character: 13 });

  const unknown = WRONG.replace(HEAD, `${HEAD}const DX = Number(process.argv[2]);\n`).replace("x[i + 1];\n}", "DX;\n}, () => [DX]");
  editor.notify("textDocument/didChange", { textDocument: { uri, version: 3 }, contentChanges: [{ text: unknown }] });
  const [hint] = await editor.diagnostics(uri);
  assert.equal(hint.message, '"double it" is not checked: DX is known only when the program runs');
  assert.equal(hint.severity, 4);

  editor.notify("textDocument/didChange", { textDocument: { uri, version: 4 }, contentChanges: [{ text: `${WRONG}const a = ;` }] });
  assert.equal((await editor.diagnostics(uri)).length, 1, "a file with a mistake of TypeScript's is checked, too");
  editor.notify("textDocument/didSave", { textDocument: { uri } });
  assert.equal((await editor.diagnostics(uri)).length, 1);
  editor.notify("textDocument/didClose", { textDocument: { uri } });
  assert.deepEqual(await editor.diagnostics(uri), []);

  const other = await editor.request("textDocument/rename", {});
  assert.equal(other.error?.code, -32_601);
  editor.raw("Content-Length: 3\r\n\r\nxyz");
  assert.equal((await editor.next(({ id }) => id === null)).error?.code, -32_700);
  assert.equal((await editor.request("shutdown", null)).result, null);
  editor.notify("exit", null);
  assert.deepEqual(await editor.ended, [0, null]);
});

test("a helper of another file is followed as it is edited", { timeout: 240_000 }, async () => {
  const editor = new Editor();
  const [first, second] = ["uses.ts", "helpers.ts"].map((name) => join(folder, name));
  const [uri, helpers] = [first, second].map((path) => pathToFileURL(path).href);
  const kernelText = `import { part } from "./helpers.js";\n${HEAD}kernel("k", { x: view(f64) }, ({ x }, i) => {\n  x[i] = part(x[i]);\n}, () => [part]);\n`;
  const helperText = "export const part = (v: number): number => 2 * v;\n";
  writeFileSync(first, kernelText);
  writeFileSync(second, helperText);
  await editor.request("initialize", { rootUri: null, capabilities: {} });
  editor.notify("textDocument/didOpen", { textDocument: { uri, text: kernelText } });
  assert.deepEqual(await editor.diagnostics(uri), []);
  const changed = helperText.replace("2 * v", "Math.random() * v");
  editor.notify("textDocument/didOpen", { textDocument: { uri: helpers, text: changed } });
  await editor.diagnostics(helpers);
  editor.notify("textDocument/didSave", { textDocument: { uri: helpers } });
  const [found] = await editor.diagnostics(uri);
  assert.match(found.message, /Math\.random is not part of the kernel language .*helpers\.ts:1:44/);
  assert.equal(found.range.start.line, 2);
  editor.notify("exit", null);
  assert.deepEqual(await editor.ended, [1, null], "without shutdown");
});
