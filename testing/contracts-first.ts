import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const CONTRACT = /\b(\w+Contract|onEveryEngine)\(/;

/**
 * Vitest starts with the files that took longest the last time; where there was no last time, with the largest. The file that
 * runs a contract suite over every engine is among the smallest and takes longest: it would be at work alone in the end.
 */
export class ContractsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = new Map(sorted.map((file) => [file, CONTRACT.test(readFileSync(file.moduleId, "utf8")) ? 0 : 1]));
    return sorted.toSorted((a, b) => (rank.get(a) ?? 1) - (rank.get(b) ?? 1));
  }
}
