/** Tells a model that its files are the user's own. */
export const DISK_PLACE = "/ is the user's folder: paths are absolute from it, like /src/a.js.";
