import { parentPort, workerData } from "node:worker_threads";
import { toPage } from "./page-text.ts";

const { html, url, format } = workerData;
parentPort?.postMessage(toPage(html, url, format));
