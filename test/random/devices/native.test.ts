import { agrees } from "../agrees.js";

agrees("native");
