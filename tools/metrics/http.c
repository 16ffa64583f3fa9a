/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/metrics/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* Prometheus keeps a connection or two; more are for people. */
#define CONNECTIONS 32u
#define CONNECTION_BYTES 16384u
#define CONNECTION_SECONDS 10u

/* A text that several answers may still be sending. */
struct page {
	char *text;
	size_t len;
	unsigned users; /* by the lock of the server that published it */
	struct ct_http *http;
};

struct ct_http {
	struct MHD_Daemon *daemon;
	char *token;
	int is_loopback;
	pthread_mutex_t lock;
	struct page *page; /* NULL: none yet */
	char address[128];
};

/* ---- pages ---- */

static void leave(void *arg)
{
	struct page *page = arg;
	struct ct_http *http = page->http;
	unsigned users;

	pthread_mutex_lock(&http->lock);
	users = --page->users;
	pthread_mutex_unlock(&http->lock);
	if (users)
		return;
	free(page->text);
	free(page);
}

static struct page *use(struct ct_http *http)
{
	struct page *page;

	pthread_mutex_lock(&http->lock);
	page = http->page;
	if (page)
		page->users++;
	pthread_mutex_unlock(&http->lock);
	return page;
}

void ct_http_publish(struct ct_http *http, char *text, size_t len)
{
	struct page *page = text ? malloc(sizeof(*page)) : NULL, *before;

	if (!page) {
		free(text);
		return;
	}
	*page = (struct page){ text, len, 1, http };
	pthread_mutex_lock(&http->lock);
	before = http->page;
	http->page = page;
	pthread_mutex_unlock(&http->lock);
	if (before)
		leave(before);
}

/* ---- answers ---- */

static ssize_t read_page(void *arg, uint64_t at, char *to, size_t most)
{
	const struct page *page = arg;

	if (at >= page->len)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (most > page->len - at)
		most = page->len - (size_t)at;
	memcpy(to, page->text + at, most);
	return (ssize_t)most;
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
				     struct MHD_Response *response)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned status,
				   const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);

	if (response && status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	return send_response(connection, status, response);
}

static enum MHD_Result answer_metrics(struct ct_http *http, struct MHD_Connection *connection)
{
	/* size: pieces of the answer */
	const size_t piece = CONNECTION_BYTES / 2;
	struct page *page = use(http);
	struct MHD_Response *response;

	if (!page)
		return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "the run has not been read yet\n");
	response = MHD_create_response_from_callback(page->len, piece, read_page, page, leave);
	if (!response) {
		leave(page);
		return MHD_NO;
	}
	MHD_add_response_header(response, "Content-Type",
				"text/plain; version=0.0.4; charset=utf-8");
	return send_response(connection, MHD_HTTP_OK, response);
}

/* ---- who may ask ---- */

/* Takes the same time for every wrong token of a length. */
static int is_token(const char *token, const char *header)
{
	static const char scheme[] = "Bearer ";
	size_t n = strlen(token);
	unsigned differs = 0;

	if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
		return 0;
	header += sizeof(scheme) - 1;
	if (strlen(header) != n)
		return 0;
	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(token[i] ^ header[i]);
	return !differs;
}

