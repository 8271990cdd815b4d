/* SPDX-License-Identifier: Apache-2.0
 * Answers POSTed pictures over HTTP with the five best classes, a line each.
 * Nothing that a client sends ends it, or makes it hold more than it was told
 * to; what is over a limit gets 413 or 503 and the reason.
 * usage: server [OPTION...] MODEL|--no-model (which answers with checksums) */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include "server.h"

struct server {
    long port, any, limit, memory, pixels, connections, seconds;
    long queue, batch, workers, no_model;
    const char *preset, *model;
    size_t held; /* bytes of all pictures; of the daemon's thread alone */
    struct work *work;
    struct MHD_Daemon *daemon;
};

/* -------------------------------------------------------------- requests ---
 */

static enum MHD_Result respond(struct MHD_Connection *connection,
                               struct job *job)
{
    enum MHD_Result result;
    struct MHD_Response *const response = MHD_create_response_from_buffer(
        strlen(job->answer), job->answer, MHD_RESPMEM_MUST_COPY);

    if (!response)
        return MHD_NO; /* which closes the connection */
    (void)MHD_add_response_header(response, "Content-Type", "text/plain");
    if (job->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        (void)MHD_add_response_header(response, "Allow", "POST");
    if (job->status == MHD_HTTP_SERVICE_UNAVAILABLE)
        (void)MHD_add_response_header(response, "Retry-After", "1");
    result = MHD_queue_response(connection, job->status, response);
    MHD_destroy_response(response);
    return result;
}

static void too_large(struct job *job, long limit)
{
    job_answer(job, MHD_HTTP_CONTENT_TOO_LARGE,
               "a picture may have %ld bytes\n", limit);
}

/* The headers are there.  What is refused by them is not read. */
static enum MHD_Result begin(const struct server *s,
                             struct MHD_Connection *connection,
                             const char *method, void **context)
{
    const char *const length = MHD_lookup_connection_value(
        connection, MHD_HEADER_KIND, "Content-Length");
    struct job refused = {.status = 0};
    struct job *job;

    if (strcmp(method, "POST") != 0)
        job_answer(&refused, MHD_HTTP_METHOD_NOT_ALLOWED, "POST a picture\n");
    else if (length &&
             strtoull(length, NULL, 10) > (unsigned long long)s->limit)
        too_large(&refused, s->limit);
    if (refused.status)
        return respond(connection, &refused);
    if (!(job = calloc(1, sizeof(*job))))
        return MHD_NO;
    job->owner = connection;
    *context = job;
    return MHD_YES;
}

/* Memory is held for what has come, not for what was announced. */
static void receive(struct server *s, struct job *job, const char *data,
                    size_t size)
{
    unsigned char *picture;

    if (size > (size_t)s->limit - job->size) {
        too_large(job, s->limit);
        return;
    }
    if (size > job->room - job->size) {
        size_t room = 2 * (job->size + size);

        if (room > (size_t)s->limit)
            room = (size_t)s->limit;
        if (room - job->room > (size_t)s->memory - s->held ||
            !(picture = realloc(job->picture, room))) {
            job_answer(job, MHD_HTTP_SERVICE_UNAVAILABLE,
                       "all memory for pictures is in use\n");
            return;
        }
        s->held += room - job->room;
        job->picture = picture;
        job->room = room;
    }
    memcpy(job->picture + job->size, data, size);
    job->size += size;
}

/* What is refused by its length is read on for a while, since who is sending
 * does not see an answer; then the connection is closed. */
static enum MHD_Result discard(const struct server *s, struct job *job,
                               size_t size)
{
    job->size += size;
    return job->size > 4 * (size_t)s->limit ? MHD_NO : MHD_YES;
}

static enum MHD_Result handle(void *cookie, struct MHD_Connection *connection,
                              const char *url, const char *method,
                              const char *version, const char *data,
                              size_t *size, void **context)
{
    struct server *const s = cookie;
    struct job *const job = *context;
    const size_t received = *size;

    (void)url;
    (void)version;
    if (!job)
        return begin(s, connection, method, context);
    if (received) {
        *size = 0;
        if (job->status)
            return discard(s, job, received);
        receive(s, job, data, received);
        return MHD_YES;
    }
    if (!job->size && !job->status)
        job_answer(job, MHD_HTTP_BAD_REQUEST, "no picture\n");
    if (job->status)
        return respond(connection, job);
    MHD_suspend_connection(connection);
    if (!work_add(s->work, job)) {
        job_answer(job, MHD_HTTP_SERVICE_UNAVAILABLE,
                   "%ld pictures are waiting\n", s->queue);
        MHD_resume_connection(connection);
    }
    return MHD_YES;
}

/* Of a worker: handle() is called once more. */
static void done(struct job *job)
{
    MHD_resume_connection(job->owner);
}

/* The answer was sent, or the client is gone. */
static void completed(void *cookie, struct MHD_Connection *connection,
                      void **context, enum MHD_RequestTerminationCode code)
{
    struct server *const s = cookie;
    struct job *const job = *context;

    (void)connection;
    (void)code;
    if (!job)
        return;
    s->held -= job->room;
    free(job->picture);
    free(job);
    *context = NULL;
}

/* ------------------------------------------------------------- the program */

static const struct option {
    const char *name;
    size_t offset;
    long least, most; /* both 1: takes no value */
    const char *what;
} options[] = {
#define FIELD(field) offsetof(struct server, field)
    {"--port", FIELD(port), 0, 65535, "0 = any that is free; default 8080"},
    {"--any", FIELD(any), 1, 1, "listen on all addresses, not 127.0.0.1 alone"},
    {"--limit", FIELD(limit), 1, 1L << 30, "bytes of a picture; 16777216"},
    {"--memory", FIELD(memory), 1, 1L << 40, "bytes of all; 268435456"},
    {"--pixels", FIELD(pixels), 1, 1L << 30, "of a picture; 50000000"},
    {"--connections", FIELD(connections), 1, 60000, "at once; 2000"},
    {"--seconds", FIELD(seconds), 1, 3600, "a client may be silent; 10"},
    {"--queue", FIELD(queue), 1, 1 << 20, "pictures that may wait; 256"},
    {"--batch", FIELD(batch), 1, 1024, "pictures in a run; 16"},
    {"--workers", FIELD(workers), 1, 256, "threads; 2"},
    {"--no-model", FIELD(no_model), 1, 1, "answer with tensors' checksums"},
    {"--preset", FIELD(preset), 0, 0, "of the model; tf_efficientnet_lite0"},
#undef FIELD
};
#define N_OPTIONS (sizeof(options) / sizeof(options[0]))

static void usage(void)
{
    (void)fprintf(stderr, "usage: server [OPTION...] MODEL|--no-model\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        (void)fprintf(stderr, "  %-14s %s\n", options[i].name, options[i].what);
    exit(2);
}

/* Returns how many arguments it used. */
static int parse_option(struct server *s, char **argv)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *const o = &options[i];
        char *const field = (char *)s + o->offset;
        char *end = NULL;
        long value = 1;

        if (strcmp(argv[0], o->name) != 0)
            continue;
        if (o->most > 1 || !o->most) {
            if (!argv[1])
                usage();
            if (!o->most) {
                memcpy(field, &argv[1], sizeof(argv[1]));
                return 2;
            }
            value = strtol(argv[1], &end, 10);
            if (*end || end == argv[1] || value < o->least || value > o->most) {
                (void)fprintf(stderr, "server: %s is %ld to %ld, not %s\n",
                              o->name, o->least, o->most, argv[1]);
                exit(2);
            }
        }
        memcpy(field, &value, sizeof(value));
        return end ? 2 : 1;
    }
    if (argv[0][0] == '-' || s->model)
        usage();
    s->model = argv[0];
    return 1;
}

