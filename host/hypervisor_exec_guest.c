/* One guest of driver = exec: its commands, its ports, its state, its end. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/file_write.h"
#include "host/hypervisor_exec.h"
#include "host/hypervisor_exec_command.h"
#include "host/os.h"
#include "host/process.h"

#define CONNECT_AGAIN_S 0.05
#define TELL_WAITING_S 3.0 /* a port that is not there by then is spoken of */
#define LAST_WORD_S 0.3    /* how long after the link's end the start command's status may come */
#define JUST_BEGUN_S 5.0
#define SLICE_MS 50
#define STOP_S 10.0
#define KILL_S 10.0
#define AFTER_S 2.0 /* for an end to be seen */
#define VERIFY_S 20.0
#define TAIL_BYTES 1024

static const char *text_of(const struct hv_guest *guest, const char *key)
{
	return json_string_value(json_object_get(guest->description, key));
}

/* ---- start ---- */

static int prepare(struct hv_guest *guest, const char *description, struct error *e)
{
	const char *base = getenv("TMPDIR");
	json_error_t why;

	guest->description = json_loads(description, 0, &why);
	if (!guest->description)
		return error_set(e, STATUS_HOST, "the guest's description: %s", why.text);
	/* Not in the state folder: a Unix socket's path has room for about 100 bytes. */
	if (!base || strlen(base) > 30 || *base != '/')
		base = "/tmp";
	snprintf(guest->folder, sizeof(guest->folder), "%s/kickbench-XXXXXX", base);
	if (!mkdtemp(guest->folder)) {
		guest->folder[0] = '\0';
		return error_errno(e, STATUS_HOST, "cannot make a folder in %s", base);
	}
	guest->variables = exec_variables(guest->description, guest->folder);
	if (!guest->variables)
		return error_set(e, STATUS_HOST, "out of memory");
	exec_port_parse(text_of(guest, "link"), &guest->link.form);
	exec_port_parse(text_of(guest, "console"), &guest->console.form);
	exec_expand(guest->link.form.path, guest->variables, &guest->link.path);
	exec_expand(guest->console.form.path, guest->variables, &guest->console.path);
	guest->baud = (unsigned)json_integer_value(json_object_get(guest->description, "baud"));
	text_add(&guest->record, "%s/%s.json", guest->hv->folder, text_of(guest, "name"));
	return 0;
}

/* What whoever comes after a crash needs to know. */
static int write_record(struct hv_guest *guest, struct error *e)
{
	char *text;
	int status;

	json_object_set_new(guest->description, "folder", json_string(guest->folder));
	json_object_set_new(guest->description, "group", json_pack("{s:I,s:I}", "pid", (json_int_t)guest->pid, "started",
								   (json_int_t)process_started(guest->pid)));
	text = json_dumps(guest->description, JSON_INDENT(1));
	if (!text)
		return error_set(e, STATUS_HOST, "out of memory");
	status = file_write(text_get(&guest->record), text, strlen(text), e);
	free(text);
	return status;
}

static int spawn(struct hv_guest *guest, struct error *e)
{
	bool link = guest->link.form.kind == EXEC_PORT_STDIO, console = guest->console.form.kind == EXEC_PORT_STDIO;
	struct exec_port *port = link ? &guest->link : console ? &guest->console : NULL;
	int said[2] = { -1, -1 }, in[2] = { -1, -1 }, out[2] = { -1, -1 }, gate = -1, status = -1;
	struct command_io io;

	if (os_pipe(said) || (port && (os_pipe(in) || os_pipe(out)))) {
		error_errno(e, STATUS_HOST, "cannot make a pipe");
		goto out;
	}
	io = (struct command_io){ .in = in[0], .out = port ? out[1] : said[1], .err = said[1] };
	guest->pid = command_spawn(text_of(guest, "start"), guest->variables, &io, &gate);
	if (guest->pid < 0) {
		guest->pid = 0;
		error_errno(e, STATUS_HOST, "cannot run the start command");
		goto out;
	}
	if (write_record(guest, e)) {
		close(gate);
		goto out;
	}
	command_begin(gate);
	guest->output = said[0];
	fcntl(said[0], F_SETFL, O_NONBLOCK);
	if (port) {
		port->in = out[0];
		port->out = in[1];
		fcntl(out[0], F_SETFL, O_NONBLOCK);
		fcntl(in[1], F_SETFL, O_NONBLOCK);
	}
	said[0] = out[0] = in[1] = -1;
	status = 0;
out:
	for (int i = 0; i < 2; i++) {
		int fds[] = { said[i], in[i], out[i] };

		for (int k = 0; k < 3; k++)
			if (fds[k] >= 0)
				close(fds[k]);
	}
	return status;
}

