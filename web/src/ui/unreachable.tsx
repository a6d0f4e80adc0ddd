/** The page for a refused key. */
export function Unreachable({ isKnown }: { isKnown: boolean }) {
  return (
    <main className="unreachable">
      <h1>{isKnown ? "The key is not valid any more" : "This page needs its key"}</h1>
      <p>
        {isKnown
          ? "The server was started anew, and has a new key. Nothing is lost: every thread is kept."
          : "The key is at the end of the address that the server printed when it started."}
      </p>
      <p>
        Open the whole address that <code>holdfast serve</code> printed, with everything after the #.
      </p>
    </main>
  );
}
