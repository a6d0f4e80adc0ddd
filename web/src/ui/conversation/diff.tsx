import { lineDiff, type DiffLine } from "../../../../src/threads/story/line-diff.ts";
import { inSight } from "../../../../src/threads/story/words.ts";

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "−" };
const WORDS: Readonly<Record<DiffLine["kind"], string>> = {
  same: "",
  added: "added: ",
  removed: "removed: ",
};

/** The difference of two texts, line by line. */
export function Diff({ before, after, label }: { before: string; after: string; label: string }) {
  const hunks = lineDiff(before, after);
  if (!hunks) {
    return (
      <>
        <p className="empty">The two versions differ too much to be compared; this is the new one.</p>
        <pre tabIndex={0}>{inSight(after)}</pre>
      </>
    );
  }
  if (hunks.length === 0) return <p className="empty">Nothing changes in this file.</p>;
  return (
    <div className="diff" tabIndex={0} role="group" aria-label={label}>
      <table>
        {hunks.map(({ lines }, index) => (
          <tbody key={index}>
            {lines.map(({ kind, text, before: old, after: now }, at) => (
              <tr key={at} className={`line-${kind}`}>
                <td className="number">{now ?? old}</td>
                <td className="sign">
                  <span aria-hidden="true">{SIGNS[kind]}</span>
                  <span className="hidden">{WORDS[kind]}</span>
                </td>
                <td className="line">{inSight(text)}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}
