import { agrees } from "../agrees.js";

agrees("webgpu");
