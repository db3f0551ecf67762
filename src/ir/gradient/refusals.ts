import { GradientError } from "../../base/errors.js";
import type { Location, Stmt } from "../types.js";

const GIVE_RULE = "give its adjoint with rule(...)";

/** Refuses kernels whose gradient is not known, with the place and the remedy. */
export class Refusals {
  constructor(
    private readonly kernel: string,
    private readonly place: Location,
  ) {}

  refuse(problem: string, remedy: string, at: Location = this.place): never {
    throw new GradientError(this.kernel, at, problem, remedy);
  }

  team(): never {
    return this.refuse("it is a team kernel, whose gradient is not known", `write it over a range, or ${GIVE_RULE}`);
  }

  /** A fold whose derivative is not known. */
  fold(stmt: Stmt, target: string): never {
    const how =
      stmt.kind === "scatter"
        ? `it folds floats into "${target}" by least or greatest value`
        : stmt.kind === "reduceJointly"
          ? `it folds "${target}" together with other values`
          : `it folds "${target}" by a function of its own`;
    const instead = stmt.kind === "scatter" ? "add into it" : "reduce by sum, min or max";
    return this.refuse(how, `${instead}, or ${GIVE_RULE}`, stmt.location);
  }

  stale({ view, text, location }: { view: string; text: string; location: Location }): never {
    return this.refuse(
      `it reads ${text} again after it stored into ${view}, in a loop, and its gradient needs the value`,
      "keep it in a local or a private array",
      location,
    );
  }

  atomic(target: string): never {
    return this.refuse(
      `its gradient needs what atomic operations on "${target}" found, which another run does not find`,
      "store the numbers in one kernel, and read them in another",
    );
  }

  lists(name: string): never {
    return this.refuse(`it appends to "${name}", and gradients of lists are not known`, "store the values in a view in another kernel");
  }

  unknown(name: string, known: readonly string[]): never {
    return this.refuse(`it has no parameter "${name}" that gradients can be wanted of`, `it has ${known.join(", ") || "none"}`);
  }

  integers(name: string, type: string): never {
    return this.refuse(`"${name}" holds ${type}, and gradients are of floats`, "leave it out of wrt");
  }

  noEffect(name: string): never {
    return this.refuse(`nothing that it stores depends on "${name}"`, "leave it out of wrt");
  }

  taken(name: string, of: string, what: string): never {
    return this.refuse(`it has a parameter ${name}, the name of the ${what} of ${of}`, "rename it");
  }

  storedTwice(view: string, at: Location): never {
    return this.refuse(
      `it may store into one place of "${view}" twice, and keepSeeds leaves what reaches it for both`,
      "leave keepSeeds out",
      at,
    );
  }

  shared(view: string, problem: string): never {
    return this.refuse(
      `two elements may read one place of "${view}", which it stores into at others (${problem})`,
      "read from another view than it stores into",
    );
  }
}
