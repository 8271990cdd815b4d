# SPDX-License-Identifier: Apache-2.0
# Completes pinfold's words in fish. The program says what there is; where it says nothing, files are offered.

function __pinfold_words
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete $words[2..] 2>/dev/null
end
complete -c pinfold -n 'count (__pinfold_words) >/dev/null' -f
complete -c pinfold -n 'count (__pinfold_words) >/dev/null' -a '(__pinfold_words)'
