/* gnuplot's SVG made fit for a page: colours that follow the page, labels back in, nothing that a page has once only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/charts_private.h"
#include "host/escape.h"

/* What is written instead. The page's colour is the colour that everything inherits. */
static const struct { const char *from, *to; } changes[] = {
	{ " color=\"black\"", "" },
	{ " stroke='black'", "" },
	{ " stroke=\"black\"", "" },
	{ "fill=\"black\"", "fill=\"currentColor\"" },
	{ "color='white'", "color='var(--page)'" },
	{ " font-family=\"sans-serif\"", "" },
	{ " class=\"gridline\"", "" },
	{ " stroke-linecap=\"butt\" stroke-linejoin=\"miter\"", "" },
	{ "rgb(  0,   0,   0)", "currentColor" },
	{ "rgb(  0,   0,   1)", "var(--v0)" },
	{ "rgb(  0,   0,   2)", "var(--v1)" },
	{ "rgb(  0,   0,   3)", "var(--v2)" },
	{ "rgb(  0,   0,   4)", "var(--v3)" },
	{ "rgb(  0,   0,   5)", "var(--v4)" },
	{ "rgb(  0,   0,   6)", "var(--v5)" },
	{ "rgb(  0,   0,  16)", "var(--grid)" },
	{ "rgb(  0,   0,  17)", "var(--band)" },
};

static size_t starts(const char *s, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - s) >= n && memcmp(s, with, n) == 0 ? n : 0;
}

/* The bytes from s up to and including `last`, 0 when it does not come. */
static size_t until(const char *s, const char *end, const char *last)
{
	const char *found = memmem(s, (size_t)(end - s), last, strlen(last));

	return found ? (size_t)(found - s) + strlen(last) : 0;
}

/* "<g …>" with nothing in it: gnuplot opens one for every change of its pen. */
static size_t empty_group(const char *s, const char *end)
{
	size_t n = starts(s, end, "<g ") ? until(s, end, ">") : 0;

	while (n && s + n < end && strchr(" \t\n", s[n]))
		n++;
	return n && starts(s + n, end, "</g>") ? n + 4 : 0;
}

/* What stands at s and is written in another way: its bytes, 0 when it is copied as it is. */
static size_t change_at(const struct drawing *d, const char *s, const char *end, struct text *out)
{
	size_t n = empty_group(s, end), label;
	char *after;

	if (n)
		return n;
	if (starts(s, end, "<g id=\"")) { /* twice in a page it would be invalid */
		text_add(out, "<g>");
		return until(s, end, ">");
	}
	if (starts(s, end, "<title>"))
		return until(s, end, "</title>");
	if (*s == '~') {
		label = strtoul(s + 1, &after, 10);
		if (*after == '~' && label < d->nlabels) {
			escape_xml(out, text_get(&d->label[label]));
			return (size_t)(after + 1 - s);
		}
	}
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		n = starts(s, end, changes[i].from);
		if (n) {
			text_add(out, "%s", changes[i].to);
			return n;
		}
	}
	return 0;
}

static void copy(const struct drawing *d, const char *s, const char *end, struct text *out)
{
	while (s < end) {
		size_t n = change_at(d, s, end, out);

		if (n) {
			s += n;
		} else if (strchr("\n\t ", *s)) {
			size_t blanks = 0;

			while (s + blanks < end && strchr("\n\t ", s[blanks]))
				blanks++;
			text_add(out, memchr(s, '\n', blanks) ? "\n" : " ");
			s += blanks;
		} else {
			text_add_bytes(out, s++, 1);
		}
	}
}

/* The marks alone: the filters beside them are for boxes behind texts, which no chart has. */
static void copy_marks(const char *s, const char *end, struct text *out)
{
	const char *filter = memmem(s, (size_t)(end - s), "<filter", 7);

	text_add_bytes(out, s, (size_t)((filter ? filter : end) - s));
	if (filter)
		text_add(out, "</defs>");
}

void drawing_finish(struct drawing *d, const char *document, size_t length, bool marks)
{
	const char *end = document + length, *defs = memmem(document, length, "<defs>", 6), *body, *last;
	struct text *out = &d->chart.svg;

	text_add(out, "<svg role=\"img\" viewBox=\"0 0 %d %u\">\n<title>", CHART_WIDTH, d->height);
	escape_xml(out, text_get(&d->title));
	text_add(out, "</title>\n<desc>");
	escape_xml(out, text_get(&d->desc));
	text_add(out, "</desc>\n");
	body = defs ? defs + until(defs, end, "</defs>") : end;
	if (marks && defs)
		copy_marks(defs, body, out);
	for (last = end; last > body && !starts(last, end, "</svg>"); last--)
		;
	/* the group that held the definitions, too, ends behind the body */
	text_add(out, "<g>");
	copy(d, body, last, out);
	text_add(out, "</svg>\n");
	out->failed |= d->title.failed | d->desc.failed;
}
