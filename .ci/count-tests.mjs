// Adds up the reports of the vitest runs in a folder. Plain JavaScript: it also runs where npm ci has failed and the
// machine's own Node strips no types.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "."] = process.argv.slice(2);
const reports = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));

const passed = sum(reports.map((report) => report.numPassedTests));
const failed = sum(reports.map((report) => report.numFailedTests + brokenFiles(report)));

const again = reports.flatMap(passedAgain);
if (again.length > 0) {
  console.log(
    "\nPassed at the second try only. Each is a race, in the test or in the program, and wants to be mended:",
  );
  for (const { fullName, failureMessages } of again)
    console.log(`  ${fullName}\n    ${firstLines(failureMessages[0])}`);
}
if (passed + failed === 0) console.log("\nNo test has run, which counts as a failure.");
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;

/** Test files that failed as a whole, for example because they could not be loaded: none of their tests is counted. */
function brokenFiles({ testResults }) {
  const hasFailedTest = (file) => file.assertionResults.some((result) => result.status === "failed");
  return testResults.filter((file) => file.status === "failed" && !hasFailedTest(file)).length;
}

/** Tests that have passed, with the message of a failure before. */
function passedAgain({ testResults }) {
  const hasStumbled = ({ status, failureMessages }) => status === "passed" && failureMessages.length > 0;
  return testResults.flatMap((file) => file.assertionResults.filter(hasStumbled));
}

/** What went wrong; where stands in what was printed. */
function firstLines(message) {
  return message.split("\n").slice(0, 8).join("\n    ");
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
