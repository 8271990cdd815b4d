/* SPDX-License-Identifier: Apache-2.0
 * A client that does to examples/server whatever a client can, and checks each
 * answer.  The server must run with --no-model and the limits below.
 * usage: hostile PORT REQUESTS AT-ONCE PICTURE... */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <pinfold/pinfold.h>

#define LIMIT 65536
#define PIXELS 1000000
#define THREADS 8
#define ANSWER 4096

struct picture {
    unsigned char *bytes;
    size_t size;
};

struct client {
    pthread_t thread;
    unsigned seed;
    int number;
    int requests;
};

static struct sockaddr_in address;
static struct picture pictures[256];
static int n_pictures;
static char long_line[100000];

/* Guarded by the lock: answers by their status, 0 = closed without one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int statuses[600], failures;

static void count(int status)
{
    (void)pthread_mutex_lock(&lock);
    statuses[status]++;
    (void)pthread_mutex_unlock(&lock);
}

static void fail(const char *what, int status, const char *answer)
{
    (void)pthread_mutex_lock(&lock);
    if (failures++ < 10)
        (void)printf("FAILED: %s: %d %s\n", what, status, answer);
    (void)pthread_mutex_unlock(&lock);
}

/* ----------------------------------------------------------- connections ---
 */

static int open_connection(void)
{
    const struct timeval patience = {.tv_sec = 60};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
        connect(fd, (struct sockaddr *)&address, sizeof(address))) {
        perror("hostile: connect");
        exit(1);
    }
    return fd;
}

/* Returns whether the server took it all. */
static bool put(int fd, const void *bytes, size_t size)
{
    const char *p = bytes;

    while (size) {
        const ssize_t n = send(fd, p, size, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        p += n;
        size -= (size_t)n;
    }
    return true;
}

static bool put_text(int fd, const char *text)
{
    return put(fd, text, strlen(text));
}

static bool put_head(int fd, const char *length)
{
    char head[256];

    (void)snprintf(head, sizeof(head),
                   "POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
                   "Content-Length: %s\r\n\r\n",
                   length);
    return put_text(fd, head);
}

static bool put_picture_head(int fd, size_t size)
{
    char length[32];

    (void)snprintf(length, sizeof(length), "%zu", size);
    return put_head(fd, length);
}

/* Reads until the server closes, and closes; returns the status, 0 without one
 * and 1 where it is not HTTP or silent; moves the body to the start. */
static int get(int fd, char answer[ANSWER])
{
    size_t size = 0;
    ssize_t n = 0;
    char *body;
    bool silent;
    int status = 0;

    while (size < ANSWER - 1 &&
           (n = recv(fd, answer + size, ANSWER - 1 - size, 0)) > 0)
        size += (size_t)n;
    silent = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    (void)close(fd);
    answer[size] = '\0';
    if (sscanf(answer, "HTTP/1.%*d %d", &status) != 1 || status < 100 ||
        status > 599)
        status = size || silent ? 1 : 0;
    if ((body = strstr(answer, "\r\n\r\n")))
        memmove(answer, body + 4, strlen(body + 4) + 1);
    count(status);
    return status;
}

/* ---------------------------------------------------------------- requests */

/* What the server must say to a picture. */
static int expected(const void *bytes, size_t size, char answer[64])
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_error err;
    uint64_t hash = 0xcbf29ce484222325;
    unsigned char *tensor;
    size_t room;
    int status = 200;

    if (size > LIMIT)
        return 413;
    recipe.max_pixels = PIXELS;
    recipe.max_scratch = (uint64_t)PIXELS * 16;
    if (pinfold_recipe_preset(&recipe, "tf_efficientnet_lite0", &err) ||
        pinfold_recipe_size(&recipe, 1, &room, NULL, &err) ||
        !(tensor = malloc(room))) {
        (void)fprintf(stderr, "hostile: %s\n", err.message);
        exit(1);
    }
    switch (pinfold_preprocess(&recipe, bytes, size, tensor, room, &err)) {
    case PINFOLD_OK: break;
    case PINFOLD_E_LIMIT: status = 413; break;
    case PINFOLD_E_FORMAT: status = 415; break;
    default: status = 400;
    }
    for (size_t i = 0; i < room; i++)
        hash = (hash ^ tensor[i]) * 0x100000001b3;
    free(tensor);
    if (status == 200)
        (void)snprintf(answer, 64, "%016" PRIx64 "\n", hash);
    else
        (void)snprintf(answer, 64, "%.40s", err.message);
    return status;
}

static void check_picture(const char *what, const void *bytes, size_t size)
{
    const int fd = open_connection();
    char wanted[64] = "", answer[ANSWER];
    const int status = expected(bytes, size, wanted);
    int got;

    (void)(put_picture_head(fd, size) && put(fd, bytes, size));
    got = get(fd, answer);
    if (got != 503 &&
        (got != status || strncmp(answer, wanted, strlen(wanted)) != 0))
        fail(what, got, answer);
}

