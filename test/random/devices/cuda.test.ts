import { agrees } from "../agrees.js";

agrees("cuda");
