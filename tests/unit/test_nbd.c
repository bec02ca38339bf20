/* What is made of an NBD server's words, and of nobody who says any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/disk.h"
#include "host/nbd.h"

#define HELLO "NBDMAGICIHAVEOPT\0\3"
#define REPLY "\x00\x03\xe8\x89\x04\x55\x65\xa9\0\0\0\6"
#define SIZE REPLY "\0\0\0\3\0\0\0\xc" "\0\0" "\0\0\0\2\0\0\2\0" "\0\1" /* 8 GiB and a sector */
#define BLOCK_SIZES REPLY "\0\0\0\3\0\0\0\xe" "\0\3" "\0\0\0\1\0\0\x10\0\2\0\0\0"
#define ACK REPLY "\0\0\0\1\0\0\0\0"
#define TEXT(literal) literal, sizeof(literal) - 1

/* The server's words are all there before it is asked: a socket pair holds them. */
static int ask(const char *words, size_t length, uint64_t *bytes, struct error *e, char heard[64])
{
	int ends[2], status;

	assert_int_equal(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	assert_int_equal(length, write(ends[1], words, length));
	shutdown(ends[1], SHUT_WR);
	status = nbd_ask_size(ends[0], bytes, e);
	close(ends[0]);
	memset(heard, 0, 64);
	if (read(ends[1], heard, 64) < 0) /* reset: not all that was said had been heard */
		heard[0] = 0;
	close(ends[1]);
	return status;
}

static void the_size_is_told(void **state)
{
	static const char asked[] = "\0\0\0\1IHAVEOPT\0\0\0\6\0\0\0\6\0\0\0\0\0\0IHAVEOPT\0\0\0\2\0\0\0";
	struct error e = { 0 };
	char heard[64];
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(0, ask(TEXT(HELLO BLOCK_SIZES SIZE ACK), &bytes, &e, heard));
	assert_true(bytes == 8589934592 + 512);
	assert_memory_equal(asked, heard, sizeof(asked));
}

static void what_is_no_answer(void **state)
{
	static const struct { const char *words; size_t length; const char *why; } rows[] = {
		{ TEXT(""), "ended the connection" },
		{ TEXT("SSH-2.0-OpenSSH_9.2p1\r\n"), "no NBD server" },
		{ TEXT("NBDMAGIC\x00\x00\x42\x02\x81\x86\x12\x53\0\0\0\0\0\0\0\0"), "old kind" },
		{ TEXT("NBDMAGICIHAVEOPT\0\0"), "old kind" },
		{ TEXT(HELLO), "ended the connection" },
		{ TEXT(HELLO ACK), "does not tell the size" },
		{ TEXT(HELLO REPLY "\x80\0\0\6\0\0\0\x7unknown"), "does not offer an export without a name: unknown" },
		{ TEXT(HELLO REPLY "\x80\0\0\1\0\0\0\0"), "does not offer an export without a name" },
		{ TEXT(HELLO REPLY "\0\0\0\3\x7f\0\0\0"), "not one of NBD's" },
		{ TEXT(HELLO "\x00\x03\xe8\x89\x04\x55\x65\xa8\0\0\0\6\0\0\0\1\0\0\0\0"), "not one of NBD's" },
		{ TEXT(HELLO REPLY "\0\0\0\3\0\0\0\xc" "\0\0\0\0"), "ended the connection" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct error e = { 0 };
		char heard[64];
		uint64_t bytes;

		assert_int_equal(-1, ask(rows[i].words, rows[i].length, &bytes, &e, heard));
		if (!strstr(e.text, rows[i].why))
			fail_msg("row %zu: %s, not %s", i, e.text, rows[i].why);
	}
}

static void nobody_listens(void **state)
{
	struct error e = { 0 };
	char path[300];
	uint64_t bytes;
	struct settings s;
	struct disk disk;

	(void)state;
	assert_int_equal(-1, nbd_size("/nowhere/s.sock", &bytes, &e));
	assert_non_null(strstr(e.text, "no NBD server listens on /nowhere/s.sock"));
	error_clear(&e);
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(-1, nbd_size(path, &bytes, &e));
	assert_non_null(strstr(e.text, "too long"));
	error_clear(&e);
	settings_default(&s);
	assert_int_equal(0, settings_set(&s, "backend", "nbd", "test", 1, &e));
	assert_int_equal(0, settings_set(&s, "path", "/nowhere/s.sock", "test", 1, &e));
	assert_int_equal(-1, disk_prepare(&s, "", 0, &disk, &e));
	assert_non_null(strstr(e.text, "/nowhere/s.sock"));
	settings_free(&s);
}

/* A server that is busy for ever: one connection waits to be accepted, which is all that its queue takes. */
static void nobody_accepts(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/kickbench-nbd-XXXXXX";
	int server = socket(AF_UNIX, SOCK_STREAM, 0), waiting = socket(AF_UNIX, SOCK_STREAM, 0);
	struct error e = { 0 };
	uint64_t bytes;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/s.sock", folder);
	assert_int_equal(0, bind(server, (struct sockaddr *)&address, sizeof(address)));
	assert_int_equal(0, listen(server, 0));
	assert_int_equal(0, connect(waiting, (struct sockaddr *)&address, sizeof(address)));
	alarm(60); /* instead of for ever */
	assert_int_equal(-1, nbd_size(address.sun_path, &bytes, &e));
	alarm(0);
	assert_non_null(strstr(e.text, "/s.sock has accepted no connection for 5 s"));
	close(waiting);
	close(server);
	unlink(address.sun_path);
	rmdir(folder);
}

static void a_server_that_is_gone(void **state)
{
	struct error gone = { 0 }, other = { 0 };

	(void)state;
	error_set(&gone, STATUS_HOST, "libvirt refuses the guest: -blockdev {...}: Failed to connect to '/tmp/s.sock': No such file or directory");
	nbd_explain("/tmp/s.sock", &gone);
	assert_non_null(strstr(gone.text, "the NBD server on /tmp/s.sock does not listen any more"));
	assert_non_null(strstr(gone.text, "qemu-nbd with -t"));
	error_set(&other, STATUS_HOST, "Failed to connect to the monitor");
	nbd_explain("/tmp/s.sock", &other);
	assert_string_equal(other.text, "Failed to connect to the monitor");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_size_is_told),
		cmocka_unit_test(what_is_no_answer),
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(nobody_accepts),
		cmocka_unit_test(a_server_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
