import { AppError } from "@cognition/contract";

export function taskCompleted(task_id: string): AppError {
  return new AppError(
    "task_completed",
    `Task ${task_id} is complete: this change was not stored. What was stored before stays; start a new task to go on.`,
  );
}
