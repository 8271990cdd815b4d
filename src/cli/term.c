/* SPDX-License-Identifier: Apache-2.0
 * What the terminal is, by its environment. */
#include "src/cli/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/cli/values.h"

/* "" where it is not set. */
static const char *variable(const char *name)
{
    const char *const value = getenv(name);

    return value ? value : "";
}

static bool any_in(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

/* Between programs that share a terminal graphics do not come through. */
static enum pfi_cli_term find_kind(void)
{
    static const char *const shared[] = {"screen", "tmux", NULL};
    static const char *const kitty[] = {"kitty", "ghostty", "WezTerm", NULL};
    static const char *const sixel[] = {"sixel", "foot",      "mlterm",
                                        "yaft",  "iTerm.app", NULL};
    const char *const term = variable("TERM");
    const char *const program = variable("TERM_PROGRAM");

    if (*variable("NO_COLOR") || *variable("TMUX") || any_in(term, shared))
        return PFI_CLI_TERM_BLOCKS;
    if (*variable("KITTY_WINDOW_ID") || any_in(term, kitty) ||
        any_in(program, kitty))
        return PFI_CLI_TERM_KITTY;
    return any_in(term, sixel) || any_in(program, sixel) ? PFI_CLI_TERM_SIXEL
                                                         : PFI_CLI_TERM_BLOCKS;
}

static enum pfi_cli_colours find_colours(void)
{
    static const char *const full[] = {"truecolor", "24bit", "direct", NULL};

    if (*variable("NO_COLOR"))
        return PFI_CLI_NO_COLOURS;
    return any_in(variable("COLORTERM"), full) || any_in(variable("TERM"), full)
               ? PFI_CLI_24_BIT
               : PFI_CLI_256;
}

/* A program's output is as wide as COLUMNS says, or 80. */
static void find_size(struct pfi_cli_terminal *out)
{
    struct winsize size = {0};
    long long columns;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        size = (struct winsize){0};
    if (!pfi_cli_to_number(variable("COLUMNS"), 1, 10000, &columns))
        columns = 80;
    out->columns = size.ws_col ? size.ws_col : (int32_t)columns;
    out->pixels = size.ws_xpixel ? size.ws_xpixel : out->columns * 8;
}

bool pfi_cli_terminal_find(struct pfi_cli_terminal *out, enum pfi_cli_term kind)
{
    const char *const term = variable("TERM");
    const bool dumb = !*term || !strcmp(term, "dumb");

    *out = (struct pfi_cli_terminal){.kind = kind, .colours = find_colours()};
    if (kind == PFI_CLI_TERM_AUTO && (dumb || !isatty(STDOUT_FILENO))) {
        (void)fprintf(stderr,
                      "pinfold: --term: stdout is %s; --term=blocks, =sixel or "
                      "=kitty draws all the same\n",
                      isatty(STDOUT_FILENO) ? "a terminal that TERM says "
                                              "nothing of"
                                            : "not a terminal");
        return false;
    }
    if (kind == PFI_CLI_TERM_AUTO)
        out->kind = find_kind();
    find_size(out);
    return true;
}
