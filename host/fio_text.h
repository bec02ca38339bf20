/*
 * Reader of fio's text reports: 1.x, 2.x and 3.x, as fio printed them or as mails, wikis and terminals left them.
 *
 * Lines may be quoted ("> "), prefixed ("# ", "+"), re-indented or wrapped; progress lines may be glued to text;
 * several outputs may follow each other. Every number that fio prints more than once (bandwidth in both units, amount
 * and runtime, IOPS and block size, counts of I/Os) is compared as the interval that its rounding stands for; the
 * document holds what agrees, and a mark names what does not. The sampling lines ("bw (KiB/s):", "iops:") and the
 * distributions of latency and depth are not read: the former drift or are per job in fio before 3.18, the latter are
 * shares of all directions.
 */
#ifndef KB_FIO_TEXT_H
#define KB_FIO_TEXT_H

#include "host/fio_import.h"

/* Append what the bytes hold to into's arrays; arrays that are NULL are made. Bytes without a report add nothing. */
int fio_text_read(const char *bytes, size_t length, struct fio_import *into, struct error *e);

#endif
