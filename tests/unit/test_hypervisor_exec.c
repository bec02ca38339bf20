/* driver = exec: forms of ports, environment, verify; and the operations with shell scripts for guests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/hypervisor_exec.h"
#include "host/system.h"
#include "host/hypervisor_exec_command.h"
#include "host/leftovers.h"
#include "host/process.h"
#include "tests/unit/scratch.h"

static const struct hv_ops *const ops = &hypervisor_exec;

/* ---- pure ---- */

static void test_ports(void **state)
{
	struct exec_port_form f;

	(void)state;
	assert_null(exec_port_parse(NULL, &f));
	assert_int_equal(f.kind, EXEC_PORT_NONE);
	assert_null(exec_port_parse("pty  /dev/ttyp0", &f));
	assert_int_equal(f.kind, EXEC_PORT_PTY);
	assert_string_equal(f.path, "/dev/ttyp0");
	assert_null(exec_port_parse("unix $KICKBENCH_FOLDER/a b", &f));
	assert_int_equal(f.kind, EXEC_PORT_UNIX);
	assert_string_equal(f.path, "$KICKBENCH_FOLDER/a b");
	assert_null(exec_port_parse("stdio", &f));
	assert_int_equal(f.kind, EXEC_PORT_STDIO);
	for (size_t i = 0; i < 6; i++) {
		static const char *const bad[] = { "", "pty", "unix ", "stdio x", "ptyx /dev/a", "tcp 1" };

		assert_non_null(exec_port_parse(bad[i], &f));
	}
}

static void test_check(void **state)
{
	struct exec_commands c = { 0 };

	(void)state;
	holds(exec_check(&c), "start");
	c.start = (char *)"true";
	holds(exec_check(&c), "link");
	c.link = (char *)"stdio";
	assert_null(exec_check(&c));
	c.console = (char *)"stdio";
	holds(exec_check(&c), "both");
	c.console = (char *)"nonsense";
	holds(exec_check(&c), "pty PATH");
}

static void test_expand(void **state)
{
	char *const variables[] = { (char *)"A=one", (char *)"AB=two", NULL };
	struct text t = { 0 };

	(void)state;
	exec_expand("$A/${AB}x$AB-$C$ ${A ${}$", variables, &t);
	assert_string_equal(text_get(&t), "one/twoxtwo-$ ${A ${}$");
	text_free(&t);
}

static json_t *description(struct boot_request *r, const struct guest *g, struct settings *s, struct machine *m)
{
	static struct system system = { .archive = (char *)"/a b.tar" };
	static struct image image = { .system = &system, .kernel = (char *)"/k", .initrd = (char *)"/i", .arguments = (char *)"quiet" };
	struct text t = { 0 };
	struct error e = { 0 };
	json_t *d;

	settings_default(s);
	machine_default(m);
	s->ioeventfd = TOGGLE_OFF;
	m->vcpus = 3;
	*r = (struct boot_request){ .name = "1-2", .variant = "none", .boot = 7, .block = 4, .guest = g, .machine = m, .image = &image,
				    .settings = { s }, .source = { "/tmp/a disk" }, .ndisks = 1 };
	assert_int_equal(exec_describe(r, &t, &e), 0);
	d = json_loads(text_get(&t), 0, NULL);
	assert_non_null(d);
	text_free(&t);
	return d;
}

