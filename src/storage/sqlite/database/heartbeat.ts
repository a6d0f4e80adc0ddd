import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Heartbeat } from "../../store/index.ts";
import { trackOpenFile } from "./open-files.ts";

export function fileHeartbeat(path: string): Heartbeat {
  return new Heartbeat({
    program: PROGRAM,
    workerData: {
      libsql: createRequire(import.meta.url).resolve("libsql"),
      // `rw` does not create a deleted file again.
      file: `${pathToFileURL(path).href}?mode=rw`,
    },
    onStart: () => trackOpenFile(path),
  });
}

const PROGRAM = `
const { workerData } = require("node:worker_threads");
const Database = require(workerData.libsql);
const database = new Database(workerData.file, { timeout: 1000 });

// Statements would keep the file open after close(): only whole texts are run. Tokens are UUIDs.
function beat(tokens) {
  const holders = tokens.map((token) => "'" + token + "'").join(", ");
  try {
    database.exec("UPDATE leases SET beat = " + Date.now() + " WHERE holder IN (" + holders + ")");
  } catch {
    // The file is locked: the next beat makes up for this one.
  }
}

function close() {
  database.close();
}
`;