static const struct picture *any_picture(struct client *c)
{
    return &pictures[rand_r(&c->seed) % n_pictures];
}

static void whole_picture(struct client *c)
{
    const struct picture *const p = any_picture(c);

    check_picture("a picture", p->bytes, p->size);
}

static void damaged_picture(struct client *c)
{
    const struct picture *const p = any_picture(c);
    unsigned char *const bytes = malloc(p->size);
    size_t size = p->size;

    if (!bytes) {
        fail("no memory", 0, "");
        return;
    }
    memcpy(bytes, p->bytes, size);
    if (rand_r(&c->seed) % 2)
        size = 1 + (size_t)rand_r(&c->seed) % size;
    for (int i = rand_r(&c->seed) % 8; i > 0; i--)
        bytes[(size_t)rand_r(&c->seed) % size] =
            (unsigned char)rand_r(&c->seed);
    check_picture("a damaged picture", bytes, size);
    free(bytes);
}

static void no_picture(struct client *c)
{
    unsigned char bytes[2000];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)rand_r(&c->seed);
    check_picture("random bytes", bytes, sizeof(bytes));
}

static void many_pixels(struct client *c)
{
    static const char text[] = "P5 60000 60000 255\n and no pixels";

    (void)c;
    check_picture("too many pixels", text, sizeof(text) - 1);
}

static void announced_too_much(struct client *c)
{
    static const char *const lengths[] = {"65537", "4294967296",
                                          "9223372036854775807"};
    const int fd = open_connection();
    char answer[ANSWER];
    int status;

    (void)put_head(fd, lengths[rand_r(&c->seed) % 3]);
    status = get(fd, answer);
    if (status != 413 || !strstr(answer, "may have 65536 bytes"))
        fail("a length over the limit", status, answer);
}

static void sent_too_much(struct client *c)
{
    static const char zeros[4096];
    const int fd = open_connection();
    /* Of the longest, the server has enough at some time. */
    const int chunks = 17 + rand_r(&c->seed) % 100;
    char answer[ANSWER];
    bool open;
    int status;

    open = put_text(fd, "POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; open && i < chunks; i++)
        open = put_text(fd, "1000\r\n") && put(fd, zeros, sizeof(zeros)) &&
               put_text(fd, "\r\n");
    (void)(open && put_text(fd, "0\r\n\r\n"));
    status = get(fd, answer);
    if (status != 413 && status != 503 && (status || chunks < 60))
        fail("chunks over the limit", status, answer);
}

static void no_http(struct client *c)
{
    char bytes[600];
    const int fd = open_connection();
    char answer[ANSWER];
    int status;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)rand_r(&c->seed);
    memcpy(bytes + sizeof(bytes) - 4, "\r\n\r\n", 4);
    (void)put(fd, bytes, sizeof(bytes));
    (void)shutdown(fd, SHUT_WR);
    status = get(fd, answer);
    if (status / 100 == 2)
        fail("no HTTP", status, answer);
}

static void long_header(struct client *c)
{
    const int fd = open_connection();
    char answer[ANSWER];
    int status;

    (void)c;
    (void)(put_text(fd, "POST / HTTP/1.1\r\nX-Long: ") &&
           put(fd, long_line, sizeof(long_line)));
    status = get(fd, answer);
    if (status / 100 != 4 && status)
        fail("a long header", status, answer);
}

static void bad_length(struct client *c)
{
    static const char *const lengths[] = {"-5", "five", "18446744073709551617",
                                          "0x10", ""};
    const int fd = open_connection();
    char answer[ANSWER];
    int status;

    (void)put_head(fd, lengths[rand_r(&c->seed) % 5]);
    (void)shutdown(fd, SHUT_WR);
    status = get(fd, answer);
    if (status / 100 != 4 && status)
        fail("a bad length", status, answer);
}

static void other_method(struct client *c)
{
    static const char *const heads[] = {
        "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n",
        "BREW /pot HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"};
    const int fd = open_connection();
    char answer[ANSWER];
    int status;

    (void)put_text(fd, heads[rand_r(&c->seed) % 2]);
    status = get(fd, answer);
    if (status != 405)
        fail("another method", status, answer);
}

static void nothing_posted(struct client *c)
{
    const int fd = open_connection();
    char answer[ANSWER];
    int status;

    (void)c;
    (void)put_head(fd, "0");
    status = get(fd, answer);
    if (status != 400 || strcmp(answer, "no picture\n") != 0)
        fail("no body", status, answer);
}

