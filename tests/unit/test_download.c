/* Media by path and by URL: from a small server of our own that stops in the middle, knows ranges or not, and keeps a log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>

#include "guest/checksum.h"
#include "guest/text.h"
#include "host/download.h"
#include "host/program.h"
#include "tests/unit/scratch.h"

#define SIZE 300000u
#define CUT 100000u

/* FOLDER MODE: cut ends the first answer after CUT bytes, whole does not, deaf knows no ranges. One line of log per request. */
static const char server[] =
	"import http.server, os, sys\n"
	"folder, mode, cut = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"
	"served = []\n"
	"class Handler(http.server.BaseHTTPRequestHandler):\n"
	"    def log_message(self, *a):\n"
	"        pass\n"
	"    def do_GET(self):\n"
	"        wish = self.headers.get('Range', '')\n"
	"        with open(folder + '/log', 'a') as log:\n"
	"            log.write(self.path + ' ' + wish + '\\n')\n"
	"        if not os.path.isfile(folder + self.path):\n"
	"            return self.send_error(404)\n"
	"        body = open(folder + self.path, 'rb').read()\n"
	"        at = int(wish[6:-1]) if wish and mode != 'deaf' else 0\n"
	"        if at >= len(body):\n"
	"            return self.send_error(416)\n"
	"        self.send_response(206 if at else 200)\n"
	"        if at:\n"
	"            self.send_header('Content-Range', 'bytes %d-%d/%d' % (at, len(body) - 1, len(body)))\n"
	"        self.send_header('Content-Length', str(len(body) - at))\n"
	"        self.end_headers()\n"
	"        first = not served\n"
	"        served.append(self.path)\n"
	"        self.wfile.write(body[at:at + cut] if first and mode != 'whole' else body[at:])\n"
	"        self.close_connection = True\n"
	"s = http.server.HTTPServer(('127.0.0.1', 0), Handler)\n"
	"print(s.server_address[1], flush=True)\n"
	"s.serve_forever()\n";

struct fixture {
	struct scratch *s;
	pid_t pid;
	char url[128]; /* without a last slash */
	char digest[80];
	char folder[300], whole[320], part[330];
	unsigned char body[SIZE];
	struct text said;
};

static struct fixture *now; /* say() has no context */

static void say(const char *line)
{
	text_add(&now->said, "%s\n", line);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	unsigned char raw[SHA256_BYTES];
	void *scratch;

	if (!f || scratch_open(&scratch))
		return -1;
	f->s = scratch;
	for (size_t i = 0; i < SIZE; i++)
		f->body[i] = (unsigned char)(i * 2654435761u >> 13);
	scratch_bytes(f->s, "www/media.img", f->body, SIZE);
	sha256(f->body, SIZE, raw);
	strcpy(f->digest, "sha256:");
	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(f->digest + 7 + 2 * i, 3, "%02x", raw[i]);
	snprintf(f->folder, sizeof(f->folder), "%s/kept", f->s->folder);
	snprintf(f->whole, sizeof(f->whole), "%s/media.img", f->folder);
	snprintf(f->part, sizeof(f->part), "%s.part", f->whole);
	*state = now = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	void *scratch = f->s;

	if (f->pid > 0) {
		kill(f->pid, SIGKILL);
		waitpid(f->pid, NULL, 0);
	}
	text_free(&f->said);
	free(f);
	return scratch_close(&scratch);
}

