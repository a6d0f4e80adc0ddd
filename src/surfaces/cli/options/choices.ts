// Written out, so that help and completion need not wait for what they are the choices of.
export const PRESETS = ["lean", "classic", "deerflow", "checklist"] as const;
export const APPROVALS = ["first", "always", "never"] as const;
export const MODES = ["plan", "ask", "edits", "auto"] as const;
export const EFFORTS = ["off", "low", "medium", "high"] as const;
export const SANDBOXES = ["auto", "always", "never"] as const;
export const FORMATS = ["checklist", "markdown", "mermaid", "json"] as const;
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
