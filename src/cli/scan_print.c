/* SPDX-License-Identifier: Apache-2.0
 * Findings as a table, as JSON, and as a list of files to take away. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/scan.h"
#include "src/cli/text.h"
#include "src/cli/written.h"

/* Paths that are longer push the reason to the right. */
enum { PATH_COLUMN = 40 };

const char *pfi_cli_kind_name(enum pfi_cli_kind kind)
{
    static const char *const names[] = {
        [PFI_CLI_UNREADABLE] = "unreadable",
        [PFI_CLI_EMPTY] = "empty",
        [PFI_CLI_NO_PICTURE] = "no-picture",
        [PFI_CLI_TRUNCATED] = "truncated",
        [PFI_CLI_CORRUPT] = "corrupt",
        [PFI_CLI_OVER_LIMIT] = "over-limit",
        [PFI_CLI_UNSUPPORTED] = "unsupported",
        [PFI_CLI_FAILED_OTHERWISE] = "failed",
        [PFI_CLI_EXTENSION] = "extension",
        [PFI_CLI_OPEN_END] = "no-end",
        [PFI_CLI_CMYK] = "cmyk",
        [PFI_CLI_CLIPPED] = "clipped",
        [PFI_CLI_TURNED] = "turned",
        [PFI_CLI_DUPLICATE] = "duplicate",
        [PFI_CLI_OVERLAP] = "overlap",
        [PFI_CLI_CLASS_EMPTY] = "class-empty",
        [PFI_CLI_CLASS_SMALL] = "class-small",
        [PFI_CLI_CLASS_LARGE] = "class-large",
    };

    return names[kind];
}

static const char *name_of(const struct pfi_cli_scan *s,
                           const struct pfi_cli_finding *f)
{
    return f->sample < 0 ? pinfold_dataset_class_name(s->dataset, f->label)
                         : pinfold_dataset_path(s->dataset, f->sample);
}

/* ------------------------------------------------------------------- table ---
 */

/* Characters of UTF-8. */
static int width_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += (*text & 0xC0) != 0x80;
    return n;
}

/* Returns how wide it was; without memory, how wide it is unescaped. */
static int print_escaped(const char *name)
{
    struct pfi_cli_written written;
    FILE *const out = pfi_cli_written_open(&written);
    char *shown = NULL;
    int width;

    if (out) {
        pfi_cli_print_name(out, name);
        shown = pfi_cli_written_close(&written, out);
    }
    if (shown)
        (void)fputs(shown, stdout);
    else
        pfi_cli_print_name(stdout, name);
    width = width_of(shown ? shown : name);
    free(shown);
    return width;
}

static void print_same(const struct pfi_cli_scan *s,
                       const struct pfi_cli_finding *f)
{
    const bool second = f->kind == PFI_CLI_OVERLAP;
    const pinfold_dataset *const d = second ? s->second : s->dataset;

    (void)fputs("same bytes as ", stdout);
    if (second) {
        (void)print_escaped(pinfold_dataset_root(d));
        (void)fputc('/', stdout);
    }
    (void)print_escaped(pinfold_dataset_path(d, f->other));
    if (!second && pinfold_dataset_label(d, f->other) != f->label)
        (void)fputs(", which is of another class", stdout);
}

static void print_reason(const struct pfi_cli_scan *s,
                         const struct pfi_cli_finding *f)
{
    const struct pfi_cli_scanned *const file = &s->files[f->sample];

    switch (f->kind) {
    case PFI_CLI_EXTENSION: (void)printf("the file is %s", file->format); break;
    case PFI_CLI_OPEN_END: (void)fputs("ends before its IEND", stdout); break;
    case PFI_CLI_CMYK:
        (void)fputs("CMYK, taken without a colour profile", stdout);
        break;
    case PFI_CLI_CLIPPED:
        (void)printf("mode %s: above 255 all is white", file->mode);
        break;
    case PFI_CLI_TURNED:
        (void)printf("EXIF orientation %d is not applied", file->orientation);
        break;
    case PFI_CLI_DUPLICATE:
    case PFI_CLI_OVERLAP: print_same(s, f); break;
    default: (void)print_escaped(pfi_cli_scan_reason(file));
    }
}

static void print_class_reason(const struct pfi_cli_scan *s,
                               const struct pfi_cli_finding *f)
{
    if (f->kind == PFI_CLI_CLASS_EMPTY)
        (void)fputs("no sample", stdout);
    else
        (void)printf("%lld sample%s: %s the median class's %lld or %s",
                     (long long)f->other, f->other == 1 ? "" : "s",
                     f->kind == PFI_CLI_CLASS_SMALL ? "a tenth of"
                                                    : "ten times",
                     (long long)s->median,
                     f->kind == PFI_CLI_CLASS_SMALL ? "less" : "more");
}

