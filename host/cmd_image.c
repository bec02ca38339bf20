#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/command.h"
#include "host/image_make.h"
#include "host/overlay.h"
#include "host/parse.h"
#include "host/program.h"
#include "host/session.h"

struct options {
	const char *os;
	struct download media;
	const char *output;
	enum accel accel;
};

/* Where things of one image are. */
struct places {
	struct text recipe, output, password, log, work, downloads;
};

static void free_places(struct places *p)
{
	text_free(&p->recipe);
	text_free(&p->output);
	text_free(&p->password);
	text_free(&p->log);
	text_free(&p->work);
	text_free(&p->downloads);
}

static int find_places(const struct dirs *dirs, const char *os, const char *output, struct places *p, struct error *e)
{
	*p = (struct places){ 0 };
	text_add(&p->recipe, "%s/images/%s", dirs->data, os);
	if (output)
		text_add(&p->output, "%s", output);
	else
		text_add(&p->output, "%s/images/%s/%s.qcow2", dirs->build, os, os);
	if (output)
		text_add(&p->password, "%s.password", output);
	else
		text_add(&p->password, "%s/images/%s/password", dirs->build, os);
	text_add(&p->log, "%s.log", text_get(&p->output));
	text_add(&p->work, "%s/overlays", dirs->state);
	text_add(&p->downloads, "%s/media", dirs->cache);
	if (!p->recipe.failed && !p->output.failed && !p->password.failed && !p->log.failed && !p->work.failed &&
	    !p->downloads.failed)
		return 0;
	free_places(p);
	return error_set(e, STATUS_HOST, "out of memory");
}

static bool has(const char *folder, const char *name)
{
	char *file = dirs_join(folder, name);
	bool there = file && access(file, R_OK) == 0;

	free(file);
	return there;
}

/* ---- list ---- */

static int is_recipe(const struct dirent *d)
{
	return *d->d_name != '.';
}

static int list(const struct dirs *dirs, struct error *e)
{
	struct dirent **names = NULL;
	char *images = dirs_join(dirs->data, "images");
	int n = images ? scandir(images, &names, is_recipe, alphasort) : -1;

	if (n < 0)
		error_errno(e, STATUS_HOST, "%s", images ? images : "images");
	for (int i = 0; i < n; i++) {
		struct places at = { 0 };
		struct profile p;

		if (!e->status && find_places(dirs, names[i]->d_name, NULL, &at, e) == 0 &&
		    has(text_get(&at.recipe), "install.ini") && image_make_recipe(text_get(&at.recipe), &p, e) == 0) {
			bool made = access(text_get(&at.output), R_OK) == 0;

			bool builds = has(text_get(&at.recipe), "build.sh");

			printf("%-10s %s%s\n           %s\n", names[i]->d_name, made ? text_get(&at.output) : "not made",
			       builds ? " (without --media: made here from packages)" : "", p.status);
			profile_free(&p);
		}
		free_places(&at);
		free(names[i]);
	}
	free(names);
	free(images);
	return e->status;
}

/* ---- make ---- */

static int parse(int argc, char **argv, struct options *o, struct error *e)
{
	static const struct option longs[] = {
		{ "media", required_argument, NULL, 'm' }, { "digest", required_argument, NULL, 'd' },
		{ "signify", required_argument, NULL, 's' }, { "output", required_argument, NULL, 'o' },
		{ "accel", required_argument, NULL, 'a' }, { NULL, 0, NULL, 0 },
	};
	static const char *const accels[] = { "tcg", "kvm", NULL };
	int c = 0, more;

	*o = (struct options){ .accel = ACCEL_TCG };
	while ((more = command_option("image", argc, argv, longs, &c, e)) > 0) {
		if (c == 'm')
			o->media.media = optarg;
		else if (c == 'd')
			o->media.digest = optarg;
		else if (c == 's')
			o->media.key = optarg;
		else if (c == 'o')
			o->output = optarg;
		else if (parse_word(optarg, accels) >= 0)
			o->accel = parse_word(optarg, accels) ? ACCEL_KVM : ACCEL_TCG;
		else
			return error_set(e, STATUS_USAGE, "image: --accel %s: expected tcg or kvm", optarg);
	}
	if (more)
		return -1;
	if (argc - optind != 1)
		return error_set(e, STATUS_USAGE, "image make: name one operating system (kickbench image list)");
	o->os = argv[optind];
	if (strchr(o->os, '/') || *o->os == '.')
		return error_set(e, STATUS_USAGE, "image make: %s is no operating system's name (kickbench image list)", o->os);
	if (!o->media.media && (o->media.digest || o->media.key || o->output))
		return error_set(e, STATUS_USAGE, "image make: --digest, --signify and -o go with --media");
	return 0;
}

