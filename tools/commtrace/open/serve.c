/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/open/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/open/http_request.h"
#include "trace/clock.h"

#define CLIENTS 16u	 /* size: a browser opens six connections; further ones wait */
#define CHUNK (1u << 20) /* size: of the file at a time: other clients wait for it */
/* size: time for a request; and for an answer, to which a slow line (ssh -L from far away) adds. */
#define REQUEST_NS (10 * CT_SECOND_NS)
#define ANSWER_NS (30 * CT_SECOND_NS)
#define SLOWEST_NS_PER_BYTE 10000u /* 100 kB/s */
/* size: time to take what is left in the line: closing before would lose it. */
#define LEAVE_NS (2 * CT_SECOND_NS)
/* size: for all clients that are still there once it was fetched. */
#define OVER_NS (5 * CT_SECOND_NS)

enum client_state { FREE, READING, ANSWERING, LEAVING };

struct client {
	enum client_state state;
	int fd;
	uint64_t until_ns, moved_ns;
	uint64_t limit_ns;	 /* of LEAVING: no client may take longer */
	char head[CT_HTTP_HEAD]; /* of the request, then of the answer */
	size_t head_len, head_sent;
	uint64_t at, end; /* of the file, what is still to be sent */
	int is_fetch;	  /* the whole file to a permitted client */
};

struct server {
	struct ct_serve *serve;
	struct client clients[CLIENTS];
	uint64_t asked_ns; /* when the last request came */
	uint64_t over_ns;  /* when the last of the clients goes; UINT64_MAX: not done yet */
	int is_done;
};

