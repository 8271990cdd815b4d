/* SPDX-License-Identifier: Apache-2.0
 * JSON that is read piece by piece. */
#include <criterion/criterion.h>
#include <string.h>

#include "src/cli/json.h"

static struct pfi_cli_json json(const char *text)
{
    return (struct pfi_cli_json){text, text + strlen(text)};
}

/* The value of member `name` of `text`, or NULL. */
static const char *member(const char *text, const char *name, char out[64])
{
    struct pfi_cli_json value;

    if (!pfi_cli_json_member(json(text), name, &value))
        return NULL;
    memcpy(out, value.at, (size_t)(value.end - value.at));
    out[value.end - value.at] = '\0';
    return out;
}

Test(json, members)
{
    static const char text[] =
        "{ \"a\" : [1, {\"b\": \"}\"}] , \"b\":\"x\\\"y\","
        "\"c\":-1.5e3,\"d\":null }";
    char out[64];

    cr_assert_str_eq(member(text, "a", out), "[1, {\"b\": \"}\"}]");
    cr_assert_str_eq(member(text, "b", out), "\"x\\\"y\"");
    cr_assert_str_eq(member(text, "c", out), "-1.5e3");
    cr_assert_str_eq(member(text, "d", out), "null");
    cr_assert_null(member(text, "e", out));
    cr_assert_null(member("[1]", "a", out));
}

Test(json, broken_text_has_no_members)
{
    static const char *const texts[] = {
        "",         "{",         "{\"a\"",     "{\"a\":",
        "{\"a\":}", "{\"a\":[1", "{\"a\":\"x", "{\"b\":[[],\"a\":1}",
        "{a:1}",    "{\"b\" 1}", "{,\"a\":1}", "{\"b\":1 \"a\":2}"};
    char out[64];

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        cr_assert_null(member(texts[i], "a", out), "%s", texts[i]);
}

Test(json, strings)
{
    struct pfi_cli_json t = json(" \"a\\n\\u0041\\udce9\\u20ac\xc3\xa9\" x");
    char out[16], cut[3];

    cr_assert(pfi_cli_json_string(&t, out, sizeof(out)));
    cr_assert_str_eq(out, "a\nA\xe9?\xc3\xa9");
    cr_assert(!pfi_cli_json_ends(&t));
    t = json("\"abcdef\"");
    cr_assert(pfi_cli_json_string(&t, cut, sizeof(cut)));
    cr_assert_str_eq(cut, "ab");
    cr_assert(pfi_cli_json_ends(&t));
    t = json("\"\\u12\"");
    cr_assert(!pfi_cli_json_string(&t, out, sizeof(out)));
    t = json("\"a\nb\"");
    cr_assert(!pfi_cli_json_string(&t, out, sizeof(out)));
}

Test(json, numbers)
{
    struct pfi_cli_json t = json(" 18446744073709551600,99999999999999999999");
    uint64_t n;

    cr_assert(pfi_cli_json_number(&t, &n));
    cr_assert_eq(n, 18446744073709551600u);
    cr_assert(pfi_cli_json_take(&t, ','));
    cr_assert(!pfi_cli_json_number(&t, &n));
    t = json("-1");
    cr_assert(!pfi_cli_json_number(&t, &n));
}

Test(json, depth_is_only_counted)
{
    static char deep[2000002];
    struct pfi_cli_json t = {deep, deep + 2000000};

    memset(deep, '[', 1000000);
    memset(deep + 1000000, ']', 1000000);
    cr_assert(pfi_cli_json_skip(&t));
    cr_assert_eq(t.at, t.end);
}
