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
  if (!isMain) return <div className={className}>{children}</div>;
  return (
    <main className={className}>
      <h1 className="hidden">{name}</h1>
      {children}
    </main>
  );
}