int ct_serve_open(struct ct_serve *serve)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = htons((uint16_t)serve->port),
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int yes = 1; /* connections of a server before this one may still be closing */
	int error;

	serve->fetched = 0;
	serve->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (serve->listener >= 0 &&
	    setsockopt(serve->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    bind(serve->listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    listen(serve->listener, CLIENTS) == 0)
		return 0;
	error = errno;
	if (serve->listener >= 0)
		close(serve->listener);
	return -error;
}

/* ---- answers ---- */

static void drop(struct client *client)
{
	close(client->fd);
	client->state = FREE;
}

static int is_own_host(const struct ct_serve *serve, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char own[32];

	for (int i = 0; i < 2; i++) {
		snprintf(own, sizeof(own), "%s:%u", names[i], serve->port);
		if (strcasecmp(host, own) == 0)
			return 1;
	}
	return 0;
}

/* Lines for the page that may read; a page of anywhere else gets none of them, so its browser keeps
 * the answer from it. */
static const char *cors(const struct ct_serve *serve, const struct ct_http_request *request,
			char text[512])
{
	int is_asking = request->method == CT_HTTP_OPTIONS;

	text[0] = '\0';
	if (strcmp(request->origin, serve->origin) == 0)
		snprintf(text, 512,
			 "Access-Control-Allow-Origin: %s\r\n"
			 "Access-Control-Expose-Headers: Accept-Ranges, Content-Range\r\n%s%s",
			 serve->origin,
			 is_asking ? "Access-Control-Allow-Methods: GET, HEAD\r\n"
				     "Access-Control-Allow-Headers: Range\r\n"
				   : "",
			 is_asking && request->wants_private_network
				 ? "Access-Control-Allow-Private-Network: true\r\n"
				 : "");
	return text;
}

/* The request is permitted: from the allowed page, or from a program that is not a browser and so
 * has no page. */
static int may_read(const struct ct_serve *serve, const struct ct_http_request *request)
{
	return strcmp(request->origin, serve->origin) == 0 ||
	       (!request->origin[0] && !request->site[0]);
}

/* A part of another page, such as an image. Browsers name no origin with those, so it is seen by
 * the site alone. */
static int is_of_another_page(const struct ct_serve *serve, const struct ct_http_request *request)
{
	return strcmp(request->origin, serve->origin) != 0 &&
	       (strcmp(request->site, "cross-site") == 0 ||
		strcmp(request->site, "same-site") == 0);
}

/* The head of an answer; `more` are lines of its own. */
static void answer(struct client *client, const char *status, const char *more, uint64_t length)
{
	int n = snprintf(client->head, sizeof(client->head),
			 "HTTP/1.1 %s\r\n%sContent-Length: %" PRIu64 "\r\n"
			 "Cache-Control: no-store\r\nVary: Origin\r\n"
			 "X-Content-Type-Options: nosniff\r\n"
			 "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
			 status, more, length);

	client->head_len = (size_t)n;
	client->head_sent = 0;
	client->state = ANSWERING;
	client->until_ns = ct_clock_ns(CLOCK_MONOTONIC) + ANSWER_NS + length * SLOWEST_NS_PER_BYTE;
}

static void answer_file(struct ct_serve *serve, struct client *client,
			const struct ct_http_request *request)
{
	char lines[1024], shared[512], part[96] = "";
	uint64_t from, to, length;
	/* as RFC 9110 has it, only GET has parts */
	enum ct_http_part asked = ct_http_range(
		request->method == CT_HTTP_GET ? request->range : "", serve->size, &from, &to);
	const char *status = asked == CT_HTTP_WHOLE  ? "200 OK"
			     : asked == CT_HTTP_PART ? "206 Partial Content"
						     : "416 Range Not Satisfiable";

	length = asked == CT_HTTP_NO_PART || !serve->size ? 0 : to - from + 1;
	if (asked == CT_HTTP_PART)
		snprintf(part, sizeof(part),
			 "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", from, to,
			 serve->size);
	else if (asked == CT_HTTP_NO_PART)
		snprintf(part, sizeof(part), "Content-Range: bytes */%" PRIu64 "\r\n", serve->size);
	snprintf(lines, sizeof(lines),
		 "%s%sAccept-Ranges: bytes\r\nContent-Type: application/octet-stream\r\n",
		 cors(serve, request, shared), part);
	answer(client, status, lines, length);
	if (request->method != CT_HTTP_GET)
		return;
	client->at = from;
	client->end = from + length;
	client->is_fetch = length == serve->size && may_read(serve, request);
}

static void answer_request(struct ct_serve *serve, struct client *client)
{
	struct ct_http_request request;
	char lines[1024], shared[512];
	size_t len = ct_http_head_length(client->head, client->head_len);

	client->at = client->end = 0;
	if (ct_http_parse(client->head, len, &request) != 0 || !request.host[0])
		return answer(client, "400 Bad Request", "", 0);
	if (!is_own_host(serve, request.host))
		return answer(client, "421 Misdirected Request", "", 0);
	if (is_of_another_page(serve, &request))
		return answer(client, "403 Forbidden", "", 0);
	cors(serve, &request, shared);
	if (request.method == CT_HTTP_OTHER || request.target[0] != '/' ||
	    strcmp(request.target + 1, serve->name) != 0)
		return answer(client, "404 Not Found", shared, 0);
	if (request.method != CT_HTTP_OPTIONS)
		return answer_file(serve, client, &request);
	snprintf(lines, sizeof(lines), "%sAllow: GET, HEAD, OPTIONS\r\n", shared);
	answer(client, "200 OK", lines, 0);
}

/* ---- clients ---- */

/* Everything for one of them has been sent: let it close first. Whether it received it is not known
 * yet: the bytes may still be in this machine. */
static void leave(struct client *client)
{
	client->state = LEAVING;
	client->limit_ns = client->until_ns;
	client->until_ns = ct_clock_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	shutdown(client->fd, SHUT_WR);
}

/* It has taken all that it was given. */
static void took(struct server *server, struct client *client)
{
	if (client->is_fetch) {
		server->serve->fetched++;
		server->is_done = !server->serve->keep;
		server->over_ns = server->is_done ? ct_clock_ns(CLOCK_MONOTONIC) + OVER_NS
						  : UINT64_MAX;
	}
	drop(client);
}

/* The time to close is over. A client that has all and keeps the line has taken it; on a slow line
 * it gets there later. */
static void stay(struct server *server, struct client *client)
{
	uint64_t t = ct_clock_ns(CLOCK_MONOTONIC);
	int left = 0;

	if (ioctl(client->fd, SIOCOUTQ, &left) == 0 && left == 0)
		took(server, client);
	else if (t < client->limit_ns && t < server->over_ns)
		client->until_ns = t + LEAVE_NS;
	else
		drop(client);
}

static void read_request(struct server *server, struct client *client)
{
	ssize_t n = recv(client->fd, client->head + client->head_len,
			 sizeof(client->head) - client->head_len, 0);

	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			drop(client);
		return;
	}
	client->head_len += (size_t)n;
	client->moved_ns = ct_clock_ns(CLOCK_MONOTONIC);
	if (ct_http_head_length(client->head, client->head_len)) {
		server->asked_ns = client->moved_ns;
		answer_request(server->serve, client);
	} else if (client->head_len == sizeof(client->head)) {
		client->at = client->end = 0;
		answer(client, "431 Request Header Fields Too Large", "", 0);
	}
}

/* The head of the answer, then the file. Fewer bytes than requested may be sent; -1: none can be. */
static ssize_t send_some(const struct server *server, struct client *client)
{
	size_t of_head = client->head_len - client->head_sent;
	uint64_t left = client->end - client->at;
	off_t at = (off_t)client->at;
	ssize_t n;

	if (of_head) {
		n = send(client->fd, client->head + client->head_sent, of_head, MSG_NOSIGNAL);
		client->head_sent += n > 0 ? (size_t)n : 0;
		return n;
	}
	n = sendfile(client->fd, server->serve->fd, &at, left < CHUNK ? (size_t)left : CHUNK);
	client->at += n > 0 ? (uint64_t)n : 0;
	return n;
}

