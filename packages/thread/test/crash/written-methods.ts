/** Methods of the storage that write nothing. A new method is taken for one that writes until it stands here. */
const READ_ONLY = new Set([
  "initialize",
  "close",
  "healthCheck",
  "getCheckpointer",
  "closeCheckpointer",
  "getStore",
  "getChatStore",
  "getSession",
  "listSessions",
  "countSessions",
  "getMessage",
  "getMessagesBySession",
  "listMessagesForSession",
  "getRun",
  "listRuns",
  "readEvents",
  "lastEventId",
  "followEvents",
  "listToolCalls",
  "getDelivery",
  "listDeliveries",
  "artifacts.getArtifact",
  "artifacts.getVersion",
  "artifacts.readContent",
  "artifacts.listArtifacts",
  "artifacts.listVersions",
  "artifacts.diffVersions",
  "profiles.getProfile",
  "tasks.loadTask",
  "tasks.listTasks",
  "apiKeys.findApiKey",
  "apiKeys.listApiKeys",
  "chats.setup",
  "chats.teardown",
  "chats.load",
  "chats.getMessages",
]);

/** Methods that may write, and that no step of the writer's work has called. */
export function neverCalled(methods: readonly string[], called: readonly string[]): string[] {
  return methods.filter((method) => !READ_ONLY.has(method) && !called.includes(method));
}
