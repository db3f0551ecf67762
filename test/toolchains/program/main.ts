import { acrossModules, placeOfMistake, results } from "./program.js";

/* Prints what the kernels give on js and js-debug, as JSON. */
async function main(): Promise<void> {
  const found = { js: await results("js"), debug: await results("js-debug"), across: undefined as unknown, place: placeOfMistake() };
  found.across = await acrossModules("js").catch((error: Error) => error.message);
  console.log(`RESULTS ${JSON.stringify(found)}`);
}
export const ended = main();
