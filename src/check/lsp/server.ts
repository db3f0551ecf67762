import type ts from "typescript";
import { fileURLToPath, pathToFileURL } from "node:url";
import { findTypeScript } from "../typescript.js";
import type { LspMessage } from "./framing.js";
import { LspProjects } from "./projects.js";

/* A language server: problems of open files as they change, and over the name of a kernel what it costs. */

const [PARSE_ERROR, NOT_INITIALIZED, UNKNOWN_METHOD, FAILED] = [-32_700, -32_002, -32_601, -32_603];
const [ERROR, HINT] = [1, 4];
/** Milliseconds without an edit after which a file is checked. */
const PAUSE = 200;

interface DocumentParams {
  readonly textDocument: { readonly uri: string; readonly text?: string };
  readonly contentChanges?: readonly { readonly text: string }[];
  readonly position?: { readonly line: number; readonly character: number };
}

export class LspServer {
  private projects: LspProjects | undefined;
  private started = false;
  private stopped = false;
  private readonly waiting = new Map<string, NodeJS.Timeout>();

  /**
   * @param send gives a message to the editor
   * @param end ends the process with an exit code
   */
  constructor(
    private readonly send: (message: LspMessage) => void,
    private readonly end: (code: number) => void,
  ) {}

  receive(message: LspMessage | undefined): void {
    if (!message) return this.refuse(null, PARSE_ERROR, "the message is not JSON");
    const { id, method, params } = message;
    if (method === undefined) return;
    try {
      const result = this.answer(method, params as DocumentParams, id !== undefined);
      if (id !== undefined && result !== UNANSWERED) this.send({ jsonrpc: "2.0", id, result });
      else if (id !== undefined) this.refuse(id, UNKNOWN_METHOD, `isoform lsp does not know ${method}`);
    } catch (error) {
      if (id !== undefined) this.refuse(id, error instanceof NotStarted ? NOT_INITIALIZED : FAILED, (error as Error).message);
      else this.notify("window/logMessage", { type: ERROR, message: `isoform: ${(error as Error).message}` });
    }
  }

  private refuse(id: LspMessage["id"], code: number, message: string): void {
    this.send({ jsonrpc: "2.0", id, error: { code, message } });
  }

  private notify(method: string, params: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  private answer(method: string, params: DocumentParams, isRequest: boolean): unknown {
    if (method === "exit") return this.end(this.stopped ? 0 : 1);
    if (method === "initialize") return this.initialize(params as unknown as { rootUri?: string | null });
    if (!this.started) {
      if (isRequest) throw new NotStarted("the first request is initialize");
      return undefined;
    }
    switch (method) {
      case "shutdown":
        this.stopped = true;
        return null;
      case "textDocument/didOpen":
        return this.changed(params.textDocument.uri, params.textDocument.text ?? "");
      case "textDocument/didChange":
        return this.changed(params.textDocument.uri, params.contentChanges?.at(-1)?.text ?? "");
      case "textDocument/didSave":
        return this.checkAll();
      case "textDocument/didClose":
        return this.closed(params.textDocument.uri);
      case "textDocument/hover":
        return this.hover(params);
      // Any other method is refused.
      default:
        return UNANSWERED;
    }
  }

  private initialize({ rootUri }: { rootUri?: string | null }): object {
    this.started = true;
    const found = findTypeScript(rootUri?.startsWith("file:") ? fileURLToPath(rootUri) : process.cwd());
    if ("api" in found) this.projects = new LspProjects(found.api);
    else this.notify("window/showMessage", { type: ERROR, message: `isoform lsp: ${found.reason} (${found.remedy})` });
    return {
      serverInfo: { name: "isoform" },
      capabilities: { textDocumentSync: { openClose: true, change: 1, save: true }, hoverProvider: true, positionEncoding: "utf-16" },
    };
  }

  private changed(uri: string, text: string): void {
    const path = pathOf(uri);
    if (path === undefined || !this.projects) return;
    this.projects.set(path, text);
    clearTimeout(this.waiting.get(path));
    this.waiting.set(
      path,
      setTimeout(() => this.publish(path), PAUSE),
    );
  }

  private closed(uri: string): void {
    const path = pathOf(uri);
    if (path === undefined) return;
    clearTimeout(this.waiting.get(path));
    this.projects?.close(path);
    this.notify("textDocument/publishDiagnostics", { uri, diagnostics: [] });
  }

  /** A saved file may be one that other open files import. */
  private checkAll(): void {
    for (const path of this.projects?.files() ?? []) this.publish(path);
  }

  private publish(path: string): void {
    try {
      const found = this.projects?.check(path);
      if (!found) return;
      const diagnostics = found.checked.remarks.map(({ start, length, message, isProblem }) => ({
        range: rangeIn(found.file, start, length),
        severity: isProblem ? ERROR : HINT,
        source: "isoform",
        message,
      }));
      this.notify("textDocument/publishDiagnostics", { uri: pathToFileURL(path).href, diagnostics });
    } catch (error) {
      this.notify("window/logMessage", { type: ERROR, message: `isoform: ${(error as Error).message}` });
    }
  }

  private hover({ textDocument, position }: DocumentParams): object | null {
    const path = pathOf(textDocument.uri);
    const found = path === undefined ? undefined : this.projects?.check(path);
    if (!found || !position || position.line >= found.file.getLineStarts().length) return null;
    const offset = found.file.getPositionOfLineAndCharacter(position.line, 0) + position.character;
    const hover = found.checked.hoverAt(offset);
    if (!hover) return null;
    return { contents: { kind: "plaintext", value: hover.text }, range: rangeIn(found.file, hover.start, hover.length) };
  }
}

/** Stands for no answer, as the method is unknown. */
const UNANSWERED = Symbol("unanswered");

class NotStarted extends Error {}

const pathOf = (uri: string): string | undefined => (uri.startsWith("file:") ? fileURLToPath(uri) : undefined);

const rangeIn = (file: ts.SourceFile, start: number, length: number): object => ({
  start: file.getLineAndCharacterOfPosition(start),
  end: file.getLineAndCharacterOfPosition(start + length),
});
