/* SPDX-License-Identifier: Apache-2.0
 * An interpreter of a little PTX. */
#include "tests/support/fakeptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LINES 256
#define MOST_REGISTERS 64
#define MOST_STEPS 100000000L
#define NAME 32

enum op {
    OP_BRA,
    OP_RET,
    OP_PARAM,
    OP_MOVE,
    OP_ADD,
    OP_MUL,
    OP_MAD,
    OP_SHL,
    OP_SELECT,
    OP_AT_LEAST,
    OP_BELOW,
    OP_EQUAL,
    OP_LOAD,
    OP_STORE
};

/* Registers hold their value with zeros above it, which is all that unsigned
 * comparisons, widening and the low halves of products need. */
static const struct {
    const char *name;
    enum op op;
    int bits, operands;
} known[] = {
    {"bra", OP_BRA, 64, 1},
    {"ret", OP_RET, 64, 0},
    {"ld.param.u32", OP_PARAM, 32, 2},
    {"ld.param.u64", OP_PARAM, 64, 2},
    {"cvta.to.global.u64", OP_MOVE, 64, 2},
    {"cvt.u64.u32", OP_MOVE, 64, 2},
    {"cvt.u32.u64", OP_MOVE, 32, 2},
    {"mov.u16", OP_MOVE, 16, 2},
    {"mov.u32", OP_MOVE, 32, 2},
    {"add.s32", OP_ADD, 32, 3},
    {"add.s64", OP_ADD, 64, 3},
    {"mul.lo.s32", OP_MUL, 32, 3},
    {"mul.lo.s64", OP_MUL, 64, 3},
    {"mul.wide.u32", OP_MUL, 64, 3},
    {"mad.lo.s32", OP_MAD, 32, 4},
    {"shl.b64", OP_SHL, 64, 3},
    {"selp.b32", OP_SELECT, 32, 4},
    {"setp.ge.u32", OP_AT_LEAST, 1, 3},
    {"setp.lt.u32", OP_BELOW, 1, 3},
    {"setp.eq.s16", OP_EQUAL, 1, 3},
    {"ld.global.u8", OP_LOAD, 8, 2},
    {"ld.global.u16", OP_LOAD, 16, 2},
    {"ld.global.u32", OP_LOAD, 32, 2},
    {"st.global.u16", OP_STORE, 16, 2},
    {"st.global.u32", OP_STORE, 32, 2},
};

#define N_KNOWN (sizeof(known) / sizeof(known[0]))

/* Registers by their letters; then the thread's place in the grid. */
enum { P, RS, R, RD, SPECIAL, N_FILES };
enum { TID, CTAID_X, CTAID_Y, NTID, NCTAID_X, NCTAID_Y };

static const char *const special_names[] = {
    "%tid.x", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.x", "%nctaid.y"};

enum what { IS_NUMBER, IS_REGISTER, IS_PARAMETER, IS_LABEL };

/* A register in brackets has the number added to it. */
struct operand {
    enum what what;
    int file, index;
    uint64_t number;
};

struct step {
    enum op op;
    int bits;
    int only_if; /* the predicate's index, or -1 */
    struct operand operands[4];
};

struct fake_ptx {
    char name[NAME];
    struct {
        char name[NAME];
        int bytes;
    } parameters[FAKE_PTX_PARAMETERS];
    int n_parameters;
    struct {
        char name[NAME];
        int at;
    } labels[MOST_LINES];
    int n_labels;
    struct step steps[MOST_LINES];
    int n_steps;
};

/* ------------------------------------------------------------- the text --- */

static bool take_register(struct operand *out, const char *word)
{
    static const char *const files[] = {"%p", "%rs", "%r", "%rd"};

    out->what = IS_REGISTER;
    for (int i = 0; i < 6; i++) {
        if (!strcmp(word, special_names[i])) {
            out->file = SPECIAL;
            out->index = i;
            return true;
        }
    }
    for (int i = 0; i < 4; i++) {
        const size_t n = strlen(files[i]);

        if (strncmp(word, files[i], n) || word[n] < '0' || word[n] > '9')
            continue;
        out->file = i;
        out->index = atoi(word + n);
        return out->index < MOST_REGISTERS;
    }
    return false;
}

static bool take_parameter(const struct fake_ptx *ptx, struct operand *out,
                           const char *word)
{
    out->what = IS_PARAMETER;
    for (out->index = 0; out->index < ptx->n_parameters; out->index++)
        if (!strcmp(ptx->parameters[out->index].name, word))
            return true;
    return false;
}

/* The index of a label in the list, where it is put if it is new. */
static int label_of(struct fake_ptx *ptx, const char *name)
{
    int i = 0;

    while (i < ptx->n_labels && strcmp(ptx->labels[i].name, name))
        i++;
    if (i == ptx->n_labels) {
        (void)snprintf(ptx->labels[i].name, NAME, "%s", name);
        ptx->labels[ptx->n_labels++].at = -1;
    }
    return i;
}

static bool take_operand(struct fake_ptx *ptx, struct operand *out, char *word)
{
    char *const end = word + strlen(word) - 1;
    char *plus;

    *out = (struct operand){0};
    if (*word == '[' && *end == ']') {
        *end = '\0';
        plus = strchr(word, '+');
        if (plus) {
            *plus = '\0';
            out->number = strtoull(plus + 1, NULL, 10);
        }
        word++;
        if (*word != '%')
            return take_parameter(ptx, out, word);
    }
    if (*word == '%')
        return take_register(out, word);
    if (*word == '$') {
        out->what = IS_LABEL;
        out->index = label_of(ptx, word);
        return true;
    }
    out->number = strtoull(word, &plus, 10);
    return plus > word && !*plus;
}

static bool take_opcode(struct step *step, const char *word, int *operands)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        if (strcmp(word, known[i].name))
            continue;
        step->op = known[i].op;
        step->bits = known[i].bits;
        *operands = known[i].operands;
        return true;
    }
    return false;
}

