/* SPDX-License-Identifier: Apache-2.0
 * HTTP/1.1 as far as a scrape needs it: one request a connection, no body.  No
 * call waits but poll(), so that no client holds up another or the end. */
#include "src/cli/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "src/cli/options.h"
#include "src/cli/progress.h"
#include "src/cli/values.h"

/* A client has so many seconds and bytes for its request, and as many seconds
 * to take the answer.  One more client than there are places for takes that of
 * the one that is there for longest. */
enum { CLIENTS = 16, SECONDS = 5, REQUEST = 4096 };

struct client {
    int fd; /* -1 = a free place */
    double since;
    size_t used, size, sent;
    char *answer; /* NULL while the request is being read */
    bool over;    /* answered: what still comes is thrown away */
    char request[REQUEST];
};

struct pfi_cli_server {
    int listener, stop[2]; /* closing stop[1] ends the thread */
    void (*print)(FILE *out, void *cookie);
    void *cookie;
    pthread_t thread;
    bool runs;
    double deaf_until; /* since there was no descriptor for a client */
    struct client clients[CLIENTS];
};

/* ----------------------------------------------------------------- address --- */

bool pfi_cli_address_parse(struct pfi_cli_address *out, const char *text)
{
    const char *const colon = strrchr(text, ':');
    const char *const port = colon ? colon + 1 : text, *host = text;
    size_t size = colon ? (size_t)(colon - text) : 0;
    long long number;

    if (strchr(text, '/') || strspn(port, "0123456789") != strlen(port) ||
        !pfi_cli_to_number(port, 0, 65535, &number))
        return false;
    if (size > 2 && host[0] == '[' && host[size - 1] == ']') {
        host++;
        size -= 2;
    }
    if (!colon) {
        host = "127.0.0.1";
        size = strlen(host);
    }
    if (size == 0 || size >= sizeof(out->host))
        return false;
    memcpy(out->host, host, size);
    out->host[size] = '\0';
    (void)snprintf(out->port, sizeof(out->port), "%lld", number);
    return true;
}

/* ----------------------------------------------------------------- answers --- */

static void set_answer(struct pfi_cli_server *s, struct client *c,
                       const char *status, bool head)
{
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);

    if (out && !strncmp(status, "200", 3))
        s->print(out, s->cookie);
    else if (out)
        (void)fprintf(out, "%s: this is GET /metrics only\n", status);
    if (out)
        (void)fclose(out);
    out = open_memstream(&c->answer, &c->size);
    if (out) {
        (void)fprintf(out,
                      "HTTP/1.1 %s\r\nContent-Type: text/plain; "
                      "version=0.0.4; charset=utf-8\r\nContent-Length: "
                      "%zu\r\n%sConnection: close\r\n\r\n",
                      status, size,
                      strncmp(status, "405", 3) ? "" : "Allow: GET, HEAD\r\n");
        (void)fwrite(page, 1, head ? 0 : size, out);
        (void)fclose(out);
    }
    free(page);
}

/* `line` is the request's first line. */
static const char *status_of(const char *line, bool *head)
{
    char method[16], target[256], rest[16];

    *head = false;
    if (sscanf(line, "%15s %255s HTTP/1.%1[01]%c", method, target, rest,
               rest + 2) != 3)
        return "400 Bad Request";
    *head = !strcmp(method, "HEAD");
    if (!*head && strcmp(method, "GET") != 0)
        return "405 Method Not Allowed";
    target[strcspn(target, "?")] = '\0';
    return strcmp(target, "/metrics") ? "404 Not Found" : "200 OK";
}

/* Answers once the empty line that ends a request is there. */
static void look_at_request(struct pfi_cli_server *s, struct client *c)
{
    const bool full = c->used == REQUEST - 1;
    char *end;
    bool head = false, whole;

    c->request[c->used] = '\0';
    whole = strstr(c->request, "\r\n\r\n") || strstr(c->request, "\n\n");
    if (strlen(c->request) != c->used) {
        set_answer(s, c, "400 Bad Request", false);
    } else if (whole) {
        end = c->request + strcspn(c->request, "\r\n");
        *end = '\0';
        const char *const status = status_of(c->request, &head);

        set_answer(s, c, status, head);
    } else if (full) {
        set_answer(s, c, "431 Request Header Fields Too Large", false);
    }
}

/* ----------------------------------------------------------------- clients --- */

static void drop(struct client *c)
{
    if (c->fd >= 0)
        (void)close(c->fd);
    free(c->answer);
    c->answer = NULL;
    c->fd = -1;
}

