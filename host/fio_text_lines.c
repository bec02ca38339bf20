/* From bytes to the lines that fio printed. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "host/fio_text_lines.h"

enum {
	LINE_MOST = 8192, /* bytes of a line that are looked at; fio's own are shorter */
	JOINS_MOST = 12,  /* physical lines of one of fio's */
	ETA_MOST = 512,   /* bytes of one progress line */
	FLAT_LEAST = 1000 /* bytes of a line that may be a whole patch without its line ends */
};

struct splitter {
	struct fio_lines *out;
	struct text clean; /* the physical line */
	size_t number;
	bool joinable; /* the last line of out may go on with this one */
	unsigned joins;
	bool quoted_printable;
	size_t decoded; /* bytes of clean that a soft line break left there, decoded */
};

const char *fio_lines_text(const struct fio_lines *l, size_t index)
{
	return l->bytes.data + l->line[index].text;
}

void fio_lines_free(struct fio_lines *l)
{
	text_free(&l->bytes);
	free(l->line);
	memset(l, 0, sizeof(*l));
}

/* ---- joining what was wrapped ---- */

/* How the second half of a wrapped line may begin although the first half looks finished. */
static const char *const halves[] = {
	"io=", "run=", "runt=", "mint=", "maxt=", "minb=", "maxb=", "aggrb=", "samples=", "stdev=", "avg=", "util=",
	">=64=", ">=2000=", "resets", "ioengine=", "iodepth=", "BW=", "bw=", "iops=", "short=", "dropped=",
};

static bool begins_with_half(const char *line)
{
	for (size_t i = 0; i < sizeof(halves) / sizeof(*halves); i++)
		if (!strncmp(line, halves[i], strlen(halves[i])))
			return true;
	return line[0] == '(' && isdigit((unsigned char)line[1]);
}

static bool open_bracket(const char *line)
{
	long round = 0, square = 0;

	for (; *line; line++) {
		round += (*line == '(') - (*line == ')');
		square += (*line == '[') - (*line == ']');
	}
	return round > 0 || square > 0;
}

/* A title whose date lost its end: "…: pid=1: Sun May 4" and then "08:22:12", "2025". */
static bool date_goes_on(const char *title, const char *next)
{
	const char *pid = strstr(title, ": pid="), *word = strrchr(title, ' ');

	if (!pid || !strchr(pid + 2, ':') || !word || !isdigit((unsigned char)next[0]))
		return false;
	return strspn(word + 1, "0123456789") != 4;
}

static bool goes_on(enum fio_kind kind, const char *line, const char *next)
{
	size_t n = strlen(line);
	char last = n ? line[n - 1] : '\0';

	switch (kind) {
	case FIO_PROSE: case FIO_VERSION: case FIO_STARTING: case FIO_LAYOUT: case FIO_DISKS: case FIO_PERCENTILES:
		return false;
	case FIO_COMMAND:
		return last == '\\' || (n > 2 && !strcmp(line + n - 3, " --")) || next[0] == '-';
	case FIO_TITLE:
		if (date_goes_on(line, next))
			return true;
		break;
	default:
		break;
	}
	if (last == ')' && n > 2 && line[n - 3] == '(' && strchr("RWT", line[n - 2]))
		return true; /* "bs=(R) …, (W) …, (T)" */
	return strchr(",-=[(", last) || open_bracket(line) || begins_with_half(next);
}

static void store(struct splitter *s, const char *line, enum fio_kind kind, int direction)
{
	struct fio_lines *l = s->out;

	if (l->count == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 256;
		struct fio_line *more = realloc(l->line, capacity * sizeof(*more));

		if (!more) {
			l->bytes.failed = true;
			return;
		}
		l->line = more;
		l->capacity = capacity;
	}
	l->line[l->count++] =
		(struct fio_line){.text = l->bytes.length, .number = s->number, .kind = kind, .direction = direction};
	text_add_bytes(&l->bytes, line, strlen(line) + 1);
	s->joins = 0;
}

