/** What is asked of the agent. `note` is unique: by it an effect is known to be of one message, whoever called the tool. */
export const REQUESTS = {
  hello: () => "Hello, who are you?",
  charge: (note: string) => `Use the charge tool with note="${note}"`,
  record: (note: string) => `Use the record tool with note="${note}"`,
  linger: (note: string) => `Use the linger tool with note="${note}"`,
  order: (note: string) => `Use the order tool with note="${note}"`,
  steps: (note: string) =>
    `Use the charge tool with note="${note}-1", then use the record tool with note="${note}-2", then use the charge tool with note="${note}-3"`,
  slow_steps: (note: string) =>
    `Use the linger tool with note="${note}-1", then use the linger tool with note="${note}-2", then use the charge tool with note="${note}-3"`,
  held_steps: (note: string) =>
    `Use the hold tool with note="${note}-1", then use the record tool with note="${note}-2", then use the charge tool with note="${note}-3"`,
  helper: (note: string) => `Delegate to helper: Use the charge tool with note="${note}"`,
  file: (note: string) => `Create a file named ${note}.txt containing exactly the word ${note}`,
  command: (note: string, commands: string) => `Run the command: sh -c "echo ${note} >> ${commands}"`,
  ponder: (note: string) => `Use the ponder tool with note="${note}"`,
} as const;
export type RequestKind = keyof typeof REQUESTS;
