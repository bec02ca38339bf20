/*
 * images/OS/guest.ini of an operating system that is driven by its console: what things are called there, and the steps
 * of its scripts. A new system is such a file; nothing here knows one by name.
 *
 *	[guest]          one value each: see struct profile
 *	[login NAME]     steps of the script "login", in the file's order: expect, unless, send, timeout
 *	[prepare NAME]   bring kickio in, once per image
 *	[start NAME]     start its agent, at every boot
 *	[check NAME]     which kickio is there: the answer is what the first parentheses of the last step matched ("kickio-0.1.0", "")
 *	[shared NAME]    start its agent on the console's own port, where the guest has no other; its hello is there at the end
 *	[stop NAME]      power the prepared system off (its last step sends the command)
 *	[install NAME]   make the image itself: images/OS/install.ini (image_make.h), which has no other scripts and no login
 *	[answer NAME]    expect, send: at any time in any script
 *	[failure NAME]   expect, message: ends the script; what the first parentheses matched is shown, too
 *
 * In send: \n \r \t \\ \xNN. In expect and unless: \n \t (a line's end, a tab); all else is the regular expression's.
 * Variables of both: $USER $PASSWORD $PROMPT $AGENT $TAR $FOLDER $KICKIO. inih takes " ;" for the beginning of a comment.
 */
#ifndef KB_PROFILE_H
#define KB_PROFILE_H

#include "host/console.h"

enum profile_script {
	PROFILE_LOGIN, PROFILE_PREPARE, PROFILE_START, PROFILE_CHECK, PROFILE_SHARED, PROFILE_STOP, PROFILE_INSTALL,
	PROFILE_SCRIPTS
};

struct profile {
	char *file;
	char *text;   /* of the file: what was prepared with another one is prepared again */
	char *os;     /* "Linux", for messages */
	char *status; /* "run", or what else is to be said of it: "written from manuals, not run" */
	char *agent;  /* device of the second serial port */
	char *tar;    /* device of the second disk, raw where there is a choice */
	char *folder; /* where kickio is put */
	char *user;   /* who logs in (root) */
	char *prompt; /* of the shell: an expression */
	char *media, *size, *seed; /* of an install.ini: see image_make.h; else "" */
	bool login;   /* login = console; none: its agent starts by itself */
	double boot_timeout; /* seconds until the login, or the hello, has to be there */
	struct console_script script[PROFILE_SCRIPTS]; /* sharing the reactions */
	struct console_step *step[PROFILE_SCRIPTS];
	struct console_reaction *reaction;
	size_t nreactions;
};

/* Read and check FILE. On error *p is empty. */
int profile_read(const char *file, struct profile *p, struct error *e);
void profile_free(struct profile *p);

/* The file of a profile's name: a path (with a slash or .ini), or images/NAME/guest.ini below data_dir. The caller frees it. */
char *profile_file(const char *name, const char *data_dir);

#endif
