export { withKeptKeys } from "./kept-keys.ts";
export { logIn } from "./login.ts";
