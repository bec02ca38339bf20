/* The beginning of every answer to an action (host/action.h), of the agent and of the probe. */
#ifndef KB_ACTION_ANSWER_H
#define KB_ACTION_ANSWER_H

#include <stdint.h>

#include "guest/text.h"

/* {"id":…,"action":…,"error":…, without the closing brace. problem: NULL, none. The caller's. */
static inline struct text action_answer(uint64_t id, const char *action, const char *problem)
{
	struct text t = {0};

	text_add(&t, "{\"id\":%llu,\"action\":", (unsigned long long)id);
	text_add_json_string(&t, action);
	text_add(&t, ",\"error\":");
	if (problem)
		text_add_json_string(&t, problem);
	else
		text_add(&t, "null");
	return t;
}

#endif
