/* Escapes of names: what each form of report would take for its own, controls, and bytes that are no UTF-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <libxml/parser.h>

#include "host/escape.h"

#define BAD "\357\277\275"

static void check(void (*escape)(struct text *, const char *), const char *s, const char *want)
{
	struct text t = { 0 };

	escape(&t, s);
	assert_string_equal(text_get(&t), want);
	text_free(&t);
}

static void what_is_no_utf8(void **state)
{
	(void)state;
	check(escape_utf8, NULL, "");
	check(escape_utf8, "\302\265 \346\274\242 \360\237\230\200\n\001", "\302\265 \346\274\242 \360\237\230\200\n\001");
	check(escape_utf8, "\200a", BAD "a");                  /* continues nothing */
	check(escape_utf8, "\302", BAD);                       /* cut at the end */
	check(escape_utf8, "\346\274", BAD BAD);
	check(escape_utf8, "\346\274x", BAD BAD "x");
	check(escape_utf8, "\300\257", BAD BAD);               /* an overlong / */
	check(escape_utf8, "\340\200\257", BAD BAD BAD);
	check(escape_utf8, "\355\240\200", BAD BAD BAD);       /* half of a surrogate pair */
	check(escape_utf8, "\364\220\200\200", BAD BAD BAD BAD); /* above U+10FFFF */
	check(escape_utf8, "\364\217\277\277", "\364\217\277\277");
	check(escape_utf8, "\377\376", BAD BAD);
}

/* Every pair of bytes gives what jansson takes, which refuses invalid UTF-8. */
static void all_pairs_of_bytes(void **state)
{
	static void (*const escape[])(struct text *, const char *) = { escape_utf8, escape_xml, escape_csv, escape_markdown };

	(void)state;
	for (unsigned a = 1; a < 256; a++)
		for (unsigned b = 0; b < 256; b++)
			for (unsigned i = 0; i < 4; i++) {
				char s[3] = { (char)a, (char)b, 0 };
				struct text t = { 0 };
				json_t *value;

				escape[i](&t, s);
				value = json_string(text_get(&t));
				if (!value || !t.length)
					fail_msg("form %u of %02x %02x", i, a, b);
				json_decref(value);
				text_free(&t);
			}
}

static void xml(void **state)
{
	(void)state;
	check(escape_xml, "<a b=\"c\">'&amp;'</a>", "&lt;a b=&quot;c&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;");
	check(escape_xml, "]]>", "]]&gt;");
	check(escape_xml, "\tx\r\n", "&#9;x&#13;&#10;");
	check(escape_xml, "\001\033\177\302\205", BAD BAD BAD BAD);
	check(escape_xml, "\342\200\256x\342\201\251", BAD "x" BAD); /* what turns the reading direction */
	check(escape_xml, "\357\277\276\357\277\277", BAD BAD); /* U+FFFE, U+FFFF */
}

static void check_terminal(const char *s, size_t length, const char *want)
{
	struct text t = { 0 };

	escape_terminal(&t, s, length);
	assert_string_equal(text_get(&t), want);
	text_free(&t);
}

static void terminal(void **state)
{
	static const char red[] = "a\033[31mb\033]0;title\007", control[] = "\302\2335m \302\205", turned[] = "\342\200\256txt\342\201\246";

	(void)state;
	check_terminal(red, strlen(red), "a?[31mb?]0;title?");
	check_terminal(control, strlen(control), "?5m ?"); /* CSI and NEL as single characters */
	check_terminal(turned, strlen(turned), "?txt?");
	check_terminal("a\tb\nc\r\177\377", 8, "a b?c???");
	check_terminal("\302\265s \346\274\242 and more", 7, "\302\265s \346\274\242");
	check_terminal("", 0, "");
}

/* libxml2 reads back every character that is allowed, from an attribute and from text. */
static void xml_comes_back(void **state)
{
	for (unsigned c = 1; c < 128; c++) {
		char s[] = { 'a', (char)c, 'b', 0 };
		struct text t = { 0 };
		xmlDoc *doc;
		xmlChar *got;

		(void)state;
		text_add(&t, "<x y=\"");
		escape_xml(&t, s);
		text_add(&t, "\">");
		escape_xml(&t, s);
		text_add(&t, "</x>");
		doc = xmlReadMemory(text_get(&t), (int)t.length, NULL, NULL, XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
		assert_non_null(doc);
		got = xmlGetProp(xmlDocGetRootElement(doc), BAD_CAST "y");
		if ((c < 0x20 && !strchr("\t\n\r", (int)c)) || c == 127)
			assert_string_equal((char *)got, "a" BAD "b");
		else
			assert_string_equal((char *)got, s);
		xmlFree(got);
		got = xmlNodeGetContent(xmlDocGetRootElement(doc));
		if (c >= 0x20 && c < 127)
			assert_string_equal((char *)got, s);
		xmlFree(got);
		xmlFreeDoc(doc);
		text_free(&t);
	}
	xmlCleanupParser();
}

static void csv(void **state)
{
	(void)state;
	check(escape_csv, "", "");
	check(escape_csv, "plain text", "plain text");
	check(escape_csv, "a,b", "\"a,b\"");
	check(escape_csv, "a\"b", "\"a\"\"b\"");
	check(escape_csv, "a\r\nb", "\"a\r\nb\"");
	check(escape_csv, " a", "\" a\"");
	check(escape_csv, "a ", "\"a \"");
	check(escape_csv, "=1+1", "\"'=1+1\"");
	check(escape_csv, "+1", "\"'+1\"");
	check(escape_csv, "-1", "\"'-1\"");
	check(escape_csv, "@x", "\"'@x\"");
	check(escape_csv, "\t=x", "\"'\t=x\"");
	check(escape_csv, "1-1", "1-1");
	check(escape_csv, "a\001b\377", "a" BAD "b" BAD);
}

static void markdown(void **state)
{
	(void)state;
	check(escape_markdown, "a|b", "a\\|b");
	check(escape_markdown, "a\\|b", "a\\\\\\|b");
	check(escape_markdown, "`x` *y* ~z~", "\\`x\\` \\*y\\* \\~z\\~");
	check(escape_markdown, "<img src=x>&lt;", "&lt;img src=x&gt;&amp;lt;");
	check(escape_markdown, "[a](http://x)", "\\[a\\](http://x)");
	check(escape_markdown, "one\ntwo\r\n\tthree", "one two   three");
	check(escape_markdown, "io_uring _x_ y_", "io_uring \\_x\\_ y\\_");
	check(escape_markdown, "$x$", "\\$x\\$");
	check(escape_markdown, "\033[31m\377", BAD "\\[31m" BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_utf8), cmocka_unit_test(all_pairs_of_bytes), cmocka_unit_test(xml),
		cmocka_unit_test(terminal),
		cmocka_unit_test(xml_comes_back),  cmocka_unit_test(csv),                cmocka_unit_test(markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
