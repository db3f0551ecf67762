import { agrees } from "../agrees.js";

agrees("hip");
