#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/frame.h"

/* The CRC by its definition, a bit at a time. */
static uint32_t crc_by_bits(const char *bytes, size_t length)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < length; i++) {
		crc ^= (unsigned char)bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

static void encode(struct text *out, uint32_t seq, enum frame_type type, const char *payload)
{
	frame_encode(out, seq, type, payload, strlen(payload));
}

static void feed(struct frame_reader *r, const char *s)
{
	frame_reader_feed(r, s, strlen(s));
}

static void expect(struct frame_reader *r, enum frame_event event, uint32_t seq, const char *payload)
{
	struct frame f;

	assert_int_equal(frame_reader_next(r, &f), event);
	assert_int_equal(f.seq, seq);
	assert_int_equal(f.length, strlen(f.payload));
	if (payload)
		assert_string_equal(f.payload, payload);
}

static void expect_none(struct frame_reader *r)
{
	struct frame f;

	assert_int_equal(frame_reader_next(r, &f), FRAME_NONE);
}

static void test_crc(void **state)
{
	char bytes[256];

	(void)state;
	assert_int_equal(frame_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(frame_crc32(frame_crc32(0, "12345", 5), "6789", 4), 0xcbf43926);
	assert_int_equal(frame_crc32(0, "", 0), 0);
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	assert_int_equal(frame_crc32(0, bytes, 256), crc_by_bits(bytes, 256));
}

static void test_encode(void **state)
{
	struct text out = {0};
	char want[64];

	(void)state;
	snprintf(want, sizeof(want), "@kb1 7 bye 2 %08lx {}\n", (unsigned long)crc_by_bits("7 bye 2 {}", 10));
	encode(&out, 7, FRAME_BYE, "{}");
	assert_string_equal(text_get(&out), want);
	text_free(&out);
}

static void test_every_type(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};
	struct frame f;

	(void)state;
	for (int i = 0; i < FRAME_TYPES; i++)
		encode(&out, (uint32_t)i + 1, (enum frame_type)i, "{\"a\":1}");
	feed(&r, text_get(&out));
	for (int i = 0; i < FRAME_TYPES; i++) {
		assert_int_equal(frame_reader_next(&r, &f), FRAME_GOOD);
		assert_int_equal(f.type, i);
		assert_int_equal(f.seq, i + 1);
		assert_string_equal(f.payload, "{\"a\":1}");
	}
	expect_none(&r);
	frame_reader_free(&r);
	text_free(&out);
}

static void test_split_anywhere(void **state)
{
	struct text out = {0};

	(void)state;
	text_add(&out, "booting\n");
	encode(&out, 1, FRAME_HELLO, "{\"os\":\"Linux\"}");
	encode(&out, 4294967295u, FRAME_LOG, "");
	for (size_t cut = 0; cut <= out.length; cut++) {
		struct frame_reader r = {0};
		struct frame f;
		int noise = 0, good = 0;

		for (int half = 0; half < 2; half++) {
			enum frame_event event;

			frame_reader_feed(&r, out.data + (half ? cut : 0), half ? out.length - cut : cut);
			while ((event = frame_reader_next(&r, &f)) != FRAME_NONE) {
				assert_int_not_equal(event, FRAME_DAMAGED);
				noise += event == FRAME_NOISE;
				good += event == FRAME_GOOD;
			}
		}
		assert_int_equal(noise, 1);
		assert_int_equal(good, 2);
		assert_int_equal(f.length, 0);
		frame_reader_free(&r);
	}
	text_free(&out);
}

static void test_byte_by_byte(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};
	struct frame f;

	(void)state;
	encode(&out, 3, FRAME_STATUS, "{\"running\":1}");
	for (size_t i = 0; i + 1 < out.length; i++) {
		frame_reader_feed(&r, out.data + i, 1);
		assert_int_equal(frame_reader_next(&r, &f), FRAME_NONE);
	}
	feed(&r, "\n");
	expect(&r, FRAME_GOOD, 3, "{\"running\":1}");
	expect_none(&r);
	frame_reader_free(&r);
	text_free(&out);
}

