import { HarnessError } from "../../../errors.ts";
import { EXIT } from "../exit-codes.ts";
import { SHELLS } from "../options/choices.ts";
import { shown } from "../output/harmless.ts";
import type { Terminal } from "../terminal.ts";

export interface CompletionFlags {
  shell?: string | undefined;
}

/** `holdfast completion`: prints what a shell needs to complete our commands. */
export async function completion({ shell }: CompletionFlags, { stdout, env }: Terminal): Promise<number> {
  const wanted = shell ?? (env["SHELL"]?.includes("zsh") ? "zsh" : "bash");
  const known = SHELLS.find((name) => name === wanted);
  if (!known) {
    const message = `There is no completion for ${JSON.stringify(wanted)}; use ${SHELLS.join(" or ")}.`;
    throw new HarnessError("invalid-options", message);
  }
  stdout.write(known === "zsh" ? ZSH : BASH);
  return EXIT.done;
}

// Bash breaks words at : and =, and completes only what stands after them; the program puts them together again.
// `compopt` is not in the bash of macOS, and works only while a line is completed.
const BASH = shown`# Completion of holdfast for bash: holdfast completion bash >> ~/.bashrc
_holdfast() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line name
  [ "$current" = "=" ] && current=""
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files | :folders)
        if [ "$line" = ":files" ]; then name=file; else name=directory; fi
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -A "$name" -- "$current")
        ;;
      *:)
        compopt -o nospace 2>/dev/null
        COMPREPLY+=("$(printf '%q' "$line")")
        ;;
      *) COMPREPLY+=("$(printf '%q' "$line")") ;;
    esac
  done < <(holdfast --complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _holdfast holdfast
`;

const ZSH = shown`#compdef holdfast
# Completion of holdfast for zsh: holdfast completion zsh >> ~/.zshrc
_holdfast() {
  local line
  for line in "\${(@f)$(holdfast --complete "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case "$line" in
      "") ;;
      :files) compset -P '--*='; _files ;;
      :folders) compset -P '--*='; _files -/ ;;
      *:) compadd -S '' -- "$line" ;;
      *) compadd -- "$line" ;;
    esac
  done
}
if [[ "\${zsh_eval_context[-1]}" == "loadautofunc" ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;