/* In the middle of a request, or before the answer to a whole one. */
static void gone(struct client *c)
{
    const struct linger at_once = {.l_onoff = 1};
    const struct picture *const p = any_picture(c);
    const int fd = open_connection();
    const size_t part = (size_t)rand_r(&c->seed) % (p->size + 1);

    (void)put_picture_head(fd, p->size);
    (void)put(fd, p->bytes, rand_r(&c->seed) % 3 ? part : p->size);
    if (rand_r(&c->seed) % 2)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    (void)close(fd);
}

/* Two on one connection, sent at once, in small pieces. */
static void pipelined(struct client *c)
{
    static const char both[] =
        "POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 4\r\n\r\nnone"
        "POST / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
        "Content-Length: 4\r\n\r\nnone";
    const int fd = open_connection();
    const size_t piece = 1 + (size_t)rand_r(&c->seed) % 20;
    char answer[ANSWER];
    int status;

    for (size_t i = 0; i < sizeof(both) - 1; i += piece)
        (void)put(fd, both + i,
                  i + piece < sizeof(both) - 1 ? piece : sizeof(both) - 1 - i);
    status = get(fd, answer);
    if ((status != 415 && status != 503) || !strstr(answer, "HTTP/1.1 "))
        fail("two requests", status, answer);
}

static void (*const kinds[])(struct client *) = {
    whole_picture, damaged_picture,    no_picture,
    many_pixels,   announced_too_much, sent_too_much,
    no_http,       long_header,        bad_length,
    other_method,  nothing_posted,     gone,
    gone,          pipelined};
#define N_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))

static void *run_client(void *argument)
{
    struct client *const c = argument;

    for (int i = 0; i < c->requests; i++)
        kinds[(c->number + i) % N_KINDS](c);
    return NULL;
}

static void run_clients(int requests)
{
    struct client clients[THREADS] = {0};

    for (int i = 0; i < THREADS; i++) {
        clients[i].seed = (unsigned)i;
        clients[i].number = i;
        clients[i].requests = requests / THREADS + (i < requests % THREADS);
        if (pthread_create(&clients[i].thread, NULL, run_client, &clients[i])) {
            (void)fprintf(stderr, "hostile: no thread\n");
            exit(1);
        }
    }
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(clients[i].thread, NULL);
}

/* All requests wait for their last byte, which is sent to all of them then. */
static void run_at_once(int n)
{
    const struct picture *const p = &pictures[0];
    int *const fds = calloc((size_t)n, sizeof(*fds));
    char wanted[64], answer[ANSWER];
    int good = 0, busy = 0;

    if (!fds || expected(p->bytes, p->size, wanted) != 200) {
        (void)fprintf(stderr, "hostile: the first picture must be sound\n");
        exit(1);
    }
    for (int i = 0; i < n; i++) {
        fds[i] = open_connection();
        (void)(put_picture_head(fds[i], p->size) &&
               put(fds[i], p->bytes, p->size - 1));
    }
    for (int i = 0; i < n; i++)
        (void)put(fds[i], p->bytes + p->size - 1, 1);
    for (int i = 0; i < n; i++) {
        const int status = get(fds[i], answer);

        if (status == 200 && strcmp(answer, wanted) == 0)
            good++;
        else if (status == 503 && strstr(answer, "waiting"))
            busy++;
        else
            fail("one of many", status, answer);
    }
    free(fds);
    (void)printf("%d at once: %d answers, %d times 503\n", n, good, busy);
    if (!good || !busy)
        fail("none got an answer, or none was refused", 0, "");
}

static void load(const char *path)
{
    struct picture *const p = &pictures[n_pictures++];
    FILE *const file = fopen(path, "rb");

    p->bytes = malloc(LIMIT);
    if (!file || !p->bytes ||
        (p->size = fread(p->bytes, 1, LIMIT, file)) == 0 ||
        fgetc(file) != EOF) {
        (void)fprintf(stderr, "hostile: %s is not there, empty or too large\n",
                      path);
        exit(1);
    }
    (void)fclose(file);
}

int main(int argc, char **argv)
{
    struct rlimit files;
    struct client last = {.seed = 1};

    if (argc < 5 || argc - 4 > 256) {
        (void)fprintf(stderr,
                      "usage: hostile PORT REQUESTS AT-ONCE PICTURE...\n");
        return 2;
    }
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)atoi(argv[1]));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memset(long_line, 'x', sizeof(long_line));
    for (int i = 4; i < argc; i++)
        load(argv[i]);
    run_clients(atoi(argv[2]));
    run_at_once(atoi(argv[3]));
    whole_picture(&last);
    for (int i = 0; i < 600; i++)
        if (statuses[i])
            (void)printf("%s %d: %d\n", i ? "status" : "closed, no status", i,
                         statuses[i]);
    for (int i = 0; i < n_pictures; i++)
        free(pictures[i].bytes);
    (void)printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
