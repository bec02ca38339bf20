/*
 * Media that others publish: found on this host or fetched by curl (else wget), a subprocess, and compared with what the
 * user knows of it. What is not yet whole is called FILE.part, and goes on from there the next time.
 */
#ifndef KB_DOWNLOAD_H
#define KB_DOWNLOAD_H

#include <signal.h>

#include "guest/error.h"

struct download {
	const char *media;  /* a path, file://PATH, or a URL of http, https or ftp */
	const char *digest; /* "sha256:HEX" or "sha512:HEX"; NULL: none */
	const char *key;    /* signify's public key: the file SHA256.sig beside the media is checked with it; NULL: none */
	const char *folder; /* where a URL's file is kept; made if need be */
	void (*say)(const char *line); /* may be NULL */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

/*
 * *path: the checked file, freed by the caller. A URL's file that is there from before is used when it passes the check, else
 * fetched anew. A fetched file that fails it is removed; a local one is the user's and stays.
 */
int download_media(const struct download *d, char **path, struct error *e);

/* Is it well written? Empty media and unknown kinds of digests are refused. */
int download_check(const struct download *d, struct error *e);

#endif
