import type ts from "typescript";
import type { EditorFile } from "./editor.js" with { "resolution-mode": "import" };

/* A plugin of TypeScript's language service: editors that use it show mistakes in kernels beside its own. */

type Editor = typeof import("./editor.js", { with: { "resolution-mode": "import" } });

/** Codes of diagnostics, which belong to no other plugin that is known. */
const CODE = 92_000;

function init({ typescript: api }: { typescript: typeof ts }): ts.server.PluginModule {
  let editor: Editor | undefined;
  const loading = import("./editor.js");

  function create(info: ts.server.PluginCreateInfo): ts.LanguageService {
    const { languageService: service, project } = info;
    // Modules of this package cannot be required by all versions of Node: diagnostics come once they are there.
    void loading.then((module) => {
      editor = module;
      project.refreshDiagnostics();
    });
    const checked = new WeakMap<ts.Program, Map<string, EditorFile>>();
    const checkedFile = (name: string): EditorFile | undefined => {
      const program = service.getProgram();
      const file = program?.getSourceFile(name);
      if (!editor || !program || !file) return undefined;
      let files = checked.get(program);
      if (!files) checked.set(program, (files = new Map()));
      if (!files.has(name)) files.set(name, editor.checkInEditor(api, program, file));
      return files.get(name);
    };
    const guarded = <T,>(make: () => T, otherwise: T): T => {
      try {
        return make();
      } catch (error) {
        project.projectService.logger.info(`isoform: ${String(error)}`);
        return otherwise;
      }
    };
    const proxy = Object.create(service) as ts.LanguageService;
    for (const [name, method] of Object.entries(service))
      if (typeof method === "function") (proxy as unknown as Record<string, unknown>)[name] = method.bind(service) as unknown;
    proxy.getSemanticDiagnostics = (name) => {
      const file = service.getProgram()?.getSourceFile(name);
      const found = guarded(() => checkedFile(name)?.remarks ?? [], []).map(({ start, length, message, isProblem }): ts.Diagnostic => ({
        file,
        start,
        length,
        messageText: message,
        category: isProblem ? api.DiagnosticCategory.Error : api.DiagnosticCategory.Suggestion,
        code: CODE,
        source: "isoform",
      }));
      return [...service.getSemanticDiagnostics(name), ...found];
    };
    proxy.getQuickInfoAtPosition = (name, position, ...others) => {
      const info = service.getQuickInfoAtPosition(name, position, ...others);
      const found = info && guarded(() => checkedFile(name)?.hoverAt(position), undefined);
      return found ? { ...info, documentation: [...(info.documentation ?? []), { kind: "text", text: `\n${found.text}` }] } : info;
    };
    return proxy;
  }

  return { create };
}

export = init;
