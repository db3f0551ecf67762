/* bench/frames.ts with all that it needs but Dawn in one file, for machines with a GPU and without a bundler: `npm run site:frames`. */
export default {
  publicDir: false,
  ssr: { noExternal: true, external: ["webgpu"] },
  build: {
    ssr: "../dist/bench/frames.js",
    outDir: "../dist/frames",
    emptyOutDir: true,
    target: "node20",
    minify: false,
    rolldownOptions: { output: { entryFileNames: "frames.mjs", codeSplitting: false } },
  },
};