static void write_answer(struct server *server, struct client *client)
{
	ssize_t n = send_some(server, client);

	/* 0: the file became shorter; the client sees that bytes are missing */
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		drop(client);
		return;
	}
	if (n < 0)
		return;
	client->moved_ns = server->asked_ns = ct_clock_ns(CLOCK_MONOTONIC);
	if (client->head_sent == client->head_len && client->at == client->end)
		leave(client);
}

/* Closed in order: it has taken all. Torn off (ECONNRESET): it went away from what it was sent. */
static void read_rest(struct server *server, struct client *client)
{
	char rest[4096];
	ssize_t n = recv(client->fd, rest, sizeof(rest), 0);

	if (n == 0)
		took(server, client);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		drop(client);
}

/* A slot for a new client: a free one, else that of the client that has been idle longest. */
static struct client *client_slot(struct server *server)
{
	struct client *stalest = &server->clients[0];

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &server->clients[i];

		if (client->state == FREE)
			return client;
		if (client->moved_ns < stalest->moved_ns)
			stalest = client;
	}
	drop(stalest);
	return stalest;
}

/* 0, or a negative errno: no more can come. */
static int let_in(struct server *server)
{
	int fd = accept4(server->serve->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
	client = client_slot(server);
	client->state = READING;
	client->fd = fd;
	client->moved_ns = ct_clock_ns(CLOCK_MONOTONIC);
	client->until_ns = client->moved_ns + REQUEST_NS;
	client->head_len = 0;
	client->is_fetch = 0;
	return 0;
}

/* ---- the loop ---- */

static uint64_t end_of(const struct server *server, const struct client *client)
{
	return client->until_ns < server->over_ns ? client->until_ns : server->over_ns;
}

/* Drops clients whose time is up; once done, also those without a request. Returns when the next
 * one's time is up. */
static uint64_t expire(struct server *server)
{
	uint64_t t = ct_clock_ns(CLOCK_MONOTONIC), next = UINT64_MAX;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &server->clients[i];

		if (client->state == FREE)
			continue;
		if (t >= end_of(server, client) && client->state == LEAVING)
			stay(server, client);
		else if (t >= end_of(server, client) ||
			 (server->is_done && client->state == READING))
			drop(client);
		if (client->state != FREE && end_of(server, client) < next)
			next = end_of(server, client);
	}
	return next;
}

static int wait_ms(uint64_t until_ns)
{
	uint64_t t = ct_clock_ns(CLOCK_MONOTONIC),
		 ms = until_ns > t ? (until_ns - t) / 1000000 + 1 : 0;

	return until_ns == UINT64_MAX ? -1 : ms > 60000 ? 60000 : (int)ms;
}

static void serve_client(struct server *server, struct client *client)
{
	if (client->state == READING)
		read_request(server, client);
	else if (client->state == ANSWERING)
		write_answer(server, client);
	else
		read_rest(server, client);
}

/* Waits for the next client. 0; 1: no client is left; or a negative errno. */
static int turn(struct server *server)
{
	struct pollfd polled[CLIENTS + 1];
	struct client *of[CLIENTS];
	uint64_t until = expire(server), idle = server->serve->idle_ns;
	nfds_t n = 0;

	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &server->clients[i];

		if (client->state == FREE)
			continue;
		of[n] = client;
		polled[n++] = (struct pollfd){ .fd = client->fd,
					       .events = client->state == ANSWERING ? POLLOUT
										    : POLLIN };
	}
	if (server->is_done && !n)
		return 1;
	if (idle != UINT64_MAX && !server->is_done) {
		if (ct_clock_ns(CLOCK_MONOTONIC) - server->asked_ns >= idle)
			return 1;
		until = server->asked_ns + idle < until ? server->asked_ns + idle : until;
	}
	polled[n] = (struct pollfd){ .fd = server->is_done ? -1 : server->serve->listener,
				     .events = POLLIN };
	if (poll(polled, n + 1, wait_ms(until)) < 0)
		return errno == EINTR ? 0 : -errno;
	for (nfds_t i = 0; i < n; i++) {
		if (polled[i].revents)
			serve_client(server, of[i]);
	}
	return polled[n].revents ? let_in(server) : 0;
}

int ct_serve_run(struct ct_serve *serve)
{
	static struct server server; /* too large for a stack */
	int st = 0;

	memset(&server, 0, sizeof(server));
	server.serve = serve;
	server.asked_ns = ct_clock_ns(CLOCK_MONOTONIC);
	server.over_ns = UINT64_MAX;
	while (st == 0)
		st = turn(&server);
	for (size_t i = 0; i < CLIENTS; i++) {
		if (server.clients[i].state != FREE)
			drop(&server.clients[i]);
	}
	close(serve->listener);
	return st > 0 ? 0 : st;
}
