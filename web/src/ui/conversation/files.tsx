import { useEffect, useState } from "react";
import { clock, inSight } from "../../../../src/threads/log/words.ts";
import type { ChangedFile, FileVersions } from "../../client/contract.ts";
import { Failed } from "../failed.tsx";
import { usePage, useStore } from "../use-store.ts";
import { Diff } from "./story-nodes.tsx";

const KINDS: Readonly<Record<ChangedFile["kind"], string>> = {
  added: "New",
  changed: "Changed",
  removed: "Removed",
  given: "Given",
};

/** The files that the thread changed, each with its net diff. */
export function Files() {
  const { files, past, failed, loading } = usePage();
  return (
    <section className="files" aria-labelledby="files-head">
      <header className="panel-head">
        <h2 id="files-head">Files</h2>
        {files && files.length > 0 && <span className="count">{files.length}</span>}
      </header>
      {past && (
        <p className="empty">These are the files as they are now, not at {clock(past.checkpoint.at)}.</p>
      )}
      <Failed part="files" />
      {files === undefined && !failed.files && (
        <p className="empty">
          {loading === "failed" ? "The files are shown once the thread is there." : "Loading the files…"}
        </p>
      )}
      {files?.length === 0 && <p className="empty">No files changed yet.</p>}
      <ul className="file-list">
        {files?.map((file) => (
          <File key={file.path} file={file} />
        ))}
      </ul>
    </section>
  );
}

function File({ file }: { file: ChangedFile }) {
  const [isOpen, setOpen] = useState(false);
  const { path, added, removed, kind } = file;
  const name = inSight(path);
  const slash = name.lastIndexOf("/") + 1;
  return (
    <li>
      <button type="button" className="file" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span className="file-name">
          <span className="file-folder">{name.slice(0, slash)}</span>
          {name.slice(slash)}
        </span>
        <span className="file-kind">{KINDS[kind]}</span>
        {added > 0 && <span className="plus">+{added}</span>}
        {removed > 0 && <span className="minus">−{removed}</span>}
      </button>
      {isOpen && <FileDiff file={file} />}
    </li>
  );
}

function FileDiff({ file }: { file: ChangedFile }) {
  const store = useStore();
  const { open } = usePage();
  const { path } = file;
  const [versions, setVersions] = useState<FileVersions | string>();
  // Loads again for each new entry of the file: its content may change without its line counts.
  useEffect(() => {
    if (open === undefined) return undefined;
    let isCurrent = true;
    const show = (result: FileVersions | string): void => {
      if (isCurrent) setVersions(result);
    };
    store.api.file(open, path).then(show, (error: Error) => show(error.message));
    return () => {
      isCurrent = false;
    };
  }, [open, file]);
  if (versions === undefined) return <p className="empty">Loading the file…</p>;
  if (typeof versions === "string") return <p className="problem">{versions}</p>;
  const { before, after, isKnown } = versions;
  return (
    <>
      {!isKnown && <p className="empty">What was in this file before is not known; all of it is shown.</p>}
      <Diff before={before ?? ""} after={after ?? ""} label={`Changes in ${inSight(path)}`} />
    </>
  );
}
