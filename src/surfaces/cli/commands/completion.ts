import { EXIT } from "../exit-codes.ts";
import { SHELLS } from "../options/index.ts";
import { shown } from "../output/index.ts";
import type { Terminal } from "../terminal.ts";
import { refuse } from "../wording.ts";

/** `holdfast completion`: prints the completion script of a shell. */
export async function completion({ shell }: { shell?: string }, { stdout, env }: Terminal): Promise<number> {
  const current = SHELLS.find((name) => env["SHELL"]?.includes(name));
  const requested = shell ?? current ?? (process.platform === "win32" ? "powershell" : "bash");
  const supported = SHELLS.find((name) => name === requested);
  if (!supported) {
    const choices = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(SHELLS);
    refuse(`There is no completion for ${JSON.stringify(requested)}; use ${choices}.`);
  }
  stdout.write({ bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }[supported]);
  return EXIT.done;
}

// Bash splits words at : and =, and completes only the last part; the program joins them again.
// `compopt` is missing in macOS' bash, and works only during completion.
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

const FISH = shown`# Completion of holdfast for fish: holdfast completion fish > ~/.config/fish/completions/holdfast.fish
function __holdfast_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (holdfast --complete $words[2..-1] "$current" 2>/dev/null)
    switch $line
      case ':files'
        __fish_complete_path "$current"
      case ':folders'
        __fish_complete_directories "$current" ''
      case '*'
        echo $line
    end
  end
end
complete -c holdfast -f -a '(__holdfast_complete)'
`;

// Before 7.3 PowerShell drops an empty word, and passes two quotes as one.
const POWERSHELL = shown`# Completion of holdfast for PowerShell: holdfast completion powershell >> $PROFILE
Register-ArgumentCompleter -Native -CommandName holdfast -ScriptBlock {
  param($current, $ast, $cursor)
  $words = @($ast.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
  $last = if ($current -eq '' -and $PSVersionTable.PSVersion -lt [version]'7.3') { '""' } else { $current }
  holdfast --complete @words $last 2>$null | ForEach-Object {
    if ($_ -in ':files', ':folders') {
      [System.Management.Automation.CompletionCompleters]::CompleteFilename($current)
    } else {
      [System.Management.Automation.CompletionResult]::new($_)
    }
  }
}
`;
