/* What installers and first starts say on a serial console and are answered: as manuals and published logs show it. */
#ifndef KB_TESTS_INSTALLERS_H
#define KB_TESTS_INSTALLERS_H

#include "tests/unit/scripted_console.h"

#define LOADER \
	{ NULL, "SeaBIOS (version 1.16.2)\r\nBooting from Hard Disk...\r\nUsing drive 0, partition 3.\r\nLoading......\r\n" \
	  "probing: pc0 com0 com1 mem[638K 1022M a20=on]\r\ndisk: hd0+ hd1+\r\n>> OpenBSD/amd64 BOOT 3.67\r\nboot> ", false }, \
	{ "stty com0 115200\n", "boot> ", false }, \
	{ "set tty com0\n", "switching console to com0\r\n>> OpenBSD/amd64 BOOT 3.67\r\nboot> ", false }, \
	{ "boot\n", "booting hd0a:/7.8/amd64/bsd.rd: 4+1+3+0+0 [1+2]=0x1\r\nOpenBSD 7.8 (RAMDISK_CD)\r\nroot on rd0a swap on rd0b dump on rd0b\r\n" \
	  "erase ^?, werase ^W, kill ^U, intr ^C, status ^T\r\n\r\nWelcome to the OpenBSD/amd64 7.8 installation program.\r\n" \
	  "(I)nstall, (U)pgrade, (A)utoinstall or (S)hell? ", false }, \
	{ "i\n", "At any prompt except password prompts you can escape to a shell by\r\ntyping '!'. Default answers are shown in []'s and " \
	  "are selected by\r\npressing RETURN.\r\n\r\nTerminal type? [vt220] ", false }, \
	{ "vt220\n", "System hostname? (short form, e.g. 'foo') ", false }

