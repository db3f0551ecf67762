/** Key of the list of places from which copies of the library were loaded in this thread; the copies share it. */
const LOADED = Symbol.for("isoform.copies");

const shared = globalThis as { [LOADED]?: string[] };
const places = shared[LOADED] ?? [];
places.push(
  decodeURI(import.meta.url)
    .replace(/^file:\/\//, "")
    .replace(/(\/dist)?\/src\/base\/copies\.[jt]s$/, ""),
);
Reflect.set(shared, LOADED, places);

/** For messages about objects that are not known: that several copies of the library are loaded, where they are; empty if there is one. */
export const otherCopies = (): string =>
  places.length < 2
    ? ""
    : ` (${places.length === 2 ? "two" : places.length} copies of isoform are loaded: ${places.join(", ")}; they do not recognise each other's objects, so make all code load the same one)`;
