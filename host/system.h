/*
 * A system that is driven by its console: that of a user's disk image. The image is never written to: each boot gets a throw-away
 * overlay. kickio is brought in once, in a preparation boot whose overlay is kept below the cache folder, and what is
 * measured is booted from overlays over that one. What was prepared is known by the image (path, size, time, SHA-256),
 * the archive with kickio and the profile's text; another of these is prepared anew.
 *
 * Or a guest of driver = exec, whose disk is the start command's business, kept or thrown away: there is no image, overlay or
 * preparation boot. In each boot its kickio is asked for, and where it is missing or another one, it is brought in from the archive,
 * which a start command can attach as the second disk.
 */
#ifndef KB_SYSTEM_H
#define KB_SYSTEM_H

#include "host/dirs.h"
#include "host/image.h"
#include "host/profile.h"

#define SYSTEM_VARIABLES 7

struct system {
	struct profile profile;
	bool login;          /* by the console, with kickio brought in; else its agent starts by itself */
	char *image, *format; /* the user's file, an absolute path; NULL: the start command's business, and the next three are, too */
	char *base, *base_format; /* what overlays are laid over: the prepared one, or the image */
	char *overlays;      /* folder of throw-away overlays */
	char *archive;       /* file of the disk with kickio; NULL when there is no need of it */
	bool one_port;       /* the agent gets the console's port */
	char *password;      /* "" none */
	char *kickio;        /* its path in the guest */
	char key[65];        /* of what is prepared, "" nothing */
	struct console_variable variable[SYSTEM_VARIABLES];
	struct console_variables variables; /* for the profile's scripts */
};

/* Look at image, profile and password; nothing is made but the digest of the image. On error *s is NULL. */
int system_find(const struct guest *guest, const struct dirs *dirs, struct system **s, struct error *e);
void system_free(struct system *s);

/*
 * Have kickio in: base is what was prepared before, or comes from a preparation boot now (with the accelerator and the
 * machine of the guest; LOG gets its console). A half-made overlay is never used: it is renamed when its system is off.
 */
struct hv_ops;
struct hv;
struct system_preparation {
	const struct hv_ops *ops;
	struct hv *hv;
	const struct guest *guest;
	const struct machine *machine;
	const struct image *image; /* of this system */
	enum accel accel;
	const struct dirs *dirs;
	const char *log;           /* file, NULL: none */
	void (*say)(const char *line);
	const volatile sig_atomic_t *interrupted;
};
int system_prepare(struct system *s, const struct system_preparation *p, struct error *e);

/* What is booted: the scenario's kernel, if it has one, and this system's disk. */
int system_image(struct system *s, const struct machine *machine, struct image *image, struct error *e);

/* Run a script of the profile; nothing when it has no steps. */
int system_script(const struct system *s, enum profile_script script, struct link *link, struct error *e);

/*
 * What a boot's console is used for: log in, have kickio in, if the guest has none of this version or bring asks for it in any case,
 * start its agent.
 */
int system_use_console(const struct system *s, bool bring, struct link *link, struct error *e);

#endif
