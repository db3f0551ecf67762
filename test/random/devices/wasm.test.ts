import { agrees } from "../agrees.js";

agrees("wasm");
