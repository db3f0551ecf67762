import { bringListSupport } from "../../kernel/declare/list-support.js";
import { listToken, type ListElement, type ListToken } from "../../kernel/declare/params.js";
import { listKernels, withoutLists } from "../../kernel/lower/list-kernels.js";
import { lowerPush, startList } from "../../kernel/lower/lists.js";
import { prepareLists } from "./list-launch.js";

const SUPPORT = { startList, lowerPush, withoutLists, listKernels, prepareLists };

/**
 * A list that a kernel over a range appends to: `near.push(value)`. Its elements lie in the order of the range's elements, and of one element in the order of its calls, with any
 * number of workers. An element appends `most` times at most. A launch gives `device.list(type, capacity)`, begins with it empty, and has the number of elements among its results.
 * @param of the type of the elements: numbers of any storage type, truth values, vectors and the like, records
 * @param most from 1 to 65536
 * @throws LaunchError for another type or number
 */
export function list<T extends ListElement>(of: T, most = 1): ListToken<T> {
  bringListSupport(SUPPORT);
  return listToken(of, most, list);
}
