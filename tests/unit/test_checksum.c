/* Vectors from the specifications, and long inputs whose sums other programs computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest/checksum.h"

static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz";
static const char digits[] = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";

static const char *hex(const unsigned char *bytes, size_t n)
{
	static char text[2 * SHA256_BYTES + 1];

	for (size_t i = 0; i < n; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return text;
}

static const char *md5_of(const void *bytes, size_t n)
{
	unsigned char digest[MD5_BYTES];

	md5(bytes, n, digest);
	return hex(digest, sizeof(digest));
}

static const char *sha256_of(const void *bytes, size_t n)
{
	unsigned char digest[SHA256_BYTES];

	sha256(bytes, n, digest);
	return hex(digest, sizeof(digest));
}

static void crc32_vectors(void **state)
{
	(void)state;
	assert_int_equal(crc32("123456789", 9), 0xcbf43926);
	assert_int_equal(crc32("", 0), 0);
	assert_int_equal(crc32("a", 1), 0xe8b7be43);
}

/* RFC 3720, B.4: 32 bytes of zeros, ones, up and down. */
static void crc32c_vectors(void **state)
{
	unsigned char bytes[32];

	(void)state;
	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x62a8ab43);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x46dd794e);
	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(31 - i);
	assert_int_equal(crc32c(bytes, sizeof(bytes)), 0x113fdb5c);
}

/* RFC 1321, A.5. */
static void md5_vectors(void **state)
{
	(void)state;
	assert_string_equal(md5_of("", 0), "d41d8cd98f00b204e9800998ecf8427e");
	assert_string_equal(md5_of("a", 1), "0cc175b9c0f1b6a831c399e269772661");
	assert_string_equal(md5_of("message digest", 14), "f96b697d7cb7938d525a2f31aaf161d0");
	assert_string_equal(md5_of(alphabet, 26), "c3fcd3d76192e4007dfb496cca67e13b");
	assert_string_equal(md5_of(digits, 80), "57edf4a22be3c955ac49da2e2107b67a");
}

/* FIPS 180-2, appendix B; the message of a million letters is B.3. */
static void sha256_vectors(void **state)
{
	char *million = malloc(1000000);

	(void)state;
	assert_non_null(million);
	memset(million, 'a', 1000000);
	assert_string_equal(sha256_of("", 0), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	assert_string_equal(sha256_of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	assert_string_equal(sha256_of(two_blocks, 56),
			    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	assert_string_equal(sha256_of(million, 1000000),
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	assert_string_equal(md5_of(million, 1000000), "7707d6ae4e027c70eea2a935c2296f21");
	free(million);
}

/*
 * The specification's own self test: bytes of a generator, lengths on both sides of the 32 of a round.
 * Values for seed 0 (sanity_buffer of the reference implementation's xxhsum).
 */
static void xxhash_vectors(void **state)
{
	unsigned char bytes[222];
	uint64_t generator = 2654435761u;

	(void)state;
	for (unsigned i = 0; i < sizeof(bytes); i++) {
		bytes[i] = (unsigned char)(generator >> 56);
		generator *= 11400714785074694797u;
	}
	assert_true(xxhash64("", 0) == 0xef46db3751d8e999u);
	assert_true(xxhash64(bytes, 1) == 0xe934a84adb052768u);
	assert_true(xxhash64(bytes, 4) == 0x9136a0dca57457eeu);
	assert_true(xxhash64(bytes, 14) == 0x8282dcc4994e35c8u);
	assert_true(xxhash64(bytes, 222) == 0xb641ae8cb691c174u);
	assert_true(xxhash64("abc", 3) == 0x44bc2cf5ad770999u);
}

/* Paddings of every kind: 55, 56, 63, 64 and 65 bytes. From md5sum and sha256sum of coreutils. */
static void paddings(void **state)
{
	char bytes[65];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	assert_string_equal(md5_of(bytes, 55), "04364420e25c512fd958a70738aa8f72");
	assert_string_equal(sha256_of(bytes, 55),
			    "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
	assert_string_equal(md5_of(bytes, 56), "668a72d5ba17f08e62dabcafad6db14b");
	assert_string_equal(sha256_of(bytes, 56),
			    "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
	assert_string_equal(md5_of(bytes, 63), "7dc2ca208106a2f703567bdff99d8981");
	assert_string_equal(sha256_of(bytes, 63),
			    "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
	assert_string_equal(md5_of(bytes, 64), "c1bb4f81d892b2d57947682aeb252456");
	assert_string_equal(sha256_of(bytes, 64),
			    "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
	assert_string_equal(md5_of(bytes, 65), "1bc932052302d074bdec39795fe00cf6");
	assert_string_equal(sha256_of(bytes, 65),
			    "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc32_vectors), cmocka_unit_test(crc32c_vectors), cmocka_unit_test(md5_vectors),
		cmocka_unit_test(sha256_vectors), cmocka_unit_test(xxhash_vectors), cmocka_unit_test(paddings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
