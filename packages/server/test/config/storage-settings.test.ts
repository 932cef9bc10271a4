import { expect, it } from "vitest";
import { storageSettings } from "../../src/config/storage-settings.ts";
import { defaultConfig } from "../../src/config.ts";

it.each([
  ["postgresql://u:hunter2@h:5432/d", "postgres, postgresql://u:***@h:5432/d"],
  [
    "postgresql://u@h/d?password=hunter2&sslmode=require",
    "postgres, postgresql://u@h/d?password=***&sslmode=verify-full",
  ],
  [
    "postgresql:///d?host=/run/pg&user=u&password=hunter2",
    "postgres, postgresql:///d?host=%2Frun%2Fpg&user=u&password=***",
  ],
  ["postgresql://u@h/d?sslmode=require", "postgres, postgresql://u@h/d?sslmode=verify-full"],
])("a database is told without its password, wherever %s has it", (uri, place) => {
  const config = defaultConfig();
  expect(storageSettings({ ...config, persistence: { ...config.persistence, uri } }).place).toBe(place);
});
