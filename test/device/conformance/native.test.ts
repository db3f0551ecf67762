import { conforms } from "./conforms.js";

await conforms("native");
