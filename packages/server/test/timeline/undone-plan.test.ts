import type { ApprovalPage, Message, Run, Session } from "@cognition/contract";
import { expect, it } from "vitest";
import { make, startTalk, type Talk } from "./talk.ts";

/** A session whose plan was approved and carried out, after a turn in which it only read. */
async function startApproved(type: "approve" | "respond" = "approve"): Promise<Talk> {
  const talk = await startTalk({}, { mode: "plan" });
  await talk.say("Hello");
  await talk.say(make("a.txt", "one"));
  const { approvals } = (await (await talk.on.ask("/approvals")).json()) as ApprovalPage;
  const decision = { id: approvals[0]?.id, type, ...(type === "respond" && { message: "Not now." }) };
  expect((await talk.post<Run>("/resume", { decisions: [decision] })).body.status).toBe("succeeded");
  return talk;
}

const modeOf = async (talk: Talk) => (await talk.get<Session>("")).body.mode;

it("a rewind behind the approval of a plan has the session plan again; a redo does not make it work by itself", async () => {
  const talk = await startApproved();
  expect([await modeOf(talk), talk.file("a.txt")]).toEqual(["auto", "one"]);
  const { previous_head } = await talk.rewind({ last: "turn", dry_run: true });
  expect(await modeOf(talk)).toBe("auto");
  await talk.rewind({ last: "turn" });
  expect([await modeOf(talk), talk.file("a.txt")]).toEqual(["plan", undefined]);
  await talk.say(make("b.txt", "two"));
  expect((await talk.get<Session>("")).body.status).toBe("waiting_for_approval");
  await talk.post("/abort", {});
  await talk.rewind({ checkpoint_id: previous_head });
  expect([await modeOf(talk), talk.file("a.txt")]).toEqual(["plan", "one"]);
});

it("one that takes back what was done since leaves it at work, and so does one of the files alone", async () => {
  const talk = await startApproved();
  await talk.say(make("b.txt", "two"));
  await talk.rewind({ last: "turn" });
  expect(await modeOf(talk)).toBe("auto");
  const [first] = (await talk.checkpoints()).slice(-1);
  await talk.rewind({ checkpoint_id: first?.id, restore: ["files"] });
  expect(await modeOf(talk)).toBe("auto");
});

it("what was set by hand stays: only an approval is undone", async () => {
  const talk = await startApproved("respond");
  const [first] = (await talk.checkpoints()).slice(-1);
  await talk.on.ask(`/sessions/${talk.session.id}`, { method: "PATCH", json: { mode: "auto" } });
  await talk.rewind({ checkpoint_id: first?.id });
  expect(await modeOf(talk)).toBe("auto");
});

it("a fork from before the approval plans, one from after it works", async () => {
  const talk = await startApproved();
  const [head] = await talk.checkpoints();
  const [hello] = (await talk.get<{ messages: Message[] }>("/messages?order=asc")).body.messages;
  expect((await talk.post<Session>("/fork", { message_id: hello?.id })).body.mode).toBe("plan");
  expect((await talk.post<Session>("/fork", { checkpoint_id: head?.id })).body.mode).toBe("auto");
  expect((await talk.post<Session>("/fork", {})).body.mode).toBe("auto");
  expect(await modeOf(talk)).toBe("auto");
});

it("a message that answers what was said before the approval is planned", async () => {
  const talk = await startApproved();
  const [hello] = (await talk.get<{ messages: Message[] }>("/messages?order=asc")).body.messages;
  await talk.say(make("b.txt", "two"), { parent_id: hello?.id });
  expect((await talk.get<Session>("")).body).toMatchObject({ status: "waiting_for_approval", mode: "plan" });
  expect(talk.file("b.txt")).toBeUndefined();
});
