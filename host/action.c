#include "host/action.h"

#include "host/clock.h"

#define LOST_FRAME_MS 1000 /* silence after which a lost frame is asked for */

/* The number of its own frame: no other action has that one. */
int action_send(struct boot *b, const char *action, const char *disk, int cpu, unsigned *id, struct error *e)
{
	json_t *body;
	int status;

	*id = b->link.sent + 1;
	body = json_pack("{s:i,s:s}", "id", (int)*id, "action", action);
	if (body && disk)
		json_object_set_new(body, "disk", json_string(disk));
	if (body && cpu >= 0)
		json_object_set_new(body, "cpu", json_integer(cpu));
	if (!body)
		return error_set(e, STATUS_HOST, "out of memory");
	status = link_send(&b->link, FRAME_ACTION, body, e);
	json_decref(body);
	return status;
}

bool action_answers(const struct message *m, unsigned id, const char **problem)
{
	const json_t *its = json_object_get(m->body, "id"), *error = json_object_get(m->body, "error");

	if (problem)
		*problem = NULL;
	if (m->type != FRAME_ACTION || !json_is_integer(its) || json_integer_value(its) != (json_int_t)id)
		return false;
	if (problem && !json_is_null(error))
		*problem = json_string_value(error) ?: "an answer that does not say whether it went well";
	return true;
}

bool action_done(const struct message *m)
{
	return m->type == FRAME_ACTION && json_is_true(json_object_get(m->body, "done"));
}

static int take_answer(const char *action, json_t *body, const char *problem, json_t **reply, struct error *e)
{
	if (problem)
		return error_set(e, STATUS_INCOMPLETE, "the guest on %s: %s", action, problem);
	if (reply)
		*reply = json_incref(body);
	return 0;
}

int action_call(struct boot *b, const char *action, const char *disk, int cpu, double timeout, json_t **reply, struct error *e)
{
	double end = clock_s() + timeout, left;
	const char *problem;
	struct message m;
	bool answered;
	unsigned id;
	int status;

	if (reply)
		*reply = NULL;
	if (action_send(b, action, disk, cpu, &id, e))
		return -1;
	while ((left = end - clock_s()) > 0) {
		status = link_receive(&b->link, left * 1000 < LOST_FRAME_MS ? (int)(left * 1000) + 1 : LOST_FRAME_MS, &m, e);
		if (status < 0 || (status == 0 && link_nudge(&b->link, e)))
			return -1;
		if (status == 0)
			continue;
		answered = action_answers(&m, id, &problem);
		status = answered ? take_answer(action, m.body, problem, reply, e) : 0;
		json_decref(m.body);
		if (answered)
			return status;
	}
	return error_set(e, STATUS_INCOMPLETE, "the guest has not answered on %s within %.0f s", action, timeout);
}
