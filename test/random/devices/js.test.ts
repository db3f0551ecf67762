import { agrees } from "../agrees.js";

agrees("js");