/* "@%p1 bra $L__BB0_8;" */
static bool take_step(struct fake_ptx *ptx, char *line)
{
    struct step *const step = &ptx->steps[ptx->n_steps++];
    char *more = NULL, *word = strtok_r(line, " ,;", &more);
    struct operand only_if = {.index = -1};
    int operands = 0;

    if (word && *word == '@') {
        if (!take_register(&only_if, word + 1) || only_if.file != P)
            return false;
        word = strtok_r(NULL, " ,;", &more);
    }
    step->only_if = only_if.index;
    if (!word || !take_opcode(step, word, &operands))
        return false;
    for (int i = 0; i < operands; i++) {
        word = strtok_r(NULL, " ,;", &more);
        if (!word || !take_operand(ptx, &step->operands[i], word))
            return false;
    }
    return !strtok_r(NULL, " ,;", &more);
}

static bool take_line(struct fake_ptx *ptx, char *line)
{
    const size_t n = strlen(line);
    char type[8];

    if (ptx->n_steps == MOST_LINES || ptx->n_labels + 2 > MOST_LINES)
        return false;
    if (sscanf(line, ".visible .entry %31[^(]", ptx->name) == 1)
        return true;
    if (!strncmp(line, ".param ", 7)) {
        const int i = ptx->n_parameters++;

        if (i == FAKE_PTX_PARAMETERS ||
            sscanf(line, ".param .%7s %31[^,]", type,
                   ptx->parameters[i].name) != 2)
            return false;
        ptx->parameters[i].bytes = atoi(type + 1) / 8;
        return true;
    }
    if (*line == '.' || !strcmp(line, "{") || !strcmp(line, "}") ||
        !strcmp(line, ")"))
        return true;
    if (*line == '$' && line[n - 1] == ':') {
        line[n - 1] = '\0';
        ptx->labels[label_of(ptx, line)].at = ptx->n_steps;
        return true;
    }
    return take_step(ptx, line);
}

/* Whether every branch has somewhere to go, and the last step is the end. */
static bool is_whole(const struct fake_ptx *ptx)
{
    for (int i = 0; i < ptx->n_labels; i++)
        if (ptx->labels[i].at < 0 || ptx->labels[i].at >= ptx->n_steps)
            return false;
    return ptx->n_steps > 0 && ptx->steps[ptx->n_steps - 1].op == OP_RET &&
           ptx->steps[ptx->n_steps - 1].only_if < 0;
}

struct fake_ptx *fake_ptx_load(const char *text)
{
    struct fake_ptx *const ptx = calloc(1, sizeof(*ptx));
    char line[128], copy[128];

    while (ptx && *text) {
        const size_t n = strcspn(text, "\n");

        (void)snprintf(line, sizeof(line), "%.*s", (int)n, text);
        strcpy(copy, line);
        if (!take_line(ptx, line)) {
            (void)fprintf(stderr, "PTX that is not known here: %s\n", copy);
            free(ptx);
            return NULL;
        }
        text += n + (text[n] == '\n');
    }
    if (ptx && !is_whole(ptx)) {
        (void)fprintf(stderr, "PTX that ends nowhere\n");
        free(ptx);
        return NULL;
    }
    return ptx;
}