/* Whatever byte changes into whatever other, the frame is not taken for a good one, and the next one is. */
static void test_corrupt_every_byte(void **state)
{
	struct text out = {0};
	size_t first;

	(void)state;
	encode(&out, 12, FRAME_RESULT, "{\"x\":12}");
	first = out.length;
	encode(&out, 13, FRAME_BYE, "{}");
	for (size_t i = 0; i < first; i++) {
		for (int bit = 0; bit < 8; bit++) {
			struct frame_reader r = {0};
			enum frame_event event;
			unsigned good = 0;
			struct frame f;

			out.data[i] ^= (char)(1 << bit);
			frame_reader_feed(&r, out.data, out.length);
			while ((event = frame_reader_next(&r, &f)) != FRAME_NONE) {
				if (event != FRAME_GOOD)
					continue;
				good++;
				assert_int_equal(f.seq, 13);
				assert_string_equal(f.payload, "{}");
			}
			assert_int_equal(good, 1);
			out.data[i] ^= (char)(1 << bit);
			frame_reader_free(&r);
		}
	}
	text_free(&out);
}

static void test_damaged_tells_number(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};

	(void)state;
	encode(&out, 41, FRAME_RESULT, "{\"x\":12}");
	out.data[out.length - 3] ^= 1;
	feed(&r, text_get(&out));
	expect(&r, FRAME_DAMAGED, 41, NULL);
	feed(&r, "@kb1 x\n");
	expect(&r, FRAME_DAMAGED, 0, "@kb1 x");
	expect_none(&r);
	frame_reader_free(&r);
	text_free(&out);
}

/* Cut off after every byte: with a newline behind it, and with the next frame directly behind it. */
static void test_truncated(void **state)
{
	struct text one = {0}, two = {0};

	(void)state;
	encode(&one, 5, FRAME_RESULT, "{\"fio\":{\"jobs\":[]}}");
	encode(&two, 6, FRAME_BYE, "{}");
	for (size_t cut = 1; cut + 1 < one.length; cut++) {
		for (int newline = 0; newline < 2; newline++) {
			struct frame_reader r = {0};
			enum frame_event first;
			struct frame f;

			frame_reader_feed(&r, one.data, cut);
			feed(&r, newline ? "\n" : "");
			feed(&r, text_get(&two));
			first = frame_reader_next(&r, &f);
			assert_true(first == FRAME_DAMAGED || first == FRAME_NOISE);
			if (cut >= strlen("@kb1 5 "))
				assert_int_equal(first, FRAME_DAMAGED);
			if (cut >= strlen("@kb1 5 "))
				assert_int_equal(f.seq, 5);
			expect(&r, FRAME_GOOD, 6, "{}");
			expect_none(&r);
			frame_reader_free(&r);
		}
	}
	text_free(&one);
	text_free(&two);
}

static void test_noise(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};

	(void)state;
	text_add(&out, "[    0.1] hello\n\n");
	encode(&out, 1, FRAME_HELLO, "{}");
	text_add(&out, "login: ");
	encode(&out, 2, FRAME_LOG, "{}");
	text_add(&out, "half a li");
	feed(&r, text_get(&out));
	expect(&r, FRAME_NOISE, 0, "[    0.1] hello");
	expect(&r, FRAME_NOISE, 0, "");
	expect(&r, FRAME_GOOD, 1, "{}");
	expect(&r, FRAME_NOISE, 0, "login: ");
	expect(&r, FRAME_GOOD, 2, "{}");
	expect_none(&r);
	feed(&r, "ne\n");
	expect(&r, FRAME_NOISE, 0, "half a line");
	frame_reader_free(&r);
	text_free(&out);
}

static void test_marker_inside(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0}, inner = {0};

	(void)state;
	feed(&r, "a frame begins with @kb1 and a number\n");
	expect(&r, FRAME_NOISE, 0, "a frame begins with @kb1 and a number");
	feed(&r, "@@kb1@kb1\n");
	expect(&r, FRAME_NOISE, 0, "@@kb1@kb1");
	feed(&r, "console @kb1 9 sta\n");
	expect(&r, FRAME_DAMAGED, 9, NULL);
	encode(&inner, 2, FRAME_BYE, "{}");
	text_add_json_string(&out, text_get(&inner));
	text_reset(&inner);
	encode(&inner, 1, FRAME_LOG, text_get(&out));
	feed(&r, text_get(&inner));
	expect(&r, FRAME_GOOD, 1, text_get(&out));
	expect_none(&r);
	frame_reader_free(&r);
	text_free(&out);
	text_free(&inner);
}

static void test_carriage_returns(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};

	(void)state;
	encode(&out, 1, FRAME_LOG, "{}");
	out.data[--out.length] = '\0';
	text_add(&out, "\r\r\nplain\r\n");
	feed(&r, text_get(&out));
	expect(&r, FRAME_GOOD, 1, "{}");
	expect(&r, FRAME_NOISE, 0, "plain");
	expect_none(&r);
	frame_reader_free(&r);
	text_free(&out);
}