static void print_finding(const struct pfi_cli_scan *s,
                          const struct pfi_cli_finding *f, int column)
{
    int width;

    (void)printf("%-12s ", pfi_cli_kind_name(f->kind));
    width = print_escaped(name_of(s, f));
    (void)printf("%*s  ", width < column ? column - width : 0, "");
    (f->sample < 0 ? print_class_reason : print_reason)(s, f);
    (void)fputc('\n', stdout);
}

static int path_column(const struct pfi_cli_scan *s)
{
    int most = 0;

    for (int64_t i = 0; i < s->n_findings; i++) {
        const int width = width_of(name_of(s, &s->findings[i]));

        most = width > most && width <= PATH_COLUMN ? width : most;
    }
    return most;
}

void pfi_cli_scan_print(const struct pfi_cli_scan *s)
{
    const int column = path_column(s);

    for (int bad = 1; bad >= 0; bad--)
        for (int64_t i = 0; i < s->n_findings; i++)
            if (pfi_cli_kind_is_bad(s->findings[i].kind) == bad)
                print_finding(s, &s->findings[i], column);
    const long long samples = pinfold_dataset_size(s->dataset);
    const long long classes = pinfold_dataset_class_count(s->dataset);

    (void)printf("%s%lld sample%s in %lld class%s: %lld bad, %lld suspicious\n",
                 s->n_findings ? "\n" : "", samples,
                 pfi_cli_plural(samples, "s"), classes,
                 pfi_cli_plural(classes, "es"), (long long)s->bad,
                 (long long)s->suspicious);
}

/* -------------------------------------------------------------------- JSON ---
 */

static void print_member(const char *name, const char *text)
{
    (void)printf(",\"%s\":", name);
    pfi_cli_print_json(stdout, text);
}

static void print_sample(const struct pfi_cli_scan *s,
                         const struct pfi_cli_finding *f)
{
    const struct pfi_cli_scanned *const file = &s->files[f->sample];

    (void)printf(",\"index\":%lld,\"label\":%lld", (long long)f->sample,
                 (long long)f->label);
    print_member("path", name_of(s, f));
    (void)printf(",\"status\":\"%s\"", pinfold_status_name(file->status));
    if (file->status)
        print_member("message", pfi_cli_scan_reason(file));
    if (file->format)
        (void)printf(",\"format\":\"%s\",\"mode\":\"%s\",\"orientation\":%d",
                     file->format, file->mode, file->orientation);
    if (file->hash[0])
        print_member("sha256", file->hash);
    if (f->kind == PFI_CLI_DUPLICATE)
        print_member("same_as", pinfold_dataset_path(s->dataset, f->other));
    if (f->kind == PFI_CLI_OVERLAP)
        print_member("same_as", pinfold_dataset_path(s->second, f->other));
}

static void print_class(const struct pfi_cli_scan *s,
                        const struct pfi_cli_finding *f)
{
    (void)printf(",\"label\":%lld", (long long)f->label);
    print_member("class", name_of(s, f));
    (void)printf(",\"samples\":%lld", (long long)f->other);
}

void pfi_cli_scan_print_json(const struct pfi_cli_scan *s)
{
    (void)fputs("{\"schema\":1", stdout);
    print_member("root", pinfold_dataset_root(s->dataset));
    if (s->second)
        print_member("second", pinfold_dataset_root(s->second));
    (void)printf(",\"samples\":%lld,\"classes\":%lld,\"bad\":%lld,"
                 "\"suspicious\":%lld,\"median_class\":%lld,\"findings\":[",
                 (long long)pinfold_dataset_size(s->dataset),
                 (long long)pinfold_dataset_class_count(s->dataset),
                 (long long)s->bad, (long long)s->suspicious,
                 (long long)s->median);
    for (int64_t i = 0; i < s->n_findings; i++) {
        const struct pfi_cli_finding *const f = &s->findings[i];

        (void)printf("%s\n{\"kind\":\"%s\",\"bad\":%s", i ? "," : "",
                     pfi_cli_kind_name(f->kind),
                     pfi_cli_kind_is_bad(f->kind) ? "true" : "false");
        f->sample < 0 ? print_class(s, f) : print_sample(s, f);
        (void)fputc('}', stdout);
    }
    (void)puts("]}");
}

/* -------------------------------------------------------------------- list ---
 */

/* Where memory was short, nothing is known of the file. */

void pfi_cli_scan_print_bad(const struct pfi_cli_scan *s, FILE *out)
{
    for (int64_t i = 0; i < s->n_findings; i++) {
        const struct pfi_cli_finding *const f = &s->findings[i];

        if (!pfi_cli_kind_is_bad(f->kind) ||
            s->files[f->sample].status == PINFOLD_E_MEMORY)
            continue;
        if (s->o->null)
            (void)fputs(name_of(s, f), out);
        else
            pfi_cli_print_name(out, name_of(s, f));
        (void)fputc(s->o->null ? '\0' : '\n', out);
    }
}
