/*
 * Checksums that verify= offers, each from its published specification. No OS calls in here, and no
 * alignment needed.
 */
#ifndef KB_CHECKSUM_H
#define KB_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define MD5_BYTES 16
#define SHA256_BYTES 32

/* ITU-T V.42, IEEE 802.3: reflected 0x04c11db7, begins and ends inverted. */
uint32_t crc32(const void *bytes, size_t length);

/* Castagnoli, as in iSCSI (RFC 3720, appendix B.4): reflected 0x1edc6f41, begins and ends inverted. */
uint32_t crc32c(const void *bytes, size_t length);

/* XXH64 of the xxHash specification 0.1.1, seed 0. */
uint64_t xxhash64(const void *bytes, size_t length);

/* RFC 1321. */
void md5(const void *bytes, size_t length, unsigned char digest[MD5_BYTES]);

/* FIPS 180-4. */
void sha256(const void *bytes, size_t length, unsigned char digest[SHA256_BYTES]);

#endif
