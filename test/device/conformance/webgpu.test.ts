import { conforms } from "./conforms.js";

await conforms("webgpu");
await conforms("webgpu", { f64: "emulate" });
