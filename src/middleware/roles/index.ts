export { readRoles, type Role, type RolesOptions, type RolesRead } from "./read-roles.ts";
