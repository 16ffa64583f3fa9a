/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/open/http_request.h"

#include <string.h>
#include <strings.h>

/* Of an HTTP/1 head: a text that ends before `end`. */
struct http_text {
	const char *at, *end;
};

static size_t length(struct http_text p)
{
	return (size_t)(p.end - p.at);
}

size_t ct_http_head_length(const char *bytes, size_t len)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4);

	return end ? (size_t)(end - bytes) + 4 : 0;
}

/* Up to the next `until`, after which *from continues; -1: none. */
static int cut(struct http_text *from, char until, struct http_text *piece)
{
	const char *found = memchr(from->at, until, length(*from));

	if (!found)
		return -1;
	*piece = (struct http_text){ from->at, found };
	from->at = found + 1;
	return 0;
}

static int is(struct http_text p, const char *word)
{
	return length(p) == strlen(word) && memcmp(p.at, word, length(p)) == 0;
}

static int is_name(struct http_text p, const char *name)
{
	return length(p) == strlen(name) && strncasecmp(p.at, name, length(p)) == 0;
}

static int is_printable(struct http_text p)
{
	for (const char *c = p.at; c < p.end; c++) {
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return 0;
	}
	return 1;
}

/* Characters of a name or a method (RFC 9110, token). */
static int is_token(struct http_text p)
{
	static const char more[] = "!#$%&'*+-.^_`|~";

	for (const char *c = p.at; c < p.end; c++) {
		int letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');

		if (!letter && !(*c >= '0' && *c <= '9') && (!*c || !strchr(more, *c)))
			return 0;
	}
	return p.at < p.end;
}

static int take_start(struct http_text line, struct ct_http_request *request)
{
	static const char *const methods[] = { "GET", "HEAD", "OPTIONS" };
	struct http_text method, target;
	const char *query;

	if (cut(&line, ' ', &method) || cut(&line, ' ', &target) || !is_token(method) ||
	    (!is(line, "HTTP/1.1") && !is(line, "HTTP/1.0")))
		return -1;
	request->method = CT_HTTP_OTHER;
	for (int m = 0; m < 3; m++) {
		if (is(method, methods[m]))
			request->method = (enum ct_http_method)m;
	}
	query = memchr(target.at, '?', length(target));
	target.end = query ? query : target.end;
	if (length(target) < sizeof(request->target))
		memcpy(request->target, target.at, length(target));
	return 0;
}

/* Each of ours may be there once; what has no space is as good as malformed. */
static int put(char *to, size_t size, struct http_text value)
{
	if (to[0] || value.at == value.end || length(value) >= size)
		return -1;
	memcpy(to, value.at, length(value));
	return 0;
}

static int take_line(struct http_text line, struct ct_http_request *request)
{
	struct http_text name;

	if (cut(&line, ':', &name) || !is_token(name))
		return -1;
	while (line.at < line.end && (*line.at == ' ' || *line.at == '\t'))
		line.at++;
	while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t'))
		line.end--;
	if (is_name(name, "Host"))
		return put(request->host, sizeof(request->host), line);
	if (is_name(name, "Origin"))
		return put(request->origin, sizeof(request->origin), line);
	if (is_name(name, "Range"))
		return put(request->range, sizeof(request->range), line);
	if (is_name(name, "Sec-Fetch-Site"))
		return put(request->site, sizeof(request->site), line);
	if (is_name(name, "Access-Control-Request-Private-Network"))
		request->wants_private_network = is(line, "true");
	return 0;
}

int ct_http_parse(const char *head, size_t len, struct ct_http_request *request)
{
	struct http_text rest = { head, head + len }, line;

	memset(request, 0, sizeof(*request));
	for (int first = 1; cut(&rest, '\n', &line) == 0; first = 0) {
		if (line.at == line.end || line.end[-1] != '\r')
			return -1;
		line.end--;
		if (line.at == line.end)
			return first ? -1 : 0;
		if (!is_printable(line) ||
		    (first ? take_start(line, request) : take_line(line, request)) != 0)
			return -1;
	}
	return -1;
}

/* Digits at *at, which moves after them. -1: none, or too many. */
static int take_number(const char **at, uint64_t *number)
{
	const char *from = *at;

	*number = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (__builtin_mul_overflow(*number, 10u, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(**at - '0'), number))
			return -1;
	}
	return *at > from ? 0 : -1;
}

enum ct_http_part ct_http_range(const char *range, uint64_t size, uint64_t *from, uint64_t *to)
{
	const char *at;
	uint64_t last;

	*from = 0;
	*to = size ? size - 1 : 0;
	if (strncasecmp(range, "bytes=", 6) != 0)
		return CT_HTTP_WHOLE;
	at = range + 6;
	if (*at == '-') { /* the last so many */
		at++;
		if (take_number(&at, &last) || *at)
			return CT_HTTP_WHOLE;
		if (!last || !size)
			return CT_HTTP_NO_PART;
		*from = last < size ? size - last : 0;
		return CT_HTTP_PART;
	}
	if (take_number(&at, from) || *at++ != '-')
		goto none;
	if (*at) {
		if (take_number(&at, &last) || *at || last < *from)
			goto none;
		*to = last < *to ? last : *to;
	}
	return *from < size ? CT_HTTP_PART : CT_HTTP_NO_PART;
none:
	*from = 0;
	return CT_HTTP_WHOLE;
}