static struct server parse(char **argv)
{
    struct server s = {.port = 8080,
                       .limit = 16 << 20,
                       .memory = 256 << 20,
                       .pixels = 50000000,
                       .connections = 2000,
                       .seconds = 10,
                       .queue = 256,
                       .batch = 16,
                       .workers = 2,
                       .preset = "tf_efficientnet_lite0"};

    while (*argv)
        argv += parse_option(&s, argv);
    if (!s.model == !s.no_model)
        usage();
    return s;
}

static struct work *open_work(const struct server *s, struct model **model)
{
    struct work_options o = {.recipe = pinfold_recipe_default(), .done = done};
    struct work *work;
    pinfold_error err;

    if (pinfold_recipe_preset(&o.recipe, s->preset, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    o.recipe.max_pixels = (uint64_t)s->pixels;
    o.recipe.max_scratch = (uint64_t)s->pixels * 16;
    *model = s->no_model ? NULL : model_open(s->model, &o.recipe);
    o.model = *model;
    o.queue = (int32_t)s->queue;
    o.workers = (int32_t)s->workers;
    o.batch = (int32_t)s->batch;
    if (*model && model_batch(*model))
        o.batch = model_batch(*model);
    if (!(work = work_open(&o))) {
        (void)fprintf(stderr, "server: no memory or threads for %ld workers\n",
                      s->workers);
        exit(1);
    }
    return work;
}

static void listen_for(struct server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)s->port)};
    struct rlimit files;

    address.sin_addr.s_addr = htonl(s->any ? INADDR_ANY : INADDR_LOOPBACK);
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
        if (!getrlimit(RLIMIT_NOFILE, &files) &&
            files.rlim_cur < (rlim_t)s->connections + 64) {
            (void)fprintf(stderr,
                          "server: %ld connections need %ld files, of "
                          "which this process may open %lu\n",
                          s->connections, s->connections + 64,
                          (unsigned long)files.rlim_cur);
            exit(1);
        }
    }
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        handle, s, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED,
        completed, s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)s->connections,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)s->seconds, MHD_OPTION_END);
    if (!s->daemon) {
        (void)fprintf(stderr, "server: port %ld: %s\n", s->port,
                      strerror(errno));
        exit(1);
    }
    (void)printf(
        "listening on port %u\n",
        MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    struct server s = parse(argv + (argc > 0));
    struct model *model;
    sigset_t signals;
    int signal;

    /* Before there are threads, so that all of them leave these to main(). */
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    (void)sigdelset(&signals, SIGPIPE);
    s.work = open_work(&s, &model);
    listen_for(&s);
    (void)sigwait(&signals, &signal);
    /* The pictures that wait are answered; the daemon ends with none
     * suspended. */
    work_finish(s.work);
    MHD_stop_daemon(s.daemon);
    work_close(s.work);
    model_close(model);
    return 0;
}