/* Put line behind the last one of out, which is the tail of its bytes. */
static void join(struct splitter *s, const char *line)
{
	struct fio_lines *l = s->out;
	struct fio_line *last = &l->line[l->count - 1];

	l->bytes.length--;
	text_add_bytes(&l->bytes, " ", 1);
	text_add_bytes(&l->bytes, line, strlen(line) + 1);
	if (l->bytes.failed)
		return;
	fio_line_squeeze(l->bytes.data + last->text);
	l->bytes.length = last->text + strlen(l->bytes.data + last->text) + 1;
	s->joins++;
}

/* ---- what stands around fio's line ---- */

/* Past quoting, the signs of a patch or of a shell that echoes, an echoed ^C. */
static const char *past_marks(const struct fio_lines *l, const char *p)
{
	for (;; p++) {
		p += strspn(p, " ");
		if (*p == '>' && p[1] != '=' && !l->diff)
			continue;
		if (*p == '+')
			continue;
		if (p[0] != '^' || p[1] != 'C')
			return p;
		p++;
	}
}

static void add_piece(struct splitter *s, char *piece)
{
	struct fio_lines *l = s->out;
	const char *line, *behind;
	enum fio_kind kind, other;
	int direction = -1, unused;

	line = past_marks(l, piece);
	if (strlen(line) > LINE_MOST)
		piece[line - piece + LINE_MOST] = '\0';
	fio_line_squeeze(piece + (line - piece));
	if (!*line) {
		s->joinable = false;
		return;
	}
	if (l->diff && (*line == '<' || *line == '>'))
		kind = FIO_PROSE;
	else
		kind = fio_line_kind(line, &direction);
	if (kind == FIO_COMMAND && strstr(line, "# ") && strstr(line, "# ") < strstr(line, "fio"))
		l->prompts = true;
	if (line[0] == '#' && (line[1] == ' ' || line[1] == '|')) {
		behind = line + 1 + strspn(line + 1, " ");
		other = fio_line_kind(behind, &unused);
		if (other != FIO_COMMAND && other != FIO_PROSE) {
			kind = other;
			direction = unused;
			line = behind;
		}
	}
	if (kind == FIO_PROSE && s->joinable && s->joins < JOINS_MOST && l->count &&
	    goes_on(l->line[l->count - 1].kind, fio_lines_text(l, l->count - 1), line))
		join(s, line);
	else
		store(s, line, kind, direction);
	s->joinable = true;
}

/* ---- progress lines ---- */

/* Past "00m:17s]", also when the terminal's width cut it. */
static char *past_eta(char *p)
{
	while (isdigit((unsigned char)*p)) {
		p += strspn(p, "0123456789");
		if (*p && strchr("dhms", *p))
			p++;
		if (*p == ':')
			p++;
	}
	p += strspn(p, "-");
	return *p == ']' ? p + 1 : p;
}

/* Past a progress line, or NULL when p does not begin one. */
static char *past_progress(char *p)
{
	size_t n = strspn(p + 6, "0123456789");
	char *end = p + 6 + n, *eta, *next;

	if (!n || strncmp(end, " (f=", 4))
		return NULL;
	eta = memmem(end, strnlen(end, ETA_MOST), "[eta ", 5);
	next = memmem(end, strnlen(end, ETA_MOST), "Jobs: ", 6);
	if (eta && (!next || eta < next))
		return past_eta(eta + 5);
	if (next)
		return next;
	end += strcspn(end, ")");
	while (*end && strchr(")]: ", *end)) {
		end++;
		if (*end == '[')
			end += strcspn(end, "]");
	}
	return end;
}

/* A line may hold dozens of progress lines, before and behind other text. */
static void add_without_progress(struct splitter *s, char *line)
{
	char *from = line, *at, *end;

	for (at = strstr(from, "Jobs: "); at; at = strstr(at, "Jobs: ")) {
		end = past_progress(at);
		if (!end) {
			at += 6;
			continue;
		}
		*at = '\0';
		if (from[strspn(from, " >#")])
			add_piece(s, from);
		from = at = end;
	}
	if (from == line || from[strspn(from, " ")])
		add_piece(s, from);
}