static int is_own_name(const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };

	for (int i = 0; host && i < 3; i++) {
		size_t n = strlen(names[i]);

		if (strncasecmp(host, names[i], n) == 0 && (!host[n] || host[n] == ':'))
			return 1;
	}
	return 0;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_len, void **state)
{
	static int seen;
	struct ct_http *http = arg;

	(void)version, (void)upload;
	/* the first call has the head only */
	if (!*state) {
		*state = &seen;
		return MHD_YES;
	}
	/* a body is read and dropped, a piece at a time */
	if (*upload_len) {
		*upload_len = 0;
		return MHD_YES;
	}
	if (!http->token && http->is_loopback &&
	    !is_own_name(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
		return answer_text(connection, 421, "not the name of this server\n");
	if (http->token &&
	    !is_token(http->token,
		      MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization")))
		return answer_text(connection, MHD_HTTP_UNAUTHORIZED, "a bearer token is needed\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(http, connection);
	if (strcmp(url, "/healthz") == 0)
		return answer_text(connection, MHD_HTTP_OK, "ok\n");
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "metrics are at /metrics\n");
}

/* ---- start and stop ---- */

static int is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >>
			       24 ==
		       127;
	return IN6_IS_ADDR_LOOPBACK(
		&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* getaddrinfo takes none for port 0, and of a larger number its low 16 bits. */
static int is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits && !text[digits] && strtoul(text, NULL, 10) <= UINT16_MAX;
}

static int find_address(const char *listen, struct addrinfo **found, char name[64],
			struct ct_err *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(listen, ':'), *from = listen, *to = colon;

	if (!colon || (size_t)(colon - listen) >= 64 || !is_port(colon + 1))
		return ct_fail(err, CT_FORMAT, "'%s' is not ADDRESS:PORT", listen);
	if (*from == '[' && to > from && to[-1] == ']')
		from++, to--;
	snprintf(name, 64, "%.*s", (int)(to - from), from);
	if (strcmp(name, "localhost") == 0)
		snprintf(name, 64, "127.0.0.1");
	if (getaddrinfo(name[0] ? name : "::", colon + 1, &hints, found) != 0)
		return ct_fail(err, CT_FORMAT, "'%s' is not ADDRESS:PORT", listen);
	return CT_OK;
}

static int listen_on(const struct addrinfo *address, int is_all, struct ct_err *err)
{
	const int yes = 1, no = 0;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    (!is_all || address->ai_family != AF_INET6 ||
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) == 0) &&
	    bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, CONNECTIONS) == 0)
		return fd;
	ct_fail(err, CT_IO, "%s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static void set_address(struct ct_http *http, int fd, const char *name)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = { 0 };
	socklen_t len = sizeof(at);
	const char *host = name[0] ? name : "0.0.0.0";
	unsigned port = 0;

	if (getsockname(fd, &at.any, &len) == 0)
		port = ntohs(at.any.sa_family == AF_INET ? at.v4.sin_port : at.v6.sin6_port);
	snprintf(http->address, sizeof(http->address), strchr(host, ':') ? "[%s]:%u" : "%s:%u",
		 host, port);
}

int ct_http_start(const char *listen, const char *token, struct ct_http **out, struct ct_err *err)
{
	struct ct_http *http = calloc(1, sizeof(*http));
	struct addrinfo *address = NULL;
	char name[64];
	int fd = -1, st;

	*out = NULL;
	/* without memory for its token, the server would accept requests without one */
	if (!http || (token && !(http->token = strdup(token)))) {
		free(http);
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	}
	st = find_address(listen, &address, name, err);
	if (st != CT_OK)
		goto out_free;
	http->is_loopback = is_loopback(address->ai_addr);
	if (!http->is_loopback && !token) {
		st = ct_fail(err, CT_RANGE, "%s is not a loopback address: it needs a token",
			     listen);
		goto out_free;
	}
	fd = listen_on(address, !name[0], err);
	st = fd < 0 ? CT_IO : CT_OK;
	if (st != CT_OK)
		goto out_free;
	pthread_mutex_init(&http->lock, NULL);
	set_address(http, fd, name);
	http->daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_AUTO, 0, NULL,
					NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, fd,
					MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
					MHD_OPTION_CONNECTION_TIMEOUT, CONNECTION_SECONDS,
					MHD_OPTION_CONNECTION_MEMORY_LIMIT,
					(size_t)CONNECTION_BYTES, MHD_OPTION_END);
	if (http->daemon) {
		*out = http;
		freeaddrinfo(address);
		return CT_OK;
	}
	st = ct_fail(err, CT_IO, "the HTTP server does not start");
	pthread_mutex_destroy(&http->lock);
	close(fd);
out_free:
	if (address)
		freeaddrinfo(address);
	free(http->token);
	free(http);
	return st;
}

const char *ct_http_address(const struct ct_http *http)
{
	return http->address;
}

void ct_http_stop(struct ct_http *http)
{
	if (!http)
		return;
	MHD_stop_daemon(http->daemon);
	if (http->page)
		leave(http->page);
	pthread_mutex_destroy(&http->lock);
	free(http->token);
	free(http);
}
