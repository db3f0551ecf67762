/** Colours from dark blue over green to yellow, in even steps of lightness: their order is seen by the colour-blind and in grey. */
export const EVEN_COLOURS: readonly string[] = [
  "#440154",
  "#482173",
  "#433e85",
  "#38598c",
  "#2d708e",
  "#25858e",
  "#1e9b8a",
  "#2ab07f",
  "#52c569",
  "#86d549",
  "#c2df23",
  "#fde725",
];

/** Colours from blue over white, which is 0, to red. */
export const SIGNED_COLOURS: readonly string[] = [
  "#2166ac",
  "#4393c3",
  "#92c5de",
  "#d1e5f0",
  "#ecf3f7",
  "#f8f8f8",
  "#fbeee6",
  "#fddbc7",
  "#f4a582",
  "#d6604d",
  "#b2182b",
];

/** Colour of places without a value. */
export const NO_VALUE = "#bbbbbb";
