export const PRESENT_PLAN = "present_plan";
/** What the model is told of a plan that was approved begins with this, and nothing else that it is told of one does. */
export const APPROVED = "The user approved this plan.";
