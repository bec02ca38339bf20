#ifndef KB_VERSION_H
#define KB_VERSION_H

#define KICKBENCH_VERSION "0.1.0"

#endif
