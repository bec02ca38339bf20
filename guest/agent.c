#include "guest/agent.h"

#include "guest/agent_action.h"
#include "guest/agent_job.h"
#include "guest/agent_link.h"
#include "guest/os.h"
#include "guest/output.h"

#define MAX_DISKS 64
#define HELLO_INTERVAL_MS 1000

void agent_disks_json(struct text *out)
{
	struct os_disk disks[MAX_DISKS];
	size_t n = os_disks(disks, MAX_DISKS);

	text_add(out, "\"disks\":[");
	for (size_t i = 0; i < n; i++) {
		text_add(out, "%s{\"path\":", i ? "," : "");
		text_add_json_string(out, disks[i].path);
		text_add(out, ",\"serial\":");
		text_add_json_string(out, disks[i].serial);
		text_add(out, ",\"bytes\":%llu,\"sector\":%u}", (unsigned long long)disks[i].bytes, disks[i].sector);
	}
	text_add(out, "]");
}

static void add_member(struct text *out, const char *key, const char *value)
{
	text_add(out, "\"%s\":", key);
	text_add_json_string(out, value);
	text_add(out, ",");
}

static void add_info(struct text *out)
{
	struct os_identity id;

	os_identity(&id);
	add_member(out, "kickio", kickio_version);
	add_member(out, "os", id.name);
	add_member(out, "release", id.release);
	add_member(out, "machine", id.machine);
	add_member(out, "clocksource", id.clocksource);
	text_add(out, "\"ncpus\":%u,\"memory_bytes\":%llu,\"uptime_ns\":%llu,", id.ncpus,
		 (unsigned long long)id.memory_bytes, (unsigned long long)id.uptime_ns);
	agent_disks_json(out);
}

void agent_info_json(struct text *out)
{
	text_add(out, "{");
	add_info(out);
	text_add(out, "}");
}

static int send_hello(struct agent_link *link, struct error *e)
{
	struct text payload = {0};
	int ret;

	text_add(&payload, "{\"protocol\":%d,", FRAME_PROTOCOL);
	add_info(&payload);
	text_add(&payload, "}");
	ret = agent_link_send(link, FRAME_HELLO, &payload, e);
	text_free(&payload);
	return ret;
}

static int say_bye(struct agent_link *link, struct error *e)
{
	struct text payload = {0};
	int ret;

	text_add(&payload, "{}");
	ret = agent_link_send(link, FRAME_BYE, &payload, e);
	agent_link_drain(link);
	text_free(&payload);
	return ret;
}

/* The host may attach late, and then has missed the hello: it is repeated, as it was, until the host answers. */
static int serve(struct agent_link *link, struct agent_actions *actions, struct error *e)
{
	struct frame frame;
	int got;

	if (send_hello(link, e) < 0)
		return -1;
	for (;;) {
		got = agent_link_receive(link, HELLO_INTERVAL_MS, &frame, e);
		if (got == 0 && link->last_received == 0)
			got = agent_link_send_again(link, link->hello.seq, e);
		else if (got > 0 && frame.type == FRAME_BYE)
			return say_bye(link, e);
		else if (got > 0 && frame.type == FRAME_ACTION)
			agent_actions_serve(actions, frame.payload);
		else if (got > 0 && (got = agent_job_serve(link, actions, frame.payload, e)) > 0)
			return say_bye(link, e);
		if (got < 0)
			return -1;
	}
}

int agent_serve(const char *device, struct error *e)
{
	struct agent_actions *actions;
	struct agent_link link;
	int ret;

	if (agent_link_open(&link, device, e) < 0)
		return -1;
	actions = agent_actions_new(&link);
	ret = actions ? serve(&link, actions, e) : error_set(e, STATUS_FAILED, "out of memory");
	agent_actions_end(actions);
	agent_link_close(&link);
	return ret;
}