static void test_describe(void **state)
{
	static const char *const want[][2] = {
		{ "KICKBENCH_VARIANT", "none" }, { "KICKBENCH_BOOT", "7" }, { "KICKBENCH_BLOCK", "4" }, { "KICKBENCH_DISK", "/tmp/a disk" },
		{ "KICKBENCH_SERIAL", "kb-disk0" }, { "KICKBENCH_MEMORY", "256M" }, { "KICKBENCH_VCPUS", "3" }, { "KICKBENCH_IOEVENTFD", "off" },
		{ "KICKBENCH_EVENT_IDX", "" }, { "KICKBENCH_QUEUES", "1" }, { "KICKBENCH_KERNEL", "/k" }, { "KICKBENCH_ARGUMENTS", "quiet" },
		{ "KICKBENCH_NAME", "kickbench-1-2" }, { "KICKBENCH_ARCHIVE", "/a b.tar" },
	};
	struct guest g = { .name = (char *)"g", .driver = DRIVER_EXEC, .exec = { .start = (char *)"run 'it'", .link = (char *)"stdio", .baud = 9600 } };
	struct boot_request r;
	struct settings s;
	struct machine m;
	json_t *d = description(&r, &g, &s, &m), *environment = json_object_get(d, "environment");
	char host[64], *text = json_dumps(d, 0);
	uint64_t started;
	const char *key;
	long pid;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_string_equal(json_string_value(json_object_get(environment, want[i][0])) ?: want[i][0], want[i][1]);
	for (size_t i = 0; (key = settings_key(i, NULL)); i++) { /* all of them */
		char name[64] = "KICKBENCH_";

		for (size_t k = 0; key[k]; k++)
			name[10 + k] = key[k] == '_' ? '_' : (char)(key[k] >= 'a' ? key[k] - 32 : key[k]);
		if (!json_object_get(environment, name))
			fail_msg("%s is missing", name);
	}
	assert_string_equal(json_string_value(json_object_get(d, "start")), "run 'it'");
	assert_null(json_object_get(d, "stop"));
	assert_int_equal(exec_owner(text, host, sizeof(host), &pid, &started), 0);
	assert_int_equal(pid, getpid());
	assert_true(started == process_started(getpid()));
	assert_int_equal(exec_owner("{}", host, sizeof(host), &pid, &started), -1);
	free(text);
	json_decref(d);
	settings_free(&s);
	machine_free(&m);
}

static bool lists(const json_t *list, const char *key)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
		if (!strcmp(json_string_value(json_is_object(one) ? json_object_get(one, "key") : one), key))
			return true;
	return false;
}

static void test_verify(void **state)
{
	struct settings s;
	struct machine m;
	json_t *v;

	(void)state;
	settings_default(&s);
	machine_default(&m);
	s.ioeventfd = TOGGLE_ON;
	s.cache = CACHE_NONE;
	v = exec_verify(&s, &m, NULL);
	assert_true(lists(json_object_get(v, "unverified"), "ioeventfd"));
	assert_true(lists(json_object_get(v, "unverified"), "queues"));
	assert_false(lists(json_object_get(v, "unverified"), "event_idx")); /* not asked for */
	assert_int_equal(json_array_size(json_object_get(v, "mismatch")), 0);
	json_decref(v);
	v = exec_verify(&s, &m, "noise\n ioeventfd=on\r\nqueues=2\nevent_idx=off\nIOTHREAD=on\nvcpus=1\nmemory=512M\ncache=nonsense\n"
				"ioevntfd=on\nqueues = 3\n");
	assert_string_equal(json_string_value(json_object_get(json_object_get(v, "verified"), "ioeventfd")), "on");
	assert_string_equal(json_string_value(json_object_get(json_object_get(v, "verified"), "event_idx")), "off");
	assert_string_equal(json_string_value(json_object_get(json_object_get(v, "verified"), "vcpus")), "1");
	assert_int_equal(json_array_size(json_object_get(v, "mismatch")), 4);
	for (size_t i = 0; i < 4; i++) {
		static const char *const keys[] = { "queues", "memory", "cache", "ioevntfd" };

		assert_true(lists(json_object_get(v, "mismatch"), keys[i]));
	}
	assert_true(lists(json_object_get(v, "unverified"), "io"));
	assert_false(lists(json_object_get(v, "unverified"), "ioeventfd"));
	json_decref(v);
	settings_free(&s);
	machine_free(&m);
}

/* ---- with processes ---- */

struct bench {
	struct scratch *s;
	struct hv *hv;
	struct hv_guest *guest;
	struct hv_news news;
	struct error e;
};

static struct bench begin(void **state, struct exec_commands c)
{
	struct bench b = { .s = *state };
	struct guest g = { .name = (char *)"g", .driver = DRIVER_EXEC, .exec = c };
	struct boot_request r;
	struct settings s;
	struct machine m;
	json_t *d = description(&r, &g, &s, &m);
	char *text;

	json_object_set_new(d, "log", json_string(scratch_path(b.s, "log")));
	json_object_set_new(json_object_get(d, "environment"), "T", json_string(b.s->folder));
	text = json_dumps(d, 0);
	assert_int_equal(ops->open(&b.hv, NULL, b.s->folder, &b.e), 0);
	if (ops->start(b.hv, text, NULL, &b.guest, &b.e))
		fail_msg("%s", b.e.text);
	free(text);
	json_decref(d);
	settings_free(&s);
	machine_free(&m);
	return b;
}

