export { AppError, isAppError } from "@cognition/contract";
