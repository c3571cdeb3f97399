# SPDX-License-Identifier: Apache-2.0
# Completion for fish. The program itself says what may follow, from its option tables.
function __dawn_complete
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program help --complete $words "$now" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$now")
            case :folders
                __fish_complete_directories (string replace -r -- '^--[^=]*=' '' "$now") ''
            case '*'
                echo $line
        end
    end
end
complete -c dawn -f -a '(__dawn_complete)'
complete -c dawn-scoreboard -f -a '(__dawn_complete)'
