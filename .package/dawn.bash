# SPDX-License-Identifier: Apache-2.0
# Completion for bash. The program itself says what may follow, from its option tables. Without an installation:
# . .package/dawn.bash
_dawn() {
    local words=() word line last begun i
    # Bash splits --name=value at "=": put it together again.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]})) && [[ $word == '=' || ${COMP_WORDS[i - 1]} == '=' ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    last=${words[-1]} begun=
    [[ $last == --*=* ]] && begun=${last%%=*}=
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files) compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${last#"$begun"}") ;;
        :folders) compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "${last#"$begun"}") ;;
        *) word=${line%%$'\t'*}
            COMPREPLY+=("${word#"$begun"}") ;;
        esac
    done < <("${COMP_WORDS[0]/#\~/$HOME}" help --complete "${words[@]}" 2>/dev/null)
}
complete -F _dawn dawn dawn-scoreboard
