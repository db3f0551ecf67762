/** Files that are taken as they are. */
declare module "*?raw" {
  const text: string;
  export default text;
}