/* It does not wait for anything: whoever waits for the guest looks whether there was a signal. */
int exec_guest_start(struct hv *hv, const char *description, const volatile sig_atomic_t *interrupted, struct hv_guest **out,
		     struct error *e)
{
	struct hv_guest *guest = calloc(1, sizeof(*guest));

	(void)interrupted;
	*out = NULL;
	if (!guest)
		return error_set(e, STATUS_HOST, "out of memory");
	guest->hv = hv;
	guest->output = guest->link.in = guest->link.out = guest->console.in = guest->console.out = -1;
	guest->started_s = clock_s();
	if (prepare(guest, description, e) || spawn(guest, e)) {
		exec_guest_destroy(guest);
		return -1;
	}
	*out = guest;
	return 0;
}

/* ---- while it runs ---- */

static bool wanted(const struct exec_port *port)
{
	return (port->form.kind == EXEC_PORT_PTY || port->form.kind == EXEC_PORT_UNIX) && port->in < 0 && !port->ended;
}

static void connect_port(struct hv_guest *guest, struct exec_port *port, const char *what, struct hv_news *news)
{
	if (!wanted(port))
		return;
	port->in = port->out = exec_port_open(port->form.kind, text_get(&port->path));
	port->why_not = port->in < 0 ? errno : 0;
	if (port->in >= 0 || guest->told_waiting || clock_s() - guest->started_s < TELL_WAITING_S)
		return;
	guest->told_waiting = true;
	text_add(&news->console, "kickbench waits for the %s %s: %s\n", what, text_get(&port->path), strerror(port->why_not));
}

static void connect_ports(struct hv_guest *guest, struct hv_news *news)
{
	if ((!wanted(&guest->link) && !wanted(&guest->console)) || clock_s() - guest->port_at_s < CONNECT_AGAIN_S)
		return;
	guest->port_at_s = clock_s();
	connect_port(guest, &guest->link, "link", news);
	connect_port(guest, &guest->console, "console", news);
}

static void close_port(struct exec_port *port)
{
	if (port->out >= 0 && port->out != port->in)
		close(port->out);
	if (port->in >= 0)
		close(port->in);
	port->in = port->out = -1;
}

