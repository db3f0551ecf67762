import { identifier, Names, type Identifier } from "../../src/base/names.js";
import { local } from "../../src/schedule/build.js";

/* Text from elsewhere does not become an identifier of emitted code by itself. */

declare const users: string;
declare const axis: "i" | "j";

export const words: readonly Identifier[] = [identifier("thread"), identifier(`${axis}_begin`), new Names().fresh(users)];
export const values = [local("thread", "int"), local(new Names().of("local", users), "f64")];

// @ts-expect-error: any text
export const wrong = identifier(users);
// @ts-expect-error: any text
export const wrongValue = local(users, "int");
// @ts-expect-error: text that is made of any
export const wrongName: Identifier = `${users}_kernel`;