static void serve(struct fixture *f, const char *mode)
{
	char script[600], www[600], cut[32], port[32] = "";
	int ends[2];

	snprintf(script, sizeof(script), "%s", scratch_text(f->s, "server.py", server));
	snprintf(www, sizeof(www), "%s", scratch_path(f->s, "www"));
	snprintf(cut, sizeof(cut), "%u", CUT);
	assert_int_equal(pipe(ends), 0);
	f->pid = fork();
	assert_true(f->pid >= 0);
	if (f->pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execlp("python3", "python3", script, www, mode, cut, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	assert_true(read(ends[0], port, sizeof(port) - 1) > 0);
	close(ends[0]);
	snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%d", atoi(port));
}

static int fetch(struct fixture *f, const char *name, const char *digest, const char *key, struct error *e)
{
	struct text media = { 0 };
	char *path = NULL;
	int status;

	text_add(&media, "%s/%s", f->url, name);
	*e = (struct error){ 0 };
	status = download_media(&(struct download){ text_get(&media), digest, key, f->folder, say, NULL }, &path, e);
	if (status == 0)
		assert_string_equal(path, f->whole);
	else
		assert_null(path);
	free(path);
	text_free(&media);
	return status;
}

static long size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (long)st.st_size;
}

static void same_as_served(const struct fixture *f)
{
	static unsigned char have[SIZE + 1];
	FILE *in = fopen(f->whole, "r");

	assert_non_null(in);
	assert_int_equal(fread(have, 1, sizeof(have), in), SIZE);
	fclose(in);
	assert_memory_equal(have, f->body, SIZE);
	assert_int_equal(size_of(f->part), -1);
}

static void served(struct fixture *f, const char *log)
{
	char have[500] = "";
	FILE *in = fopen(scratch_path(f->s, "www/log"), "r");

	assert_non_null(in);
	have[fread(have, 1, sizeof(have) - 1, in)] = '\0';
	fclose(in);
	assert_string_equal(have, log);
}

static void test_interrupted(void **state)
{
	struct fixture *f = *state;
	struct error e;

	serve(f, "cut");
	assert_int_equal(fetch(f, "media.img", f->digest, NULL, &e), -1);
	assert_int_equal(e.status, STATUS_HOST);
	holds(e.text, "100000 bytes are in ");
	holds(e.text, "the same command goes on there: ");
	assert_int_equal(size_of(f->whole), -1);
	assert_int_equal(size_of(f->part), CUT);
	if (fetch(f, "media.img", f->digest, NULL, &e))
		fail_msg("%s", e.text);
	same_as_served(f);
	if (fetch(f, "media.img", f->digest, NULL, &e)) /* nothing is asked of the server */
		fail_msg("%s", e.text);
	served(f, "/media.img \n/media.img bytes=100000-\n");
	holds(text_get(&f->said), "there already: ");
}

/* What was there had other bytes: the digest tells, and nothing of it is kept. */
static void test_damaged_part(void **state)
{
	struct fixture *f = *state;
	struct error e;

	serve(f, "whole");
	scratch_bytes(f->s, "kept/media.img.part", "not its beginning", 17);
	assert_int_equal(fetch(f, "media.img", f->digest, NULL, &e), -1);
	holds(e.text, "it is damaged, or another file");
	assert_int_equal(size_of(f->part), -1);
	assert_int_equal(size_of(f->whole), -1);
	if (fetch(f, "media.img", f->digest, NULL, &e))
		fail_msg("%s", e.text);
	same_as_served(f);
}

/* Killed between the last byte and the new name: it is whole, and the server is not asked. */
static void test_whole_part(void **state)
{
	struct fixture *f = *state;
	struct error e;

	serve(f, "whole");
	scratch_bytes(f->s, "kept/media.img.part", f->body, SIZE);
	if (fetch(f, "media.img", f->digest, NULL, &e))
		fail_msg("%s", e.text);
	same_as_served(f);
	assert_int_equal(size_of(scratch_path(f->s, "www/log")), -1);
}

static void test_server_without_ranges(void **state)
{
	struct fixture *f = *state;
	struct error e;

	serve(f, "deaf");
	assert_int_equal(fetch(f, "media.img", f->digest, NULL, &e), -1);
	assert_int_equal(size_of(f->part), CUT);
	if (fetch(f, "media.img", f->digest, NULL, &e))
		fail_msg("%s", e.text);
	same_as_served(f);
	holds(text_get(&f->said), "cannot go on in the middle");
}

static void test_wrong_digest(void **state)
{
	static const char zeros[] = "sha256:0000000000000000000000000000000000000000000000000000000000000000";
	struct fixture *f = *state;
	struct error e;

	serve(f, "whole");
	assert_int_equal(fetch(f, "media.img", zeros, NULL, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, f->digest);
	holds(e.text, zeros);
	assert_int_equal(size_of(f->part), -1);
	assert_int_equal(size_of(f->whole), -1);
	scratch_bytes(f->s, "kept/media.img", "an older one", 12); /* is fetched anew */
	if (fetch(f, "media.img", f->digest, NULL, &e))
		fail_msg("%s", e.text);
	same_as_served(f);
}

static void test_missing(void **state)
{
	struct fixture *f = *state;
	struct error e;

	serve(f, "whole");
	assert_int_equal(fetch(f, "other.img", f->digest, NULL, &e), -1);
	holds(e.text, "other.img could not be fetched: ");
	holds(e.text, "404");
	assert_int_equal(fetch(f, "", f->digest, NULL, &e), -1);
	holds(e.text, "names no file");
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	f->pid = 0;
	assert_int_equal(fetch(f, "media.img", f->digest, NULL, &e), -1);
	holds(e.text, "could not be fetched: curl: (7)");
}

/* /dev/full takes nothing, as a file system without room. */
static void test_no_space(void **state)
{
	struct fixture *f = *state;
	struct error e;

	serve(f, "whole");
	assert_int_equal(mkdir(f->folder, 0777), 0);
	assert_int_equal(symlink("/dev/full", f->part), 0);
	assert_int_equal(fetch(f, "media.img", NULL, NULL, &e), -1);
	assert_int_equal(e.status, STATUS_HOST);
	holds(e.text, "could not be fetched: curl: (23)");
	assert_int_equal(size_of(f->whole), -1);
}

/* An interruption ends curl, and what has come stays. */
static void test_asked_to_end(void **state)
{
	struct fixture *f = *state;
	volatile sig_atomic_t signal_number = SIGINT;
	struct text media = { 0 };
	struct error e = { 0 };
	char *path;

	serve(f, "whole");
	text_add(&media, "%s/media.img", f->url);
	assert_int_equal(download_media(&(struct download){ text_get(&media), f->digest, NULL, f->folder, NULL, &signal_number }, &path, &e), -1);
	assert_int_equal(e.status, STATUS_INCOMPLETE);
	holds(e.text, "interrupted");
	text_free(&media);
}

static void local(const char *media, const char *digest, const char *key, struct error *e)
{
	char *path = NULL;

	*e = (struct error){ 0 };
	if (download_media(&(struct download){ media, digest, key, "/nonexistent", say, NULL }, &path, e) == 0)
		assert_int_equal(size_of(path), SIZE);
	free(path);
}

static void test_local(void **state)
{
	struct fixture *f = *state;
	struct text url = { 0 };
	char file[600], sha512[8 + 128 + 1] = "sha512:", command[1400];
	FILE *tool;
	struct error e;

	snprintf(file, sizeof(file), "%s", scratch_path(f->s, "www/media.img"));
	text_add(&url, "file://%s", file);
	local(file, f->digest, NULL, &e);
	assert_string_equal(e.text, "");
	local(text_get(&url), f->digest, NULL, &e);
	assert_string_equal(e.text, "");
	assert_null(f->said.data);
	local(file, NULL, NULL, &e);
	assert_string_equal(e.text, "");
	holds(text_get(&f->said), "not checked, as there is neither --digest nor --signify: ");
	snprintf(command, sizeof(command), "openssl dgst -sha512 -r '%s' 2>/dev/null || sha512sum '%s'", file, file);
	tool = popen(command, "r");
	assert_non_null(tool);
	assert_int_equal(fread(sha512 + 7, 1, 128, tool), 128);
	pclose(tool);
	local(file, sha512, NULL, &e);
	assert_string_equal(e.text, "");
	sha512[20] = sha512[20] == '0' ? '1' : '0';
	local(file, sha512, NULL, &e);
	holds(e.text, "it is damaged, or another file");
	assert_int_equal(size_of(file), SIZE); /* the user's own stays */
	local("/nonexistent/x.img", NULL, NULL, &e);
	assert_string_equal(e.text, "--media /nonexistent/x.img: No such file or directory");
	local("/dev/null", NULL, NULL, &e);
	holds(e.text, "it is no file that can be read");
	text_free(&url);
}

static void test_check(void **state)
{
	static const struct { const char *media, *digest, *key, *message; } all[] = {
		{ "", NULL, NULL, "--media needs a file or a URL" },
		{ "x", "md5:00", NULL, "expected sha256: and 64" },
		{ "x", "sha256:0011", NULL, "expected sha256: and 64" },
		{ "x", "sha256:000000000000000000000000000000000000000000000000000000000000000g", NULL, "expected sha256: and 64" },
		{ "x", "sha256:0000000000000000000000000000000000000000000000000000000000000000", "k", "either --digest or --signify" },
		{ "scp://x/y", NULL, NULL, "a file, or a URL of file, http, https or ftp" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct error e = { 0 };

		assert_int_equal(download_check(&(struct download){ .media = all[i].media, .digest = all[i].digest, .key = all[i].key }, &e), -1);
		assert_int_equal(e.status, STATUS_USAGE);
		holds(e.text, all[i].message);
	}
}

/* Keys and signatures by signify itself, in the form of OpenBSD's mirrors: SHA256 (NAME) = HEX. */
static void test_signify(void **state)
{
	struct fixture *f = *state;
	struct text list = { 0 };
	char command[2048], key[600], other[600];
	struct error e;

	if (!program_exists("signify-openbsd"))
		skip();
	text_add(&list, "SHA256 (BUILDINFO) = 00\nSHA256 (media.img) = %s\n", f->digest + 7);
	scratch_text(f->s, "www/SHA256", text_get(&list));
	snprintf(command, sizeof(command),
		 "cd '%s' && signify-openbsd -G -n -p key.pub -s key.sec && signify-openbsd -G -n -p other.pub -s other.sec && "
		 "signify-openbsd -S -e -s key.sec -m www/SHA256 -x www/SHA256.sig", f->s->folder);
	assert_int_equal(system(command), 0);
	snprintf(key, sizeof(key), "%s/key.pub", f->s->folder);
	snprintf(other, sizeof(other), "%s/other.pub", f->s->folder);
	serve(f, "whole");
	if (fetch(f, "media.img", NULL, key, &e))
		fail_msg("%s", e.text);
	same_as_served(f);
	served(f, "/SHA256.sig \n/media.img \n");
	assert_int_equal(size_of(scratch_path(f->s, "kept/media.img.SHA256.sig")), -1);
	assert_int_equal(fetch(f, "media.img", NULL, other, &e), -1);
	assert_int_equal(e.status, STATUS_USAGE);
	holds(e.text, "is not signed by ");
	local(scratch_path(f->s, "www/media.img"), NULL, key, &e);
	assert_string_equal(e.text, "");
	f->body[5] ^= 1;
	scratch_bytes(f->s, "www/media.img", f->body, SIZE);
	local(scratch_path(f->s, "www/media.img"), NULL, key, &e);
	holds(e.text, "it is damaged, or another file");
	scratch_bytes(f->s, "www/more.img", f->body, SIZE);
	local(scratch_path(f->s, "www/more.img"), NULL, key, &e);
	holds(e.text, "does not name more.img");
	unlink(scratch_path(f->s, "www/SHA256.sig"));
	local(scratch_path(f->s, "www/more.img"), NULL, key, &e);
	holds(e.text, "SHA256.sig");
	text_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test_setup_teardown(test_asked_to_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_damaged_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_local, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_space, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_server_without_ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_signify, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whole_part, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_digest, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
