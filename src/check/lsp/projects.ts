import type ts from "typescript";
import { dirname } from "node:path";
import { checkInEditor, type EditorFile } from "../editor.js";
import { compilerOptions, moduleResolver } from "../program.js";
import type { TypeScript } from "../typescript.js";

/* Programs of the open files, kept between edits so that each edit costs little. */

interface OpenFile {
  text: string;
  version: number;
}

export class LspProjects {
  private readonly open = new Map<string, OpenFile>();
  /** By folder: files of one folder have the same tsconfig.json. */
  private readonly services = new Map<string, ts.LanguageService>();
  private readonly checked = new WeakMap<ts.Program, Map<string, EditorFile>>();

  constructor(private readonly api: TypeScript) {}

  files(): string[] {
    return [...this.open.keys()];
  }

  set(path: string, text: string): void {
    const known = this.open.get(path);
    this.open.set(path, { text, version: (known?.version ?? 0) + 1 });
  }

  close(path: string): void {
    this.open.delete(path);
  }

  /** The file as it stands in the editor; undefined if it is not open. */
  check(path: string): { readonly file: ts.SourceFile; readonly checked: EditorFile } | undefined {
    const program = this.open.has(path) ? this.serviceFor(path).getProgram() : undefined;
    const file = program?.getSourceFile(path);
    if (!program || !file) return undefined;
    let files = this.checked.get(program);
    if (!files) this.checked.set(program, (files = new Map()));
    let checked = files.get(path);
    if (!checked) files.set(path, (checked = checkInEditor(this.api, program, file)));
    return { file, checked };
  }

  private serviceFor(path: string): ts.LanguageService {
    const folder = dirname(path);
    let service = this.services.get(folder);
    if (!service) this.services.set(folder, (service = this.makeService(path, folder)));
    return service;
  }

  private makeService(path: string, folder: string): ts.LanguageService {
    const { api, open } = this;
    const options = compilerOptions(api, path);
    const read = (name: string): string | undefined => open.get(name)?.text ?? api.sys.readFile(name);
    const host: ts.LanguageServiceHost = {
      getScriptFileNames: () => this.files().filter((name) => dirname(name) === folder),
      getScriptVersion: (name) => String(open.get(name)?.version ?? api.sys.getModifiedTime?.(name)?.getTime() ?? 0),
      getScriptSnapshot(name) {
        const text = read(name);
        return text === undefined ? undefined : api.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => folder,
      getCompilationSettings: () => options,
      getDefaultLibFileName: (given) => api.getDefaultLibFilePath(given),
      fileExists: (name) => open.has(name) || api.sys.fileExists(name),
      readFile: read,
      directoryExists: (name) => api.sys.directoryExists(name),
      getDirectories: (name) => api.sys.getDirectories(name),
    };
    host.resolveModuleNameLiterals = moduleResolver(api, host);
    return api.createLanguageService(host, api.createDocumentRegistry());
  }
}
