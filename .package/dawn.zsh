#compdef dawn dawn-scoreboard
# SPDX-License-Identifier: Apache-2.0
# Completion for zsh. The program itself says what may follow, from its option tables.
local -a lines candidates shown
local line ways
lines=("${(@f)$(${(Q)words[1]} help --complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
for line in $lines; do
    case $line in
    (:*) ways+=$line ;;
    (*) candidates+=("${line%%$'\t'*}")
        shown+=("${${line/$'\t'/  }%% #}") ;;
    esac
done
(( $#candidates )) && compadd -l -d shown -a candidates
[[ -z $ways ]] && return
[[ $PREFIX == --*=* ]] && compset -P '*='
[[ $ways == *:files* ]] && _files
[[ $ways == :folders ]] && _files -/
