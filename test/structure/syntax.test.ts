/*
 * The rules that read the syntax of sources. They run in one process, which parses each file once.
 */
import "./syntax/executed.js";
import "./syntax/foreign-text.js";
import "./syntax/in-operator.js";
import "./syntax/switches.js";
