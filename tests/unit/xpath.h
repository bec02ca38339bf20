/* Questions to XML by XPath. */
#ifndef TEST_XPATH_H
#define TEST_XPATH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <math.h>
#include <stdio.h>

/* Its string value, of a domain's XML. q: QEMU's namespace, kb: ours. Static: overwritten by the next call. */
static inline const char *xpath_string(const char *xml, size_t length, const char *path)
{
	static char value[1024];
	xmlDoc *doc = xmlReadMemory(xml, (int)length, NULL, NULL, XML_PARSE_NONET);
	xmlXPathContext *context = xmlXPathNewContext(doc);
	xmlXPathObject *object;
	xmlChar *s;

	assert_non_null(doc);
	xmlXPathRegisterNs(context, BAD_CAST "q", BAD_CAST "http://libvirt.org/schemas/domain/qemu/1.0");
	xmlXPathRegisterNs(context, BAD_CAST "kb", BAD_CAST "urn:kickbench:domain:1");
	object = xmlXPathEvalExpression(BAD_CAST path, context);
	assert_non_null(object);
	s = xmlXPathCastToString(object);
	snprintf(value, sizeof(value), "%s", (char *)s);
	xmlFree(s);
	xmlXPathFreeObject(object);
	xmlXPathFreeContext(context);
	xmlFreeDoc(doc);
	return value;
}

/* Its number; NAN: it is no expression. */
static inline double xpath_number(xmlDoc *doc, const char *path)
{
	xmlXPathContext *context = xmlXPathNewContext(doc);
	xmlXPathObject *object = xmlXPathEvalExpression(BAD_CAST path, context);
	double value = object ? xmlXPathCastToNumber(object) : NAN;

	xmlXPathFreeObject(object);
	xmlXPathFreeContext(context);
	return value;
}

#endif
