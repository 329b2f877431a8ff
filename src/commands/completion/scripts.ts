/** bash 3.2 or newer, without the package bash-completion. */
const bash = `# bash completion for dustpan: the program itself lists the candidates.
_dustpan() {
  local rest=\${COMP_LINE:0:COMP_POINT} n=-1 before= colon= directive= words i piece args output line
  words=() COMPREPLY=()
  rest=\${rest#*"\${COMP_WORDS[0]}"}
  # bash splits words at = and :, which our words contain; join the parts without a space between them.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    if ((n < 0)) || [[ $rest == [[:space:]]* ]]; then
      n=$((n + 1))
      words[n]=
    fi
    rest=\${rest#"\${rest%%[![:space:]]*}"}
    piece=\${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then piece=$rest; fi
    words[n]+=$piece
    rest=\${rest#"$piece"}
  done
  printf -v args ' %q' "\${words[@]}"
  output=$(eval "\${COMP_WORDS[0]} __complete$args" 2>/dev/null) || return 0
  # If bash does not split at =, the candidate replaces the flag too.
  if [[ \${COMP_WORDS[COMP_CWORD]} == -*=* ]]; then before=\${words[n]%%=*}=; fi
  # If it splits at :, as in the name of an image, the candidate replaces only what follows the last one.
  if [[ \${words[n]} == *:* && \${COMP_WORDS[COMP_CWORD]} != *?:* ]]; then
    colon=\${words[n]%"\${words[n]##*:}"}
    if [[ $colon == -*=* ]]; then colon=\${colon#*=}; fi
  fi
  while IFS= read -r line; do
    case $line in
      :*) directive=\${line#:} ;;
      *) line=\${line%%$'\\t'*} && COMPREPLY+=("$before\${line#"$colon"}") ;;
    esac
  done <<<"$output"
  case $directive in
    4) compopt +o default 2>/dev/null ;;
    16) compopt +o default -o dirnames 2>/dev/null ;;
  esac
  return 0
}
complete -o default -F _dustpan dustpan
`;

const zsh = `#compdef dustpan
# zsh completion for dustpan: the program itself lists the candidates.
_dustpan() {
  local output line word directive
  local -a candidates
  output=$(eval "\${words[1]} __complete \${(j: :)\${(@qq)words[2,CURRENT-1]}} \${(qq)PREFIX}" 2>/dev/null) || return 1
  for line in "\${(@f)output}"; do
    word=\${line%%$'\\t'*}
    case $line in
      :*) directive=\${line#:} ;;
      *$'\\t'*) candidates+=("\${word//:/\\\\:}:\${line#*$'\\t'}") ;;
      *) candidates+=("\${word//:/\\\\:}") ;;
    esac
  done
  if [[ $PREFIX == -*=* ]]; then compset -P '*='; fi
  case $directive in
    0) _files ;;
    16) _files -/ ;;
    *) _describe dustpan candidates ;;
  esac
}
if [[ \${funcstack[1]} == _dustpan ]]; then _dustpan "$@"; else compdef _dustpan dustpan; fi
`;

const fish = `# fish completion for dustpan: the program itself lists the candidates.
function __dustpan_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l output (dustpan __complete $words[2..-1] "$current" 2>/dev/null)
    or return
    # fish replaces the whole word, so the flag comes before its value.
    set -l before (string match -r -- '^-[^=]*=' "$current")
    set -l value (string replace -r -- '^-[^=]*=' '' "$current")
    switch "$output[-1]"
        case ':0'
            set output (__fish_complete_path "$value")
        case ':16'
            set output (__fish_complete_directories "$value")
        case '*'
            set -e output[-1]
    end
    for line in $output
        printf '%s\\n' "$before$line"
    end
end
complete -c dustpan -f -a '(__dustpan_complete)'
`;

/** By shell: each runs `dustpan __complete` (completion.ts). */
export const completionScripts = { bash, zsh, fish } as const;