/* Everything that a descriptor has. False: it has come to its end. */
static bool take(int fd, struct text *into)
{
	char part[4096];
	ssize_t n;

	while ((n = read(fd, part, sizeof(part))) > 0)
		text_add_bytes(into, part, (size_t)n);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/*
 * A port of which nothing was ever heard is tried again at its end: a pty or a null-modem device whose other side is not
 * open yet looks the same.
 */
static void take_port(struct hv_guest *guest, struct exec_port *port, struct text *into)
{
	size_t before = into->length;
	bool open;

	if (port->in < 0)
		return;
	open = take(port->in, into);
	if (into->length > before && guest->heard_s == 0)
		guest->heard_s = clock_s();
	if (open)
		return;
	close_port(port);
	port->ended = guest->heard_s > 0 || guest->ended || port->form.kind == EXEC_PORT_STDIO;
	if (port->ended && port == &guest->link)
		guest->off_at_s = clock_s();
}

static void take_output(struct hv_guest *guest, struct text *into)
{
	size_t before = into->length;

	if (guest->output < 0)
		return;
	if (!take(guest->output, into)) {
		close(guest->output);
		guest->output = -1;
	}
	text_add_bytes(&guest->tail, text_get(into) + before, into->length - before);
	if (guest->tail.length > 2 * TAIL_BYTES) {
		memmove(guest->tail.data, guest->tail.data + guest->tail.length - TAIL_BYTES, TAIL_BYTES + 1);
		guest->tail.length = TAIL_BYTES;
	}
}

static void look_after(struct hv_guest *guest)
{
	if (guest->ended || !command_ended(guest->pid, &guest->status))
		return;
	guest->ended = true;
	/* A guest's own end comes later, or with the end of its link. */
	guest->returned = guest->status == 0 && guest->link.form.kind != EXEC_PORT_STDIO &&
			  (guest->heard_s == 0 || clock_s() - guest->heard_s < JUST_BEGUN_S);
}

/* Whether it went too early, which is no end of a guest but a command that failed. */
static int check_start(const struct hv_guest *guest, struct error *e)
{
	struct text said = { 0 };
	const char *p = text_get(&guest->tail);

	if (!guest->ended || guest->status == 0 || guest->heard_s > 0)
		return 0;
	for (; *p; p += strspn(p, "\r\n")) {
		size_t n = strcspn(p, "\r\n");

		text_add(&said, "\n  | ");
		for (size_t i = 0; i < n && i < 160; i++)
			text_add(&said, "%c", p[i] >= ' ' && p[i] < 0x7f ? p[i] : '?');
		p += n;
	}
	error_set(e, STATUS_HOST, "the start command ended with status %d before the guest said anything%s%.700s", guest->status,
		  said.length ? "; what it printed:" : "", text_get(&said));
	text_free(&said);
	return -1;
}

/* Told only when the last bytes are in: after an end nothing comes any more. */
static enum hv_state state_of(const struct hv_guest *guest)
{
	if (guest->ended && !guest->returned)
		return guest->status ? HV_CRASHED : HV_OFF;
	if (guest->link.ended && (guest->returned || clock_s() - guest->off_at_s > LAST_WORD_S))
		return HV_OFF;
	return HV_RUNNING;
}

enum hv_state exec_guest_state(struct hv_guest *guest)
{
	look_after(guest);
	return state_of(guest);
}

/*
 * Everything there is, once. False: only what the start command printed, and the ports come next time: a port that is
 * link and console in one is known by both having said the same.
 */
static bool pump(struct hv_guest *guest, struct hv_news *news)
{
	bool alone = guest->console.form.kind == EXEC_PORT_NONE;
	size_t before = news->link.length, console = news->console.length;

	connect_ports(guest, news);
	look_after(guest); /* first: what it said before its end is there by now */
	take_output(guest, &news->console);
	if (alone && news->console.length > console)
		return false;
	take_port(guest, &guest->console, &news->console);
	take_port(guest, &guest->link, &news->link);
	if (news->link.length > before) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (!before)
			news->at_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		if (alone)
			text_add_bytes(&news->console, text_get(&news->link) + before, news->link.length - before);
	}
	return true;
}

int exec_guest_wait(struct hv_guest *guest, int timeout_ms, struct hv_news *news, struct error *e)
{
	double end = clock_s() + timeout_ms / 1e3;
	size_t link = news->link.length, console = news->console.length;

	for (;;) {
		struct pollfd p[] = { { .fd = guest->link.in, .events = POLLIN }, { .fd = guest->console.in, .events = POLLIN },
				      { .fd = guest->output, .events = POLLIN } };
		double left;

		news->state = pump(guest, news) ? state_of(guest) : guest->told;
		if (check_start(guest, e))
			return -1;
		left = end - clock_s();
		if (news->link.length > link || news->console.length > console || news->state != guest->told || left <= 0)
			break;
		if (poll(p, 3, left * 1e3 < SLICE_MS ? (int)(left * 1e3) + 1 : SLICE_MS) < 0 && errno == EINTR)
			break; /* a signal: whoever waits wants to see it */
	}
	guest->told = news->state;
	return 0;
}

