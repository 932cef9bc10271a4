import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError, isAppError } from "@cognition/contract";
import { answerWithin } from "../answer-within.ts";
import { messageOf } from "./error-text.ts";
import { providePackages } from "./provided-packages.ts";

/** A module that waits for something at its top would otherwise hold up the start for ever. */
const LOADING_MS = 10_000;

/**
 * What `./graphs/support.ts#graph` names: an export of a module, whose path is relative to `root`; without `#` its
 * default export. Throws `invalid_config` with the name of what asked for it.
 */
export async function loadExport(root: string, reference: string, asker: string): Promise<unknown> {
  const [path = "", name = "default"] = reference.split("#");
  const refuse = (reason: string, cause?: unknown) =>
    new AppError("invalid_config", `${asker}: ${reference} ${reason}`, {
      details: { asker, reference },
      ...(cause === undefined ? {} : { cause }),
    });
  if (path === "") throw refuse("names no file; write ./path/to/module.ts#export");
  providePackages();
  const exported = await importInTime(pathToFileURL(resolve(root, path)).href, refuse);
  if (Object.hasOwn(exported, name)) return exported[name];
  const valid = Object.keys(exported).sort().join(", ") || "nothing";
  throw refuse(`has no export "${name}"; it exports: ${valid}`);
}

type Refuse = (reason: string, cause?: unknown) => AppError;

async function importInTime(url: string, refuse: Refuse): Promise<Record<string, unknown>> {
  const late = () => {
    throw refuse(`was not loaded within ${LOADING_MS} ms`);
  };
  try {
    return { ...(await answerWithin<Record<string, unknown>>(LOADING_MS, import(url), late)) };
  } catch (error) {
    if (isAppError(error, "invalid_config")) throw error;
    throw refuse(`can't be loaded: ${messageOf(error)}`, error);
  }
}