/* 7.8, as its manual and logs of 7.x show it. */
static const struct turn openbsd[] = {
	LOADER,
	{ "kickbench\n", "\r\nAvailable network interfaces are: vlan0.\r\nNetwork interface to configure? (name, lladdr, '?', or 'done') [done] ", false },
	{ "done\n", "DNS domain name? (e.g. 'example.com') [my.domain] ", false },
	{ "\n", "DNS nameservers? (IP address list or 'none') [none] ", false },
	{ "none\n", "\r\nPassword for root account? (will not echo) ", false },
	{ "secret\n", "\r\nPassword for root account? (again) ", true },
	{ "secret\n", "\r\nStart sshd(8) by default? [yes] ", true },
	{ "no\n", "Do you expect to run the X Window System? [yes] ", false },
	{ "no\n", "Change the default console to com0? [yes] ", false },
	{ "yes\n", "Available speeds are: 9600 19200 38400 57600 115200.\r\nWhich speed should com0 use? (or 'done') [115200] ", false },
	{ "115200\n", "Setup a user? (enter a lower-case loginname, or 'no') [no] ", false },
	{ "no\n", "What timezone are you in? ('?' for list) [Canada/Mountain] ", false },
	{ "UTC\n", "\r\nAvailable disks are: sd0 sd1.\r\nWhich disk is the root disk? ('?' for details) [sd0] ", false },
	{ "sd1\n", "Encrypt the root disk with a (p)assphrase or (k)eydisk? [no] ", false },
	{ "no\n", "No valid MBR or GPT.\r\nUse (W)hole disk MBR, whole disk (G)PT or (E)dit? [whole] ", false },
	{ "whole\n", "Setting OpenBSD MBR partition to whole sd1...done.\r\nThe auto-allocated layout for sd1 is:\r\n"
	  "#                size           offset  fstype [fsize bsize   cpg]\r\n  a:          1024.0M               64  4.2BSD   2048 16384     1 # /\r\n"
	  "Use (A)uto layout, (E)dit auto layout, or create (C)ustom layout? [a] ", false },
	{ "a\n", "newfs: reduced number of fragments per cylinder group\r\n/dev/rsd1a: 1024.0MB in 2097152 sectors of 512 bytes\r\n"
	  "Available disks are: sd0.\r\nWhich disk do you wish to initialize? (or 'done') [done] ", false },
	{ "done\n", "/dev/sd1a (0123456789abcdef.a) on /mnt type ffs (rw, asynchronous, local)\r\n\r\nLet's install the sets!\r\n"
	  "Location of sets? (disk http nfs or 'done') [http] ", false },
	{ "disk\n", "Is the disk partition already mounted? [yes] ", false },
	{ "no\n", "Available disks are: sd0 sd1.\r\nWhich disk contains the install media? (or 'done') [sd0] ", false },
	{ "sd0\n", "  a:          1441792             1024  4.2BSD   2048 16384 16142\r\n  i:              960               64   MSDOS\r\n"
	  "Available sd0 partitions are: a i.\r\nWhich sd0 partition has the install sets? (or 'done') [a] ", false },
	{ "a\n", "Pathname to the sets? (or 'done') [7.8/amd64] ", false },
	{ "\n", "\r\nSelect sets by entering a set name, a file name pattern or 'all'. De-select\r\nsets by prepending a '-', e.g.: '-game*'. "
	  "Selected sets are labelled '[X]'.\r\n    [X] bsd           [X] base78.tgz    [X] game78.tgz    [X] xfont78.tgz\r\n"
	  "Set name(s)? (or 'abort' or 'done') [done] ", false },
	{ "-x* -game*\n", "    [X] bsd           [X] base78.tgz    [ ] game78.tgz    [ ] xfont78.tgz\r\n"
	  "Set name(s)? (or 'abort' or 'done') [done] ", false },
	{ "done\n", "Directory does not contain SHA256.sig. Continue without verification? [no] ", false },
	{ "yes\n", "Installing bsd          100% |**************************| 24811 KB    00:01    \r\n"
	  "Installing base78.tgz    41% |**********               |   160 MB    00:12 ETA\r"
	  "Installing base78.tgz   100% |*************************|   390 MB    00:29    \r\n"
	  "Location of sets? (disk http nfs or 'done') [done] ", false },
	{ "done\n", "Time appears wrong.  Set to 'Sun Nov 30 10:00:00 UTC 2025'? [yes] ", false },
	{ "yes\n", "Saving configuration files... done.\r\nMaking all device nodes... done.\r\nRelinking to create unique kernel... done.\r\n\r\n"
	  "CONGRATULATIONS! Your OpenBSD install has been successfully completed!\r\n\r\nWhen you login to your new system the first time, please "
	  "read your mail\r\nusing the 'mail' command.\r\n\r\nExit to (S)hell, (H)alt or (R)eboot? [reboot] ", false },
	{ "s\n", "To boot the new system, enter 'reboot' at the command prompt.\r\nkickbench# ", false },
	{ "halt -p\n", "syncing disks... done\r\n", false },
	{ NULL, NULL, false },
};

