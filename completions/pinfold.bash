# SPDX-License-Identifier: Apache-2.0
# Completes pinfold's words in bash. The program says what there is; where it says nothing, files are offered.

_pinfold()
{
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") found
    local cur=${words[-1]}
    # --option=value comes as three words.
    if [[ $cur == = ]]; then
        words[-1]=
        cur=
    elif ((COMP_CWORD > 2)) && [[ ${words[-2]} == = ]]; then
        words=("${words[@]:0:${#words[@]}-2}" "$cur")
    fi
    found=$("${COMP_WORDS[0]}" complete "${words[@]}" 2>/dev/null | cut -f 1)
    mapfile -t COMPREPLY < <(compgen -W "$found" -- "$cur")
}
complete -o default -F _pinfold pinfold
