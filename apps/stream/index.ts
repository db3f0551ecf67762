/* Memory bandwidth by the BabelStream set: `Stream.create`. */
export * from "./stream.js";
