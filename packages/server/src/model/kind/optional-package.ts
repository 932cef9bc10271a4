import { AppError } from "@cognition/contract";

/** The package of a kind that is not shipped. Only an absent one is told as such: one that is there and fails to load tells its own reason. */
export async function loadPackage<T>(kind: string, name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isAbsent(error, name)) throw error;
    throw new AppError(
      "invalid_config",
      `Providers of the kind "${kind}" need the package ${name}, which is not installed. ` +
        `Run "npm install ${name}" where the server is installed and start it again, or choose another provider.`,
      { details: { provider: kind, package: name }, cause: error },
    );
  }
}

function isAbsent(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !error.message.includes(name)) return false;
  // Node's own error, or what a bundler puts in the place of an optional package that it did not find.
  return ("code" in error && error.code === "ERR_MODULE_NOT_FOUND") || error.message.startsWith("Could not resolve");
}
