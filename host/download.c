#include "host/download.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/dirs.h"
#include "host/program.h"

#define CURL_NO_RANGES 33 /* curl(1), "EXIT CODES": the server cannot go on in the middle */

static const struct digest_kind {
	const char *name, *program;
	size_t digits;
} kinds[] = {
	{ "sha256", "sha256sum", 64 },
	{ "sha512", "sha512sum", 128 },
};

static int no_memory(struct error *e)
{
	return error_set(e, STATUS_HOST, "out of memory");
}

/* The kind of "KIND:HEX", *digits behind the colon; NULL: it is none. */
static const struct digest_kind *parse_digest(const char *digest, const char **digits)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].name);

		if (strncmp(digest, kinds[i].name, n) || digest[n] != ':')
			continue;
		*digits = digest + n + 1;
		for (n = 0; isxdigit((unsigned char)(*digits)[n]); n++)
			;
		return n == kinds[i].digits && !(*digits)[n] ? &kinds[i] : NULL;
	}
	return NULL;
}

static bool is_url(const char *media)
{
	return !strncmp(media, "http://", 7) || !strncmp(media, "https://", 8) || !strncmp(media, "ftp://", 6);
}

int download_check(const struct download *d, struct error *e)
{
	const char *digits;

	if (!*d->media)
		return error_set(e, STATUS_USAGE, "--media needs a file or a URL");
	if (d->digest && !parse_digest(d->digest, &digits))
		return error_set(e, STATUS_USAGE, "--digest %s: expected sha256: and 64, or sha512: and 128 hexadecimal digits",
				 d->digest);
	if (d->digest && d->key)
		return error_set(e, STATUS_USAGE, "either --digest or --signify: one of them tells what the media has to be");
	if (strstr(d->media, "://") && !is_url(d->media) && strncmp(d->media, "file://", 7))
		return error_set(e, STATUS_USAGE, "--media %s: a file, or a URL of file, http, https or ftp", d->media);
	return 0;
}

/* ---- checks ---- */

static int compare_digest(const struct download *d, const char *file, const char *digest, struct error *e)
{
	const char *digits = NULL;
	const struct digest_kind *kind = parse_digest(digest, &digits);
	struct text said = { 0 };
	const char *argv[] = { kind->program, "--", file, NULL };
	int status = program_run(argv, &(struct program){ "coreutils", -1, false, d->interrupted, 0 }, &said, e);

	if (status > 0)
		error_set(e, STATUS_HOST, "%s cannot be read: %s", file, text_get(&said));
	else if (status == 0 && strncasecmp(text_get(&said) + (*text_get(&said) == '\\'), digits, kind->digits))
		error_set(e, STATUS_USAGE, "%s: its digest is %s:%.*s, and %s was asked for: it is damaged, or another file",
			  d->media, kind->name, (int)kind->digits, text_get(&said), digest);
	text_free(&said);
	return e->status ? -1 : 0;
}

/* "SHA256 (NAME) = HEX" in the signed list: the digest of that name, as --digest is written. */
static int look_up(const char *list, const char *name, const char *signature, struct text *digest, struct error *e)
{
	struct text head = { 0 };
	const char *at;

	text_add(&head, "SHA256 (%s) = ", name);
	at = head.failed ? NULL : strstr(list, text_get(&head));
	if (at)
		text_add(digest, "sha256:%.64s", at + head.length);
	text_free(&head);
	return at ? 0 : error_set(e, STATUS_USAGE, "%s does not name %s", signature, name);
}

/* signify(1): -V -e verifies a message that its signature comes with, and writes it out. */
static int signed_digest(const struct download *d, const char *signature, const char *name, struct text *digest, struct error *e)
{
	const char *program = program_exists("signify-openbsd") ? "signify-openbsd" : "signify";
	const char *argv[] = { program, "-V", "-q", "-e", "-p", d->key, "-x",
			 signature, "-m", "-", NULL };
	struct text said = { 0 };
	char line[320];
	int status = program_run(argv, &(struct program){ "signify-openbsd", -1, false, d->interrupted, 0 }, &said, e);

	program_last_line(&said, line, sizeof(line));
	if (status > 0)
		error_set(e, STATUS_USAGE, "%s is not signed by %s: %s", signature, d->key, line);
	else if (status == 0)
		look_up(text_get(&said), name, signature, digest, e);
	text_free(&said);
	return e->status ? -1 : 0;
}

static void say(const struct download *d, const char *what, const char *file)
{
	struct text line = { 0 };

	text_add(&line, "%s %s", what, file);
	if (d->say)
		d->say(text_get(&line));
	text_free(&line);
}

static int check_file(const struct download *d, const char *file, const char *name, const char *signature, struct error *e)
{
	struct text digest = { 0 };
	int status;

	if (!d->digest && !d->key) {
		say(d, "not checked, as there is neither --digest nor --signify:", file);
		return 0;
	}
	if (!d->key)
		return compare_digest(d, file, d->digest, e);
	status = signed_digest(d, signature, name, &digest, e);
	if (!status && !parse_digest(text_get(&digest), &(const char *){ NULL }))
		status = error_set(e, STATUS_USAGE, "%s has no whole digest of %s", signature, name);
	if (!status)
		status = compare_digest(d, file, text_get(&digest), e);
	text_free(&digest);
	return status;
}

/* ---- fetching ---- */

