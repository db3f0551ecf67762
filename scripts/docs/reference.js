import { Application, Converter } from "typedoc";
import { entryPoints } from "../../dist/scripts/docs/entry-points.js";

/* The reference of the API: one page for each entry point of package.json's exports, from the docstrings of the sources. */

/** Writes the reference's pages into a folder. Throws where a source does not compile, or a docstring links to what is not there. */
export async function writeReference(root, folder) {
  const entries = entryPoints(root);
  const names = [...entries.keys()];
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    entryPoints: [...entries.values()].map((path) => root + path),
    tsconfig: `${root}tsconfig.json`,
    skipErrorChecking: true, // the build has compiled them
    disableSources: true,
    excludeInternal: true,
    excludePrivate: true,
    excludeProtected: true,
    readme: "none",
    name: "Reference",
    sort: ["source-order"],
    groupOrder: ["Functions", "Variables", "Classes", "Interfaces", "Type Aliases", "*"],
    logLevel: "Warn",
    validation: { notExported: false, invalidLink: true, notDocumented: false },
    treatValidationWarningsAsErrors: true,
    outputFileStrategy: "modules",
    entryFileName: "index",
    useHTMLAnchors: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: "table",
    interfacePropertiesFormat: "table",
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    project.children?.forEach((module, n) => {
      module.name = names[n];
    });
  });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc cannot read the sources");
  app.validate(project);
  if (app.logger.hasErrors() || app.logger.validationWarningCount > 0) throw new Error("TypeDoc finds mistakes in docstrings");
  await app.outputs.writeOutput({ name: "markdown", path: folder }, project);
}