void fake_ptx_free(struct fake_ptx *ptx)
{
    free(ptx);
}

bool fake_ptx_is(const struct fake_ptx *ptx, const char *name)
{
    return !strcmp(ptx->name, name);
}

int fake_ptx_take(const struct fake_ptx *ptx, void **arguments,
                  uint64_t values[FAKE_PTX_PARAMETERS])
{
    for (int i = 0; i < ptx->n_parameters; i++) {
        values[i] = 0;
        /* Little-endian, as every machine that CUDA runs on. */
        memcpy(&values[i], arguments[i], (size_t)ptx->parameters[i].bytes);
    }
    return ptx->n_parameters;
}

/* -------------------------------------------------------------- threads --- */

struct thread {
    const struct fake_ptx *ptx;
    const uint64_t *values;
    fake_ptx_guard *guard;
    void *cookie;
    uint64_t files[N_FILES][MOST_REGISTERS];
    long steps;
    const char *wrong;
};

static uint64_t value_of(const struct thread *t, const struct operand *o)
{
    switch (o->what) {
    case IS_REGISTER: return t->files[o->file][o->index] + o->number;
    case IS_PARAMETER: return t->values[o->index];
    case IS_NUMBER: return o->number;
    case IS_LABEL: break;
    }
    return (uint64_t)t->ptx->labels[o->index].at;
}

static void touch(struct thread *t, const struct step *s, uint64_t *value)
{
    const bool store = s->op == OP_STORE;
    const uintptr_t address = value_of(t, &s->operands[!store]);
    const size_t size = (size_t)s->bits / 8;
    void *const ptr = (void *)address;

    if (address % size)
        t->wrong = "a kernel's access is not aligned";
    else if (!t->guard(t->cookie, address, size, store))
        t->wrong = store ? "a kernel writes outside its memory"
                         : "a kernel reads outside its memory";
    else if (store)
        memcpy(ptr, value, size);
    else
        memcpy(value, ptr, size);
}

/* What the step stores into its first operand. */
static uint64_t result_of(struct thread *t, const struct step *s)
{
    const struct operand *const o = s->operands;
    const uint64_t a = value_of(t, &o[1]), b = value_of(t, &o[2]);
    uint64_t value = 0;

    switch (s->op) {
    case OP_PARAM:
    case OP_MOVE: return a;
    case OP_ADD: return a + b;
    case OP_MUL: return a * b;
    case OP_MAD: return a * b + value_of(t, &o[3]);
    case OP_SHL: return a << (b & 63);
    case OP_SELECT: return value_of(t, &o[3]) ? a : b;
    case OP_AT_LEAST: return a >= b;
    case OP_BELOW: return a < b;
    case OP_EQUAL: return a == b;
    case OP_LOAD: touch(t, s, &value); break;
    case OP_BRA:
    case OP_RET:
    case OP_STORE: break;
    }
    return value;
}

static void run_thread(struct thread *t)
{
    for (int at = 0; !t->wrong;) {
        const struct step *const s = &t->ptx->steps[at++];
        const struct operand *const to = &s->operands[0];
        uint64_t value;

        if (t->steps++ == MOST_STEPS)
            t->wrong = "a kernel does not end";
        if (s->only_if >= 0 && !t->files[P][s->only_if])
            continue;
        if (s->op == OP_RET)
            return;
        if (s->op == OP_BRA) {
            at = (int)value_of(t, to);
        } else if (s->op == OP_STORE) {
            value = value_of(t, &s->operands[1]);
            touch(t, s, &value);
        } else {
            value = result_of(t, s);
            if (s->bits < 64)
                value &= ((uint64_t)1 << s->bits) - 1;
            t->files[to->file][to->index] = value;
        }
    }
}

const char *fake_ptx_run(const struct fake_ptx *ptx,
                         const struct pfi_gpu_grid *grid,
                         const uint64_t values[FAKE_PTX_PARAMETERS],
                         fake_ptx_guard *guard, void *cookie)
{
    struct thread t = {
        .ptx = ptx, .values = values, .guard = guard, .cookie = cookie};
    uint64_t *const place = t.files[SPECIAL];

    place[NTID] = grid->threads;
    place[NCTAID_X] = grid->blocks_x;
    place[NCTAID_Y] = grid->blocks_y;
    for (unsigned y = 0; y < grid->blocks_y; y++)
        for (unsigned x = 0; x < grid->blocks_x; x++)
            for (unsigned i = 0; i < grid->threads && !t.wrong; i++) {
                place[TID] = i;
                place[CTAID_X] = x;
                place[CTAID_Y] = y;
                run_thread(&t);
            }
    return t.wrong;
}