/* A stop that is not of this client's making is no reason to drop it. */
static bool later(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static void receive(struct pfi_cli_server *s, struct client *c)
{
    char *const to = c->over ? c->request : c->request + c->used;
    const size_t room = c->over ? REQUEST : REQUEST - 1 - c->used;
    const ssize_t n = recv(c->fd, to, room, 0);

    if (later(n))
        return;
    if (n <= 0) {
        drop(c);
        return;
    }
    if (c->over)
        return;
    c->used += (size_t)n;
    look_at_request(s, c);
}

/* What the client has sent beyond its request is read until it closes: a close
 * before that could take the answer away from it. */
static void give(struct client *c)
{
    const ssize_t n = send(c->fd, c->answer + c->sent, c->size - c->sent,
                           MSG_NOSIGNAL);

    if (later(n))
        return;
    if (n < 0) {
        drop(c);
        return;
    }
    c->sent += (size_t)n;
    if (c->sent < c->size)
        return;
    c->over = true;
    (void)shutdown(c->fd, SHUT_WR);
}

static void take_client(struct pfi_cli_server *s)
{
    const int fd = accept(s->listener, NULL, NULL);
    struct client *place = &s->clients[0];

    if (fd < 0) {
        if (!later(fd))
            s->deaf_until = pfi_cli_seconds() + 1;
        return;
    }
    for (int i = 0; i < CLIENTS && place->fd >= 0; i++)
        if (s->clients[i].fd < 0 || s->clients[i].since < place->since)
            place = &s->clients[i];
    drop(place);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    *place = (struct client){.fd = fd, .since = pfi_cli_seconds()};
}

static bool is_sending(const struct client *c)
{
    return c->answer && !c->over;
}

/* A client's answer may follow at once, without another poll(). */
static void serve_client(struct pfi_cli_server *s, struct client *c)
{
    if (!is_sending(c))
        receive(s, c);
    if (c->fd >= 0 && is_sending(c))
        give(c);
}

static void *run(void *argument)
{
    struct pfi_cli_server *const s = argument;
    struct pollfd fds[2 + CLIENTS] = {{.fd = s->stop[0], .events = POLLIN},
                                      {.fd = s->listener, .events = POLLIN}};

    for (;;) {
        const bool deaf = pfi_cli_seconds() < s->deaf_until;
        bool any = deaf;

        for (int i = 0; i < CLIENTS; i++) {
            struct client *const c = &s->clients[i];

            if (c->fd >= 0 && pfi_cli_seconds() - c->since > SECONDS)
                drop(c);
            any |= c->fd >= 0;
            fds[2 + i] = (struct pollfd){
                .fd = c->fd, .events = is_sending(c) ? POLLOUT : POLLIN};
        }
        fds[1].events = deaf ? 0 : POLLIN;
        if (poll(fds, 2 + CLIENTS, any ? 1000 : -1) < 0 && errno != EINTR)
            return NULL;
        if (fds[0].revents)
            return NULL;
        for (int i = 0; i < CLIENTS; i++)
            if (fds[2 + i].fd >= 0 && fds[2 + i].revents)
                serve_client(s, &s->clients[i]);
        if (fds[1].revents)
            take_client(s);
    }
}

/* ----------------------------------------------------------------- opening --- */

static int listen_at(const struct pfi_cli_address *address, char *why,
                     size_t why_size)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const int yes = 1;
    int fd = -1;
    int code = getaddrinfo(address->host, address->port, &hints, &found);

    /* Where there is no hosts file nothing else may know it (RFC 6761, 6.3). */
    if (code && !strcmp(address->host, "localhost"))
        code = getaddrinfo("127.0.0.1", address->port, &hints, &found);
    (void)snprintf(why, why_size, "%s", code ? gai_strerror(code) : "");
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    a->ai_protocol);
        if (fd >= 0)
            (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        if (fd >= 0 && !bind(fd, a->ai_addr, a->ai_addrlen) && !listen(fd, 64))
            continue;
        (void)snprintf(why, why_size, "%s", strerror(errno));
        if (fd >= 0)
            (void)close(fd);
        fd = -1;
    }
    if (found)
        freeaddrinfo(found);
    return fd;
}

/* The port is not the one that was given where that is 0. */
static void say_where(const struct pfi_cli_server *s,
                      const struct pfi_cli_address *address)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof(name);
    const bool six = strchr(address->host, ':');
    char port[32] = "?";

    if (!getsockname(s->listener, (struct sockaddr *)&name, &size))
        (void)getnameinfo((struct sockaddr *)&name, size, NULL, 0, port,
                          sizeof(port), NI_NUMERICSERV);
    (void)fprintf(stderr, "pinfold: metrics at http://%s%s%s:%s/metrics\n",
                  six ? "[" : "", address->host, six ? "]" : "", port);
}

int pfi_cli_server_open(struct pfi_cli_server **out,
                        const struct pfi_cli_address *address, bool quiet,
                        void (*print)(FILE *out, void *cookie), void *cookie)
{
    struct pfi_cli_server *const s = calloc(1, sizeof(*s));
    char why[128] = "no memory";

    *out = s;
    if (s) {
        for (int i = 0; i < CLIENTS; i++)
            s->clients[i].fd = -1;
        s->print = print;
        s->cookie = cookie;
        s->stop[0] = s->stop[1] = -1;
        s->listener = listen_at(address, why, sizeof(why));
        if (s->listener >= 0) {
            s->runs = !pipe(s->stop) && !pthread_create(&s->thread, NULL, run, s);
            (void)snprintf(why, sizeof(why), "no thread");
        }
    }
    if (!s || !s->runs) {
        (void)fprintf(stderr, "pinfold: --metrics %s:%s: %s\n", address->host,
                      address->port, why);
        return PFI_CLI_FAILED;
    }
    if (!quiet)
        say_where(s, address);
    return PFI_CLI_OK;
}

void pfi_cli_server_close(struct pfi_cli_server *s)
{
    if (!s)
        return;
    if (s->stop[1] >= 0)
        (void)close(s->stop[1]);
    if (s->runs)
        (void)pthread_join(s->thread, NULL);
    for (int i = 0; i < CLIENTS; i++)
        drop(&s->clients[i]);
    if (s->stop[0] >= 0)
        (void)close(s->stop[0]);
    if (s->listener >= 0)
        (void)close(s->listener);
    free(s);
}