/* Until the link (or console) holds words, the state is no longer running, or an error. */
static int await(struct bench *b, const char *link, const char *console, double seconds)
{
	double end = clock_s() + seconds;
	int status = 0;

	while (!status && clock_s() < end && b->news.state == HV_RUNNING && (!link || !strstr(text_get(&b->news.link), link)) &&
	       (!console || !strstr(text_get(&b->news.console), console)))
		status = ops->wait(b->guest, 50, &b->news, &b->e);
	return status;
}

static size_t entries(const char *folder)
{
	DIR *dir = opendir(folder);
	size_t n = 0;

	for (struct dirent *d; dir && (d = readdir(dir));)
		n += d->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void finish(struct bench *b)
{
	char folder[64], records[300];
	pid_t group = b->guest->pid;

	snprintf(folder, sizeof(folder), "%s", b->guest->folder);
	assert_int_equal(access(folder, F_OK), 0);
	ops->destroy(b->guest);
	assert_int_not_equal(access(folder, F_OK), 0);
	for (int i = 0; i < 500 && command_group_lives(group); i++)
		usleep(10000);
	if (command_group_lives(group))
		fail_msg("something of group %d lives", (int)group);
	snprintf(records, sizeof(records), "%s/exec", b->s->folder);
	assert_int_equal(entries(records), 0);
	ops->close(b->hv);
	text_free(&b->news.link);
	text_free(&b->news.console);
}

static void test_stdio(void **state)
{
	struct bench b = begin(state, (struct exec_commands){ .start = (char *)"echo ready $KICKBENCH_VARIANT; echo to-stderr >&2; read x; echo got $x; read y",
							      .link = (char *)"stdio" });
	assert_int_equal(await(&b, "ready none\n", NULL, 5), 0);
	assert_int_equal(await(&b, NULL, "to-stderr", 5), 0);
	/* the only port: its bytes are the console's, too */
	holds(text_get(&b.news.console), "ready none");
	assert_int_equal(ops->send(b.guest, "he", 2, &b.e), 0);
	assert_int_equal(ops->type(b.guest, "llo\n", 4, &b.e), 0);
	assert_int_equal(await(&b, "got hello\n", NULL, 5), 0);
	assert_int_equal(b.news.state, HV_RUNNING);
	assert_int_equal(ops->send(b.guest, "\n", 1, &b.e), 0);
	await(&b, NULL, NULL, 5);
	assert_int_equal(b.news.state, HV_OFF);
	assert_int_equal(ops->state(b.guest), HV_OFF);
	assert_int_equal(ops->qmp(b.guest, "{}", NULL, &b.e), -1);
	finish(&b);
}

static void test_start_fails(void **state)
{
	struct bench b = begin(state, (struct exec_commands){ .start = (char *)"echo 'no such \033[1mmachine'; exit 3", .link = (char *)"unix $KICKBENCH_FOLDER/x" });

	assert_int_equal(await(&b, "never", NULL, 5), -1);
	holds(b.e.text, "status 3");
	holds(b.e.text, "no such ?[1mmachine");
	assert_int_equal(b.e.status, STATUS_HOST);
	finish(&b);
}

/* It never opens its port: told in the console, ended by its group, whatever it ignores. */
static void test_start_hangs(void **state)
{
	struct bench b = begin(state, (struct exec_commands){ .start = (char *)"trap '' HUP; sleep 1000 & wait", .link = (char *)"unix $KICKBENCH_FOLDER/x" });

	assert_int_equal(await(&b, NULL, "kickbench waits for the link", 6), 0);
	holds(text_get(&b.news.console), "/x: No such file");
	assert_int_equal(b.news.state, HV_RUNNING);
	assert_int_equal(ops->send(b.guest, "x", 1, &b.e), -1);
	holds(b.e.text, "not connected");
	finish(&b);
}

static void test_dies(void **state)
{
	struct bench b = begin(state, (struct exec_commands){ .start = (char *)"echo up; sleep 0.2; kill -9 $$", .link = (char *)"stdio" });

	await(&b, "never", NULL, 5);
	assert_int_equal(b.news.state, HV_CRASHED);
	holds(text_get(&b.news.link), "up");
	finish(&b);
}

/* A command that starts the guest and returns, as vmctl does; the guest is a process of another session. */
static const char daemon_start[] =
	"setsid sh -c 'echo $$ >$T/pid; mkfifo $T/f; exec 3<>$T/f; while read w <&3; do [ $w = stop ] && exit; done' </dev/null >/dev/null 2>&1 & "
	"while [ ! -p $T/f ]; do sleep 0.02; done; sleep 0.05";

static bool lives(struct bench *b)
{
	FILE *f = fopen(scratch_path(b->s, "pid"), "r");
	int pid = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	return process_started(pid) != 0;
}

/* An end needs a moment until it is seen. */
static bool goes(struct bench *b)
{
	for (int i = 0; i < 500 && lives(b); i++)
		usleep(10000);
	return !lives(b);
}

static void test_elsewhere(void **state)
{
	struct bench b = begin(state, (struct exec_commands){ .start = (char *)daemon_start, .stop = (char *)"echo stopping; echo stop >$T/f; sleep 0.2",
							      .link = (char *)"unix $KICKBENCH_FOLDER/x" });
	char text[64] = "";
	FILE *f;

	for (int i = 0; i < 100 && !b.guest->returned; i++)
		assert_int_equal(ops->wait(b.guest, 50, &b.news, &b.e), 0);
	assert_true(b.guest->returned);
	assert_int_equal(b.news.state, HV_RUNNING);
	assert_true(lives(&b));
	finish(&b);
	assert_true(goes(&b));
	f = fopen(scratch_path(b.s, "log"), "r"); /* what stop printed */
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "stopping\n");
}

