/* Pages that are isolated from other origins have shared memory, and so threads. */
const headers = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

// Modules of the Fortran front end do nothing when they are loaded: what writes ports stands apart from what makes kernels, and comes after it.
const treeshake = { moduleSideEffects: (id) => !id.includes("/dist/src/fortran/") };

/* Files of the editor are told from the gallery's by their names. */
const chunkFileNames = ({ moduleIds }) =>
  `assets/${moduleIds.some((id) => /@(codemirror|lezer)\//.test(id)) ? "editor-" : ""}[name]-[hash].js`;

export default {
  // So that the page may lie in any folder of a server.
  base: "./",
  server: { headers },
  preview: { headers },
  worker: { format: "es", rolldownOptions: { treeshake, output: { chunkFileNames: "assets/workers/[name]-[hash].js" } } },
  build: { target: "es2023", rolldownOptions: { treeshake, output: { chunkFileNames } } },
};
