/** Elements in any order, some of them twice. */
export interface Elements {
  readonly shape: readonly [number, number];
  readonly rows: number[];
  readonly columns: number[];
  readonly values: number[];
}

/**
 * Random elements with empty rows, and one row that has as many elements as the others together.
 * @param round gives numbers that the device can hold
 */
export function randomElements(random: () => number, [m, n]: readonly [number, number], round: (x: number) => number): Elements {
  const [rows, columns, values]: [number[], number[], number[]] = [[], [], []];
  const add = (row: number, column: number): void => {
    rows.push(row);
    columns.push(column);
    values.push(round(2 * random() - 1));
  };
  if (m > 0 && n > 0) {
    const long = Math.floor(random() * m);
    for (let row = 0; row < m; row++) {
      const count = row === long ? 3 * n : random() < 0.3 ? 0 : Math.floor(random() * 20);
      for (let k = 0; k < count; k++) add(row, Math.floor(random() * n));
    }
    for (let k = values.length - 1; k > 0; k--) {
      const other = Math.floor(random() * (k + 1));
      for (const list of [rows, columns, values]) [list[k], list[other]] = [list[other], list[k]];
    }
  }
  return { shape: [m, n], rows, columns, values };
}

/** Rows with rising columns, elements of one place added up in the order of the lists. */
export function plainRows({ shape, rows, columns, values }: Elements, round: (x: number) => number): [column: number, value: number][][] {
  const maps = Array.from({ length: shape[0] }, () => new Map<number, number>());
  for (let k = 0; k < values.length; k++) {
    const map = maps[rows[k]];
    const before = map.get(columns[k]);
    map.set(columns[k], before === undefined ? values[k] : round(before + values[k]));
  }
  return maps.map((map) => [...map].sort(([a], [b]) => a - b));
}
