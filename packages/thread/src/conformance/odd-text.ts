/** Text that stores get wrong: quotes, wildcards, escapes, control characters, several planes and directions. */
export const ODD_TEXTS: readonly string[] = [
  "",
  " leading and trailing ",
  'it\'s "quoted" \\ back\\\\slashed',
  "100% _under_ ? $1 :name @x",
  "line\nbreak\r\ntab\tbell\u0007escape\u001bdelete\u007f",
  "日本語 ελληνικά العربية עברית",
  "👩‍👩‍👧‍👦 𝒳 é é ﷽ \u2028\u2029\ufeff\ufffd",
  '{"a":[1,null]}',
  "'; drop table sessions; --",
];

/** About a million characters, of one to four bytes each. */
export const LONG_TEXT = "aé漢👋".repeat(200_000);