static int run_fetcher(const struct download *d, const char *url, const char *part, bool curl, struct text *said, struct error *e)
{
	bool terminal = isatty(STDERR_FILENO);
	const char *by_curl[] = { "curl", (terminal ? "--progress-bar" : "-sS"), "-fL", "-C", "-",
			    "-o", part, "--", url, NULL };
	const char *by_wget[] = { "wget", (terminal ? "--progress=bar" : "-nv"), "-t", "3", "-c", "-O", part,
			    "--", url, NULL };
	struct program p = { "curl", -1, terminal, d->interrupted, 0 };

	return program_run(curl ? by_curl : by_wget, &p, said, e);
}

/* The whole file is at part afterwards. On failure part stays, to go on from, unless it is empty. */
static int fetch(const struct download *d, const char *url, const char *part, struct error *e)
{
	bool curl = program_exists("curl") || !program_exists("wget");
	struct text said = { 0 };
	struct stat st = { 0 };
	char line[320];
	int status = run_fetcher(d, url, part, curl, &said, e);

	if (curl && status == CURL_NO_RANGES && unlink(part) == 0) {
		say(d, "its server cannot go on in the middle, from the beginning:", url);
		text_reset(&said);
		status = run_fetcher(d, url, part, curl, &said, e);
	}
	program_last_line(&said, line, sizeof(line));
	text_free(&said);
	if (status == 0)
		return 0;
	if (stat(part, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
		unlink(part);
	if (status > 0)
		error_set(e, STATUS_HOST, "%s could not be fetched: %s", url, *line ? line : "no reason was given");
	if (st.st_size > 0)
		error_context(e, "%lld bytes are in %s, the same command goes on there", (long long)st.st_size, part);
	return -1;
}

/* SHA256.sig from where the media is, each time anew. */
static int fetch_signature(const struct download *d, const char *signature, struct error *e)
{
	const char *slash = strrchr(d->media, '/');
	struct text url = { 0 };
	int status;

	text_add(&url, "%.*s/SHA256.sig", (int)(slash - d->media), d->media);
	unlink(signature);
	status = url.failed ? no_memory(e) : fetch(d, text_get(&url), signature, e);
	text_free(&url);
	return status;
}

/* With the names put together: whole is where the checked file will be. */
static int fetch_checked(const struct download *d, const char *whole, const char *part, const char *name, const char *signature,
			 struct error *e)
{
	struct error ignored = { 0 };

	if (d->key && fetch_signature(d, signature, e))
		return -1;
	if (access(whole, F_OK) == 0) {
		if (check_file(d, whole, name, signature, &ignored) == 0) {
			say(d, "there already:", whole);
			return 0;
		}
		if (d->interrupted && *d->interrupted)
			return error_set(e, STATUS_INCOMPLETE, "%s", ignored.text);
		unlink(whole);
	}
	if ((d->digest || d->key) && access(part, F_OK) == 0 && check_file(d, part, name, signature, &ignored) == 0)
		return rename(part, whole) ? error_errno(e, STATUS_HOST, "%s", whole) : 0; /* only its name was missing */
	say(d, "fetching", d->media);
	if (fetch(d, d->media, part, e))
		return -1;
	if (check_file(d, part, name, signature, e)) {
		if (!d->interrupted || !*d->interrupted)
			unlink(part);
		return -1;
	}
	if (rename(part, whole))
		return error_errno(e, STATUS_HOST, "%s", whole);
	dirs_sync_of(whole);
	return 0;
}

static int fetch_url(const struct download *d, char **path, struct error *e)
{
	const char *slash = strrchr(d->media, '/');
	struct text name = { 0 }, whole = { 0 }, part = { 0 }, signature = { 0 };
	int status = -1;

	text_add(&name, "%.*s", (int)strcspn(slash + 1, "?#"), slash + 1);
	text_add(&whole, "%s/%s", d->folder, text_get(&name));
	text_add(&part, "%s.part", text_get(&whole));
	text_add(&signature, "%s.SHA256.sig", text_get(&whole));
	if (!name.length)
		error_set(e, STATUS_USAGE, "--media %s names no file", d->media);
	else if (name.failed || whole.failed || part.failed || signature.failed)
		no_memory(e);
	else if (dirs_make(d->folder, e) == 0)
		status = fetch_checked(d, text_get(&whole), text_get(&part), text_get(&name), text_get(&signature), e);
	if (status == 0) {
		*path = strdup(text_get(&whole));
		status = *path ? 0 : no_memory(e);
	}
	unlink(text_get(&signature));
	text_free(&name);
	text_free(&whole);
	text_free(&part);
	text_free(&signature);
	return status;
}

static int find_local(const struct download *d, char **path, struct error *e)
{
	const char *file = strncmp(d->media, "file://", 7) ? d->media : d->media + 7;
	const char *name = strrchr(file, '/');
	struct text signature = { 0 };
	struct stat st;
	int status;

	if (stat(file, &st))
		return error_errno(e, STATUS_USAGE, "--media %s", d->media);
	if (!S_ISREG(st.st_mode) || access(file, R_OK))
		return error_set(e, STATUS_USAGE, "--media %s: it is no file that can be read", d->media);
	text_add(&signature, "%.*sSHA256.sig", name ? (int)(name + 1 - file) : 0, file);
	status = check_file(d, file, name ? name + 1 : file, text_get(&signature), e);
	text_free(&signature);
	if (status)
		return -1;
	*path = realpath(file, NULL);
	return *path ? 0 : error_errno(e, STATUS_HOST, "%s", file);
}

int download_media(const struct download *d, char **path, struct error *e)
{
	*path = NULL;
	if (download_check(d, e))
		return -1;
	return is_url(d->media) ? fetch_url(d, path, e) : find_local(d, path, e);
}
