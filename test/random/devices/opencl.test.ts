import { agrees } from "../agrees.js";

agrees("opencl");
