const KIB = 1024;
const MIB = 1024 * KIB;

export const MAX_ID_LENGTH = 255;
export const MAX_THREAD_ID_LENGTH = 255;
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;
export const MAX_CURSOR_LENGTH = 1024;
export const MAX_NAME_LENGTH = 64;
export const MAX_MODEL_NAME_LENGTH = 255;
export const MAX_TITLE_LENGTH = 500;
export const MAX_TEXT_LENGTH = 10_000;
export const MAX_SYSTEM_PROMPT_LENGTH = 200_000;
export const MAX_PATH_LENGTH = 4096;
export const MAX_URL_LENGTH = 2048;
export const MAX_LIST_ITEMS = 1000;

export const MAX_METADATA_ENTRIES = 64;
export const MAX_METADATA_KEY_LENGTH = 128;
export const MAX_METADATA_VALUE_LENGTH = 2048;

export const MAX_SCOPE_KEYS = 16;
export const MAX_SCOPE_KEY_LENGTH = 64;
export const MAX_SCOPE_VALUE_LENGTH = 255;

/** Sizes in bytes of UTF-8. The defaults can be moved by configuration, see `messageContent`. */
export const DEFAULT_MAX_CONTENT_BYTES = MIB;
export const DEFAULT_MAX_ARTIFACT_BYTES = 10 * MIB;
export const DEFAULT_MAX_FILE_BYTES = 10 * MIB;
export const DEFAULT_MAX_STORE_VALUE_BYTES = MIB;
export const DEFAULT_MAX_OUTPUT_BYTES = 100 * KIB;
/** Above the largest field times its worst JSON or base64 overhead, so that the field's own limit is the one reported. */
export const DEFAULT_MAX_BODY_BYTES = 16 * MIB;
/** A page of a list that is larger is refused: it would take the server's memory and time from everybody else. */
export const MAX_ANSWER_BYTES = 64 * MIB;

/** Deeper values parse, but `JSON.stringify` overflows the stack on them: they would be accepted and never stored. */
export const MAX_JSON_DEPTH = 128;
export const MAX_CONTENT_BLOCKS = 1000;
export const MAX_DECISIONS = 100;

export const MAX_PAGE_LIMIT = 500;
export const DEFAULT_PAGE_LIMIT = 50;
export const MAX_EVENT_PAGE_LIMIT = 1000;
export const DEFAULT_EVENT_PAGE_LIMIT = 100;
export const MAX_PAGE_OFFSET = 1_000_000_000;

export const MAX_TEMPERATURE = 2;
export const MAX_MAX_TOKENS = 10_000_000;
export const MAX_RECURSION_LIMIT = 10_000;

export const MAX_NAMESPACE_LABELS = 32;
export const MAX_NAMESPACE_LABEL_LENGTH = 255;
export const MAX_STORE_KEY_LENGTH = 255;
export const MAX_TTL_SECONDS = 10 * 365 * 24 * 3600;

/** How long a lease may be without being renewed; one that ends later than that was taken by a clock that has been put back. */
export const MAX_LEASE_MS = 600_000;
export const IDEMPOTENCY_KEY_TTL_HOURS = 24;