/* ---- the other commands ---- */

/* What they print belongs to the console log, whose owner has no part in this. */
static void log_output(const struct hv_guest *guest, const struct text *said)
{
	const char *path = text_of(guest, "log");
	int fd = path && said->length ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (fd < 0)
		return;
	if (write(fd, text_get(said), said->length) < 0) {
		/* a log is not worth an error */
	}
	close(fd);
}

static int run_command(struct hv_guest *guest, const char *key, double seconds, struct text *out)
{
	struct text said = { 0 };
	int status = command_run(text_of(guest, key), guest->variables, seconds, &said);

	log_output(guest, &said);
	if (out)
		text_add_bytes(out, text_get(&said), said.length);
	text_free(&said);
	return status;
}

int exec_guest_live(struct hv_guest *guest, struct text *out, struct error *e)
{
	int status;

	if (!text_of(guest, "verify"))
		return error_set(e, STATUS_HOST, "there is no verify command");
	status = run_command(guest, "verify", VERIFY_S, out);
	if (status == 0)
		return 0;
	return status == COMMAND_TIMEOUT ? error_set(e, STATUS_HOST, "the verify command has not ended within %.0f s", VERIFY_S)
					 : error_set(e, STATUS_HOST, "the verify command ended with status %d", status);
}

/* ---- end ---- */

static bool over(struct hv_guest *guest)
{
	return guest->returned ? guest->link.ended : guest->ended;
}

/* Wait for an end and keep its ports empty, so that nobody hangs in a write. */
static void await_end(struct hv_guest *guest, double seconds)
{
	double end = clock_s() + seconds;
	struct hv_news news = { 0 };

	while (!over(guest) && clock_s() < end) {
		struct error ignored = { 0 };

		exec_guest_wait(guest, SLICE_MS, &news, &ignored);
		text_reset(&news.link);
		text_reset(&news.console);
	}
	text_free(&news.link);
	text_free(&news.console);
}

static void end_guest(struct hv_guest *guest)
{
	bool gone = over(guest);
	int status;

	if (text_of(guest, "stop")) { /* also after an end: it may have something to put away */
		status = run_command(guest, "stop", STOP_S, NULL);
		/* Nobody else tells the end of a guest that runs elsewhere, over a line that has none. */
		gone = gone || (guest->returned && status == 0);
	} else if (!gone) {
		kill(-guest->pid, SIGTERM);
	}
	if (!gone)
		await_end(guest, text_of(guest, "stop") ? AFTER_S : STOP_S);
	if (!gone && !over(guest) && text_of(guest, "kill")) {
		run_command(guest, "kill", KILL_S, NULL);
		await_end(guest, AFTER_S);
	}
	kill(-guest->pid, SIGKILL); /* and whatever was left behind */
	while (waitpid(guest->pid, NULL, 0) < 0 && errno == EINTR)
		;
	for (double end = clock_s() + AFTER_S; command_group_lives(guest->pid) && clock_s() < end;)
		poll(NULL, 0, 2);
}

void exec_guest_destroy(struct hv_guest *guest)
{
	if (!guest)
		return;
	if (guest->pid > 0)
		end_guest(guest);
	close_port(&guest->link);
	close_port(&guest->console);
	if (guest->output >= 0)
		close(guest->output);
	if (*guest->folder)
		exec_remove_folder(guest->folder);
	if (guest->record.length)
		unlink(text_get(&guest->record));
	text_free(&guest->link.path);
	text_free(&guest->console.path);
	text_free(&guest->tail);
	text_free(&guest->record);
	exec_free_variables(guest->variables);
	json_decref(guest->description);
	free(guest);
}