/* What the image's folder can do without media. */
static int build(const struct options *o, const struct places *at, struct error *e)
{
	char *script = dirs_join(text_get(&at->recipe), "build.sh");
	char *folder = strdup(text_get(&at->output)), *slash = folder ? strrchr(folder, '/') : NULL;
	const char *argv[] = { "sh", script, folder, NULL };
	int status = -1;

	if (!script || !folder)
		error_set(e, STATUS_HOST, "out of memory");
	else if (access(script, R_OK))
		error_set(e, STATUS_USAGE, "image make %s needs --media FILE or URL: %s/install.ini says which", o->os,
			  text_get(&at->recipe));
	else {
		*slash = '\0'; /* where it is put is never the user's own name */
		status = program_must(argv, &(struct program){ "dash", -1, true, &command_signal, 0 }, "the image could not be made",
				      e);
	}
	free(script);
	free(folder);
	return status;
}

static int make_from(const struct options *o, const struct places *at, const char *media, struct error *e)
{
	struct session s = { .lock = -1 };
	struct image_make m = { .recipe = text_get(&at->recipe), .media = media, .output = text_get(&at->output),
				.password = text_get(&at->password), .work = text_get(&at->work), .log = text_get(&at->log),
				.accel = o->accel, .say = command_say, .interrupted = &command_signal };
	int status = session_open(&s, DRIVER_LIBVIRT, NULL, "image make", e);

	if (!status) {
		overlay_sweep(m.work);
		m.ops = s.ops;
		m.hv = s.hv;
		status = image_make(&m, e);
		session_close(&s);
	}
	if (!status)
		unlink(m.log);
	return status;
}

static int from_media(struct options *o, const struct places *at, struct error *e)
{
	char *media = NULL, *folder = strdup(text_get(&at->output)), *slash = folder ? strrchr(folder, '/') : NULL;
	int status = -1;

	o->media.folder = text_get(&at->downloads);
	o->media.say = command_say;
	o->media.interrupted = &command_signal;
	if (slash > folder)
		*slash = '\0';
	if (!folder)
		error_set(e, STATUS_HOST, "out of memory");
	else if (access(text_get(&at->output), F_OK) == 0)
		error_set(e, STATUS_USAGE, "%s is there already: remove it, or name another with -o", text_get(&at->output));
	else if ((slash <= folder || o->output || dirs_make(folder, e) == 0) && download_media(&o->media, &media, e) == 0)
		status = make_from(o, at, media, e);
	free(folder);
	free(media);
	return status;
}

static void tell(const struct options *o, const struct places *at)
{
	bool own = has(text_get(&at->recipe), "guest.ini");

	printf("made; in a scenario:\n[guest %s]\nimage = %s\nprofile = %s\npassword_file = %s\n", o->os, text_get(&at->output),
	       own ? o->os : "linux", text_get(&at->password));
}

static int make(int argc, char **argv, const struct dirs *dirs, struct error *e)
{
	struct options o;
	struct places at;
	struct profile p;

	if (parse(argc, argv, &o, e) || (o.media.media && download_check(&o.media, e)) || find_places(dirs, o.os, o.output, &at, e))
		return e->status;
	if (!has(text_get(&at.recipe), "install.ini")) {
		error_set(e, STATUS_USAGE, "image make: there is no recipe for %s (kickbench image list)", o.os);
	} else if (image_make_recipe(text_get(&at.recipe), &p, e) == 0) {
		profile_free(&p);
		if ((o.media.media ? from_media(&o, &at, e) : build(&o, &at, e)) == 0)
			tell(&o, &at);
	}
	free_places(&at);
	return e->status;
}

static int run(int argc, char **argv, struct error *e)
{
	struct dirs dirs;

	if (argc < 2 || (strcmp(argv[1], "list") && strcmp(argv[1], "make")))
		return error_set(e, STATUS_USAGE, "image: expected list or make (see kickbench help)"), e->status;
	if (dirs_find(&dirs, e))
		return e->status;
	if (!strcmp(argv[1], "make"))
		return make(argc - 1, argv + 1, &dirs, e);
	if (argc > 2)
		return error_set(e, STATUS_USAGE, "image list takes no arguments"), e->status;
	return list(&dirs, e);
}

const struct command cmd_image = { "image", "image list | image make OS [--media FILE|URL] [--digest sha256:HEX | --signify PUBKEY] "
				   "[--accel tcg|kvm] [-o FILE]",
				   "a guest's disk image from its system's official media, unattended", run };
