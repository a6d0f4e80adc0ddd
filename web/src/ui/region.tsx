import type { ReactNode } from "react";

/** A part of the page; where it is the only one that is shown, it is the main one and has a heading that says so. */
export function Region({
  isMain,
  className,
  name,
  children,
}: {
  isMain: boolean;
  className: string;
  name: string;
  children: ReactNode;
}) {
  // One element for both: another one would lose what somebody is writing in it when the window gets wider.
  return (
    <div className={className} role={isMain ? "main" : undefined} tabIndex={isMain ? 0 : undefined}>
      {isMain && <h1 className="hidden">{name}</h1>}
      {children}
    </div>
  );
}
