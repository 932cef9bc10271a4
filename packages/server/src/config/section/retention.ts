import { decimal, option, section, wholeNumber } from "../option.ts";

const MAX_DAYS = 36_500;
const WEEK_S = 7 * 24 * 3600;

export const RetentionSection = section({
  checkpoints_keep_last: option(wholeNumber(1, 1_000_000).optional(), {
    description:
      "Checkpoints of each session that stay, the newest; older ones go. Where a fork began, what waits for an answer and the ends of undone branches stay too.",
    unset: "all stay",
  }),
  checkpoints_max_age_days: option(decimal(0, MAX_DAYS).optional(), {
    description:
      "Checkpoints older than so many days go, except as `checkpoints_keep_last` says (the newest one, if it is not set).",
    unset: "all stay",
  }),
  redo_keep: option(wholeNumber(0, 1_000_000).optional(), {
    description:
      "Undone branches of each session whose end stays, so that a rewind can be redone; those of older rewinds go. Needs one of the two above.",
    unset: "all stay",
  }),
  events_fold_after_days: option(decimal(0, MAX_DAYS).optional(), {
    description: "The token events of runs that ended so many days ago become one event for each message.",
    unset: "never",
  }),
  deliveries_max_age_days: option(decimal(0, MAX_DAYS).default(30), {
    description:
      "Callbacks that were delivered, or given up, go after so many days. Those of a deleted session go with it, or with their last attempt.",
  }),
  interval: option(decimal(1, WEEK_S).default(3600), {
    description:
      "Seconds between two sweeps, whichever node does them. A sweep always removes what nobody can reach: expired idempotency keys and memory items, full rate limits, files of no checkpoint.",
  }),
});
