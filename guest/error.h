/*
 * The one error convention of both programs: a function that can fail returns 0 or -1
 * (or NULL) and fills a struct error that its caller owns. The first error wins.
 */
#ifndef KB_ERROR_H
#define KB_ERROR_H

/* Exit statuses of kickbench; kickio uses STATUS_FAILED for a usage error, as fio does. */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,     /* a verdict named by fail_on occurred */
	STATUS_USAGE = 2,      /* command line or scenario is wrong */
	STATUS_INCOMPLETE = 3, /* the run stopped before its end */
	STATUS_HOST = 4,       /* this host cannot do it */
};

struct error {
	int status; /* enum status; 0 while there is no error */
	char text[4096]; /* room for the end of a console */
};

#if defined(__GNUC__)
#define KB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define KB_PRINTF(f, a)
#endif

/* Record a message. Does nothing if e already holds one. Always returns -1. */
int error_set(struct error *e, enum status status, const char *fmt, ...) KB_PRINTF(3, 4);

/* The same, followed by ": " and the text of errno as it was on entry. */
int error_errno(struct error *e, enum status status, const char *fmt, ...) KB_PRINTF(3, 4);

/* The same as error_set, in front of it "FILE:LINE: " (line 0: only the file). */
int error_at(struct error *e, enum status status, const char *file, int line, const char *fmt, ...)
	KB_PRINTF(5, 6);

/* Put "context: " before the message that e holds. Always returns -1. */
int error_context(struct error *e, const char *fmt, ...) KB_PRINTF(2, 3);

void error_clear(struct error *e);

#endif