/* stop does nothing, so kill has to. */
static void test_kill(void **state)
{
	struct bench b = begin(state, (struct exec_commands){ .start = (char *)daemon_start, .stop = (char *)"exit 1",
							      .kill = (char *)"kill -9 $(cat $T/pid)", .link = (char *)"unix $KICKBENCH_FOLDER/x" });

	for (int i = 0; i < 100 && !b.guest->returned; i++)
		assert_int_equal(ops->wait(b.guest, 50, &b.news, &b.e), 0);
	finish(&b);
	assert_true(goes(&b));
}

static void test_commands(void **state)
{
	char *const variables[] = { (char *)"WORD=a b", NULL };
	struct text out = { 0 };
	double start = clock_s();

	(void)state;
	assert_int_equal(command_run("echo \"$WORD\"; exit 7", variables, 5, &out), 7);
	assert_string_equal(text_get(&out), "a b\n");
	assert_int_equal(command_run("kill -TERM $$", variables, 5, NULL), 128 + SIGTERM);
	assert_int_equal(command_run("trap '' TERM; sleep 50", variables, 0.2, NULL), COMMAND_TIMEOUT);
	/* a child that keeps the pipe does not keep us, and is ended */
	assert_int_equal(command_run("sleep 60 & exit 0", variables, 20, NULL), 0);
	assert_true(clock_s() - start < 10);
	text_free(&out);
}

