// Optimises a function after fifteen times as much work in it as by default: most of a test's code runs too shortly to win back what V8's optimising compiler takes.
require("node:v8").setFlagsFromString("--interrupt-budget=1000000");
