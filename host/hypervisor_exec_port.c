#include "host/hypervisor_exec_port.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

const char *exec_port_parse(const char *text, struct exec_port_form *out)
{
	static const struct {
		const char *word;
		enum exec_port_kind kind;
	} forms[] = { { "pty", EXEC_PORT_PTY }, { "unix", EXEC_PORT_UNIX }, { "stdio", EXEC_PORT_STDIO } };

	*out = (struct exec_port_form){ .kind = EXEC_PORT_NONE, .path = "" };
	if (!text)
		return NULL;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		size_t n = strlen(forms[i].word);

		if (strncmp(text, forms[i].word, n) || (text[n] && text[n] != ' ' && text[n] != '\t'))
			continue;
		out->kind = forms[i].kind;
		out->path = text + n + strspn(text + n, " \t");
	}
	if (out->kind == EXEC_PORT_NONE || !*out->path != (out->kind == EXEC_PORT_STDIO))
		return "a serial port is \"pty PATH\", \"unix PATH\" or \"stdio\"";
	return NULL;
}

const char *exec_check(const struct exec_commands *c)
{
	struct exec_port_form link, console;
	const char *why;

	if (!c->start)
		return "driver = exec needs start = COMMAND";
	if (!c->link)
		return "driver = exec needs link = pty PATH, unix PATH or stdio: the serial port of the guest's agent";
	why = exec_port_parse(c->link, &link);
	if (!why)
		why = exec_port_parse(c->console, &console);
	if (!why && link.kind == EXEC_PORT_STDIO && console.kind == EXEC_PORT_STDIO)
		return "link and console cannot both be stdio: leave console out when both are one serial port";
	return why;
}

static const char *value_of(char *const *variables, const char *name, size_t length)
{
	for (; *variables; variables++)
		if (!strncmp(*variables, name, length) && (*variables)[length] == '=')
			return *variables + length + 1;
	return "";
}

void exec_expand(const char *text, char *const *variables, struct text *out)
{
	while (*text) {
		const char *name = text + 1;
		size_t n = 0;
		bool brace = *text == '$' && *name == '{';

		name += brace;
		while (*text == '$' && (isalnum((unsigned char)name[n]) || name[n] == '_'))
			n++;
		if (!n || (brace && name[n] != '}')) {
			text_add_bytes(out, text++, 1);
			continue;
		}
		text_add(out, "%s", value_of(variables, name, n));
		text = name + n + brace;
	}
}

static int open_terminal(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), saved;
	struct termios t;

	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &t) == 0) {
		cfmakeraw(&t);
		t.c_cflag |= CLOCAL | CREAD;
		t.c_iflag &= (tcflag_t)~(IXON | IXOFF);
		t.c_cc[VMIN] = 1;
		t.c_cc[VTIME] = 0;
		if (tcsetattr(fd, TCSANOW, &t) == 0)
			return fd;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static int open_socket(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd, saved;

	if (strlen(path) >= sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int exec_port_open(enum exec_port_kind kind, const char *path)
{
	return kind == EXEC_PORT_PTY ? open_terminal(path) : open_socket(path);
}