/* ---- bytes ---- */

static int hex(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Quoted-printable, in place. True when the line ends in a soft line break. */
static bool decode(char *line)
{
	char *to = line, *from = line;

	for (; *from; from++) {
		if (*from != '=' || hex(from[1]) < 0 || hex(from[2]) < 0) {
			*to++ = *from;
			continue;
		}
		*to = (char)(hex(from[1]) * 16 + hex(from[2]));
		to += (unsigned char)*to >= ' ';
		from += 2;
	}
	*to = '\0';
	if (to == line || to[-1] != '=')
		return false;
	to[-1] = '\0';
	return true;
}

/* The end of a line: give its pieces on. */
static void end_line(struct splitter *s)
{
	char *line = s->clean.data, *next;

	if (!line) {
		s->joinable = false;
		return;
	}
	if (s->quoted_printable && decode(line + s->decoded)) {
		s->decoded += strlen(line + s->decoded);
		s->clean.length = s->decoded;
		return;
	}
	s->decoded = 0;
	if (strlen(line) < FLAT_LEAST) {
		add_without_progress(s, line);
	} else {
		for (; line; line = next) {
			next = strstr(line, " +");
			if (next) {
				*next = '\0';
				next += 2;
			}
			add_without_progress(s, line);
		}
	}
	text_reset(&s->clean);
}

/* Length of a terminal's control sequence at p ("ESC [ … letter"), 0 when there is none. */
static size_t control_sequence(const char *p, const char *end)
{
	const char *q = p + 2;

	if (end - p < 3 || p[0] != '\033' || p[1] != '[')
		return 0;
	while (q < end && (isdigit((unsigned char)*q) || *q == ';' || *q == '?'))
		q++;
	return q < end ? (size_t)(q - p) + 1 : 0;
}

/* The first line "< name: (groupid=…": one side of a diff, whose other side looks like a quoted mail. 0: none. */
static size_t find_diff(const char *bytes, size_t length)
{
	static const char title[] = "(groupid=";
	const char *end = bytes + length, *line = bytes, *stop;

	for (size_t number = 1; line < end; line = stop + 1, number++) {
		stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			stop = end;
		if (stop - line > 2 && line[0] == '<' && line[1] == ' ' &&
		    memmem(line, (size_t)(stop - line), title, sizeof(title) - 1))
			return number;
	}
	return 0;
}

int fio_lines_split(const char *bytes, size_t length, struct fio_lines *out, struct error *e)
{
	struct splitter s = {.out = out, .number = 1};
	const char *p = bytes, *end = bytes + length;

	memset(out, 0, sizeof(*out));
	s.quoted_printable = memmem(bytes, length, "=3D", 3) != NULL;
	out->diff = find_diff(bytes, length);
	while (p < end) {
		size_t skip = control_sequence(p, end);
		unsigned char c = (unsigned char)*p;

		if (skip) {
			p += skip;
			continue;
		}
		if (c == '\n' || (c == '\r' && (p + 1 == end || p[1] != '\n'))) {
			end_line(&s);
			s.number += c == '\n';
		} else if (c == 0xC2 && p + 1 < end && (unsigned char)p[1] == 0xA0) { /* no-break space */
			text_add_bytes(&s.clean, " ", 1);
			p++;
		} else if (c == '\t') {
			text_add_bytes(&s.clean, " ", 1);
		} else if (c >= ' ' && c != 0x7F) {
			text_add_bytes(&s.clean, p, 1);
		}
		p++;
	}
	end_line(&s);
	if (s.decoded) {
		s.quoted_printable = false;
		end_line(&s);
	}
	if (s.clean.failed)
		out->bytes.failed = true;
	text_free(&s.clean);
	return out->bytes.failed ? error_set(e, STATUS_HOST, "no memory for the lines of fio's output") : 0;
}