static void test_leftover(void **state)
{
	struct scratch *s = *state;
	int status;
	pid_t owner = fork();
	struct hv *hv;
	struct error e = { 0 };
	FILE *f;
	int group = 0;

	if (owner == 0) { /* a kickbench that is killed */
		struct bench b = begin(state, (struct exec_commands){ .start = (char *)"sleep 1000 & echo $$ >$T/group.new; mv $T/group.new $T/group; "
									      "[ -z \"$LEAVE\" ] || exit 0; wait",
								      .kill = (char *)"echo $KICKBENCH_NAME >$T/killed", .link = (char *)"stdio" });

		while (access(scratch_path(s, "group"), F_OK))
			ops->wait(b.guest, 20, &b.news, &b.e);
		raise(SIGKILL);
	}
	waitpid(owner, &status, 0);
	assert_true(WIFSIGNALED(status));
	f = fopen(scratch_path(s, "group"), "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &group), 1);
	fclose(f);
	assert_true(command_group_lives(group));
	assert_int_equal(ops->open(&hv, NULL, s->folder, &e), 0);
	assert_int_equal(leftovers_destroy(ops, hv, NULL, &e), 1);
	for (int i = 0; i < 200 && command_group_lives(group); i++)
		usleep(10000);
	assert_false(command_group_lives(group));
	assert_int_equal(access(scratch_path(s, "killed"), F_OK), 0);
	assert_int_equal(leftovers_destroy(ops, hv, NULL, &e), 0);
	ops->close(hv);
}

/* The same when the start command itself has gone and only a child of it is left. */
static void test_leftover_child(void **state)
{
	setenv("LEAVE", "1", 1);
	test_leftover(state);
	unsetenv("LEAVE");
}

/* ---- a slow line ---- */

/* A port without flow control: it takes 16 bytes each 2 ms, and what does not fit is lost. */
struct slow {
	int fd;
	size_t taken;
	bool stop;
};

static void *read_slowly(void *context)
{
	struct slow *slow = context;
	char bytes[4096];
	bool stop;
	ssize_t n;

	do {
		stop = __atomic_load_n(&slow->stop, __ATOMIC_ACQUIRE);
		n = read(slow->fd, bytes, sizeof(bytes));
		if (n > 0)
			slow->taken += n > 64 ? 64 : (size_t)n; /* what came since the last turn and has no room is overrun */
		usleep(2000);
	} while (n > 0 || !stop);
	return NULL;
}

static size_t send_over_pty(unsigned baud, size_t count)
{
	static char bytes[2000];
	struct slow slow = { 0 };
	struct hv_guest guest = { .baud = baud, .console.form.kind = EXEC_PORT_NONE };
	struct error e = { 0 };
	pthread_t thread;
	char path[64];
	int slave;

	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(openpty(&slow.fd, &slave, path, NULL, NULL), 0);
	fcntl(slow.fd, F_SETFL, O_NONBLOCK);
	guest.link.in = guest.link.out = exec_port_open(EXEC_PORT_PTY, path);
	assert_true(guest.link.in >= 0);
	assert_int_equal(pthread_create(&thread, NULL, read_slowly, &slow), 0);
	assert_true(count <= sizeof(bytes));
	assert_int_equal(ops->send(&guest, bytes, count, &e), 0);
	usleep(50000);
	__atomic_store_n(&slow.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	close(guest.link.in);
	close(slave);
	close(slow.fd);
	return slow.taken;
}

static void test_pace(void **state)
{
	double start = clock_s();

	(void)state;
	assert_true(send_over_pty(0, 400) < 400); /* the test can fail: unpaced, it is overrun */
	start = clock_s();
	send_over_pty(115200, 2000);
	assert_true(clock_s() - start > 2000 * 10 / 115200.0);
	/* slow enough for a reader that this machine holds up for half a second */
	assert_int_equal(send_over_pty(1200, 400), 400);
}

/* Bytes arrive as they are: no echo, no CR, no signal characters. */
static void test_raw(void **state)
{
	static const char bytes[] = "a\r\n\003\004\021\177\377";
	char path[64], got[16];
	int master, slave, fd;

	(void)state;
	assert_int_equal(openpty(&master, &slave, path, NULL, NULL), 0);
	fd = exec_port_open(EXEC_PORT_PTY, path);
	assert_true(fd >= 0);
	assert_int_equal(write(master, bytes, 8), 8);
	assert_int_equal(poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, 5000), 1);
	assert_int_equal(read(fd, got, sizeof(got)), 8);
	assert_memory_equal(got, bytes, 8);
	assert_int_equal(write(fd, bytes, 8), 8);
	assert_int_equal(read(master, got, sizeof(got)), 8); /* and no echo before it */
	assert_memory_equal(got, bytes, 8);
	close(fd);
	close(master);
	close(slave);
	fd = exec_port_open(EXEC_PORT_PTY, "/dev/null"); /* no terminal */
	assert_int_equal(fd, -1);
	assert_int_equal(errno, ENOTTY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_verify),
		cmocka_unit_test(test_commands),
		cmocka_unit_test_setup_teardown(test_stdio, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_start_fails, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_start_hangs, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_dies, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_elsewhere, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_kill, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_leftover, scratch_open, scratch_close),
		cmocka_unit_test_setup_teardown(test_leftover_child, scratch_open, scratch_close),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_raw),
	};

	return cmocka_run_group_tests_name("hypervisor_exec", tests, NULL, NULL);
}
