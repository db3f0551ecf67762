import { Application, Converter, ReflectionKind } from "typedoc";
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
    for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
      if (parameter.name === "__namedParameters") parameter.name = nameOfDestructured(parameter.type);
  });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc cannot read the sources");
  app.validate(project);
  if (app.logger.hasErrors() || app.logger.validationWarningCount > 0) throw new Error("TypeDoc finds mistakes in docstrings");
  await app.outputs.writeOutput({ name: "markdown", path: folder }, project);
}

/** A parameter that is taken apart where it is declared has no name: it gets that of its type. */
function nameOfDestructured(type) {
  switch (type?.type) {
    case "reference":
      if (["Pick", "Omit", "Partial", "Required", "Readonly"].includes(type.name)) return nameOfDestructured(type.typeArguments[0]);
      return type.name.endsWith("Options") ? "options" : type.name[0].toLowerCase() + type.name.slice(1);
    case "intersection":
      return nameOfDestructured(type.types[0]);
    case "typeOperator": // readonly
      return nameOfDestructured(type.target);
    case "tuple":
    case "array":
      return "values";
    default:
      return "options";
  }
}