static void test_wrong_lengths(void **state)
{
	static const char *const lines[] = {
		"@kb1 1 bye 4194305 00000000 {}\n", "@kb1 1 bye 99999999999999999999 00000000 {}\n",
		"@kb1 1 bye -1 00000000 {}\n",      "@kb1 1 bye  2 00000000 {}\n",
		"@kb1 1 bye 02 00000000 {}\n",      "@kb1 1 bye 2 0000000G {}\n",
		"@kb1 1 nosuch 2 00000000 {}\n",    "@kb1 1 bye 2\n",
		"@kb1 1 bye 2 00000000\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct frame_reader r = {0};

		feed(&r, lines[i]);
		expect(&r, FRAME_DAMAGED, 1, NULL);
		expect_none(&r);
		frame_reader_free(&r);
	}
}

/* A line without an end is handed out in pieces, a frame without an end is given up. */
static void test_endless_lines(void **state)
{
	struct frame_reader r = {0};
	size_t fed = 0, noise = 0;
	char block[1000];
	struct text out = {0};
	struct frame f;

	(void)state;
	memset(block, 'x', sizeof(block));
	for (; fed < 1000 * sizeof(block); fed += sizeof(block)) {
		frame_reader_feed(&r, block, sizeof(block));
		while (frame_reader_next(&r, &f) == FRAME_NOISE)
			noise += f.length;
		assert_true(fed + sizeof(block) - noise < 8192);
	}
	encode(&out, 1, FRAME_BYE, "{}");
	feed(&r, text_get(&out));
	assert_int_equal(frame_reader_next(&r, &f), FRAME_NOISE);
	assert_int_equal(noise + f.length, fed);
	expect(&r, FRAME_GOOD, 1, "{}");

	feed(&r, "@kb1 2 result 9 00000000 ");
	for (fed = 0; fed < FRAME_MAX_PAYLOAD + 2 * sizeof(block); fed += sizeof(block)) {
		frame_reader_feed(&r, block, sizeof(block));
		if (frame_reader_next(&r, &f) != FRAME_NONE)
			break;
	}
	assert_true(fed < FRAME_MAX_PAYLOAD + 2 * sizeof(block));
	assert_int_equal(f.seq, 2);
	frame_reader_free(&r);
	text_free(&out);
}

static void test_largest_payload(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};
	char *payload = malloc(FRAME_MAX_PAYLOAD);
	struct frame f;

	(void)state;
	assert_non_null(payload);
	memset(payload, '7', FRAME_MAX_PAYLOAD);
	frame_encode(&out, 1, FRAME_RESULT, payload, FRAME_MAX_PAYLOAD);
	frame_encode(&out, 2, FRAME_BYE, "{}", 2);
	frame_reader_feed(&r, out.data, out.length);
	assert_int_equal(frame_reader_next(&r, &f), FRAME_GOOD);
	assert_int_equal(f.length, FRAME_MAX_PAYLOAD);
	assert_memory_equal(f.payload, payload, FRAME_MAX_PAYLOAD);
	expect(&r, FRAME_GOOD, 2, "{}");
	frame_reader_free(&r);
	text_free(&out);
	free(payload);
}

static void test_nul_bytes(void **state)
{
	struct frame_reader r = {0};
	struct text out = {0};
	struct frame f;

	(void)state;
	text_add_bytes(&out, "\0\xff\0", 3);
	encode(&out, 1, FRAME_BYE, "{}");
	text_add_bytes(&out, "@kb1 2 \0\n", 9);
	frame_reader_feed(&r, out.data, out.length);
	assert_int_equal(frame_reader_next(&r, &f), FRAME_NOISE);
	assert_int_equal(f.length, 3);
	expect(&r, FRAME_GOOD, 1, "{}");
	assert_int_equal(frame_reader_next(&r, &f), FRAME_DAMAGED);
	assert_int_equal(f.seq, 2);
	expect_none(&r);
	frame_reader_free(&r);
	text_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_split_anywhere),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_corrupt_every_byte),
		cmocka_unit_test(test_damaged_tells_number),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_marker_inside),
		cmocka_unit_test(test_carriage_returns),
		cmocka_unit_test(test_wrong_lengths),
		cmocka_unit_test(test_endless_lines),
		cmocka_unit_test(test_largest_payload),
		cmocka_unit_test(test_nul_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
