import type { Approval, Decision, DecisionType } from "@cognition/contract";
import { button, element } from "./element.ts";
import { shown, visible } from "./words.ts";

type Answer = Omit<Decision, "id">;

export interface ApprovalsView {
  readonly isOpen: boolean;
  /** What waits now. What somebody is about to answer stays as it is. */
  show(approvals: readonly Approval[]): void;
}

/** Asks about each; all answers go together, since the run goes on with the last of them. */
export function createApprovalsView(
  place: HTMLElement,
  onDecided: (decisions: Decision[]) => Promise<unknown>,
  onError: (error: unknown) => void,
): ApprovalsView {
  let asked = "";

  /** Refused, or not received: they can be given again. */
  function reopen(decisions: Map<string, Decision>): void {
    decisions.clear();
    for (const form of place.querySelectorAll("fieldset")) form.disabled = false;
  }

  return {
    get isOpen() {
      return asked !== "";
    },
    show(approvals) {
      const ids = approvals.map(({ id }) => id).join();
      if (ids === asked) return;
      asked = ids;
      const decisions = new Map<string, Decision>();
      place.replaceChildren(
        ...approvals.map((approval) =>
          card(approval, (form, answer) => {
            decisions.set(approval.id, { id: approval.id, ...answer });
            form.disabled = true;
            if (decisions.size < approvals.length) return;
            onDecided([...decisions.values()]).catch((error: unknown) => {
              reopen(decisions);
              onError(error);
            });
          }),
        ),
      );
    },
  };
}

/** All that is to be allowed, however long: nobody can allow what he has not seen. */
function card(approval: Approval, onAnswer: (form: HTMLFieldSetElement, answer: Answer) => void): HTMLElement {
  const { agent = "The agent", tool_name, args = {}, value, description, allowed_decisions: allowed } = approval;
  const may = (type: DecisionType) => allowed.includes(type);
  const form = element(
    "fieldset",
    {},
    element("legend", {}, tool_name ? `${visible(agent)} wants to use ${visible(tool_name)}` : "The agent asks"),
  );
  if (description !== undefined) form.append(element("p", {}, visible(description)));
  const rows = tool_name ? Object.entries(args) : [["", value] as const];
  const list = element("dl");
  for (const [name, each] of rows)
    list.append(element("dt", {}, visible(name)), element("dd", {}, element("pre", {}, shown(each))));
  form.append(list);
  if (may("edit")) form.append(editor(args, (edited) => onAnswer(form, { type: "edit", args: edited })));
  const words = element("input", {
    placeholder: may("respond") ? "Your answer, or a reason against it" : "A reason against it, if you have one",
    ariaLabel: "Your words",
  });
  if (may("respond") || may("reject")) form.append(words);
  const message = () => (words.value === "" ? {} : { message: words.value });
  if (may("approve")) form.append(button("Approve", () => onAnswer(form, { type: "approve" }), "main"));
  if (may("respond")) form.append(button("Respond", () => onAnswer(form, { type: "respond", value: words.value })));
  if (may("reject")) form.append(button("Reject", () => onAnswer(form, { type: "reject", ...message() })));
  return form;
}

function editor(args: object, onEdited: (args: Record<string, unknown>) => void): HTMLElement {
  const text = JSON.stringify(args, null, 2);
  const field = element("textarea", {
    value: text,
    rows: Math.min(text.split("\n").length + 1, 12),
    ariaLabel: "Arguments as JSON",
  });
  const take = () => {
    const edited = readObject(field.value);
    field.setCustomValidity(edited ? "" : "This is no JSON object");
    if (edited) onEdited(edited);
    else field.reportValidity();
  };
  field.oninput = () => field.setCustomValidity("");
  return element(
    "details",
    {},
    element("summary", {}, "Change the arguments"),
    field,
    button("Approve as changed", take),
  );
}

function readObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined; // told to whoever typed it
  }
}