/* An older one asks less, and in other words: no network interface at all, no encryption, no X. */
static const struct turn older[] = {
	LOADER,
	{ "kickbench\n", "\r\nPassword for root account? (will not echo) ", false },
	{ "secret\n", "\r\nPassword for root account? (again) ", true },
	{ "secret\n", "\r\nStart sshd(8) by default? [yes] ", true },
	{ "no\n", "Change the default console to com0? [no] ", false },
	{ "yes\n", "Available speeds are: 9600 19200 38400 57600 115200.\r\nWhich speed should com0 use? (or 'done') [9600] ", false },
	{ "115200\n", "Setup a user? (enter a lower-case loginname, or 'no') [no] ", false },
	{ "no\n", "Since no user was setup, root logins via sshd(8) might be useful.\r\nAllow root ssh login? (yes, no, prohibit-password) [no] ", false },
	{ "no\n", "What timezone are you in? ('?' for list) [UTC] ", false },
	{ "UTC\n", "\r\nAvailable disks are: sd0 sd1.\r\nWhich disk is the root disk? ('?' for details) [sd0] ", false },
	{ "sd1\n", "MBR has invalid signature; not showing it.\r\nUse (W)hole disk or (E)dit the MBR? [whole] ", false },
	{ "whole\n", "Use (A)uto layout, (E)dit auto layout, or create (C)ustom layout? [a] ", false },
	{ "a\n", "Available disks are: sd0.\r\nWhich disk do you wish to initialize? (or 'done') [done] ", false },
	{ "done\n", "Location of sets? (disk http or 'done') [disk] ", false },
	{ "disk\n", "Is the disk partition already mounted? [no] ", false },
	{ "no\n", "Available disks are: sd0 sd1.\r\nWhich disk contains the install media? (or 'done') [sd1] ", false },
	{ "sd0\n", "Pathname to the sets? (or 'done') [6.8/amd64] ", false },
	{ "\n", "Set name(s)? (or 'abort' or 'done') [done] ", false },
	{ "-x* -game*\n", "Set name(s)? (or 'abort' or 'done') [done] ", false },
	{ "done\n", "Directory does not contain SHA256.sig. Continue without verification? [no] ", false },
	{ "yes\n", "Location of sets? (disk http or 'done') [done] ", false },
	{ "done\n", "CONGRATULATIONS! Your OpenBSD install has been successfully completed!\r\n\r\n"
	  "Exit to (S)hell, (H)alt or (R)eboot? [reboot] ", false },
	{ "s\n", "kickbench# ", false },
	{ "halt -p\n", "syncing disks... done\r\n", false },
	{ NULL, NULL, false },
};

static const struct turn netbsd[] = {
	{ NULL, "SeaBIOS (version 1.16.2)\r\nNetBSD MBR boot\r\nNetBSD/x86 ffsv1 Primary Bootstrap\r\n\033[2J\033[1;1H\r\n"
	  "     1. Boot normally\r\n     2. Boot single user\r\n     3. Drop to boot prompt\r\n\r\n"
	  "Choose an option; RETURN for default; SPACE to stop countdown.\r\nOption 1 will be chosen in 5 seconds.", false },
	{ "3\n", "type \"?\" or \"help\" for help.\r\n> ", false },
	{ "consdev com0,115200\n", "> ", false },
	{ "boot netbsd\n", "booting hd0a:netbsd\r\n[   1.0000000] NetBSD 10.1 (GENERIC)\r\nStarting local daemons:.\r\n\r\n"
	  "NetBSD/amd64 (Amnesiac) (constty)\r\n\r\nlogin: ", false },
	{ "root\n", "NetBSD 10.1 (GENERIC)\r\n\r\nWelcome to NetBSD!\r\n\r\nTerminal type is vt100.\r\nWe recommend that you create a non-root "
	  "account and use su(1) for root access.\r\nAmnesiac# ", false },
	{ "exec env TERM=dumb PS1='kb-ready$ ' /bin/sh +o emacs +o vi\n", "kb-ready$ ", false },
	{ "passwd root\n", "Changing password for root.\r\nNew Password:", false },
	{ "secret\n", "\r\nRetype New Password:", true },
	{ "secret\n", "\r\nkb-ready$ ", true },
	{ "{ echo consdev=com0,115200; cat /boot.cfg; } >/boot.new && mv /boot.new /boot.cfg; echo kb-boot:$?\n", "kb-boot:0\r\nkb-ready$ ", false },
	{ "shutdown -p now\n", "Shutdown NOW!\r\nsyncing disks... done\r\n", false },
	{ NULL, NULL, false },
};

static const struct turn seeded[] = {
	{ NULL, "Booting `Debian GNU/Linux'\r\n[    0.000000] Linux version 6.1.0\r\nkb-seed:done\r\n[  OK  ] Reached target Power Off\r\n", false },
	{ NULL, NULL, false },
};

#endif
