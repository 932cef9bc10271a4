const HIDDEN = "[hidden]";
/** Shorter ones are in half of all words. */
const MIN_SECRET_LENGTH = 6;

/** What a secret looks like that nobody told us of. The first group stays. */
const SHAPES: readonly RegExp[] = [
  /(\b(?:bearer|basic) )[A-Za-z0-9._~+/=-]{6,}/gi,
  /(\bcog_[0-9a-f]{10}_)[A-Za-z0-9_-]{43}/g,
  /()\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*/g,
  /(\b(?:sk|pk|rk|xai|gsk|whsec)[-_])[A-Za-z0-9_+/=-]{16,}/g,
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/?#"\\]*:)[^\s/?#"\\]+(?=@)/gi,
  /([?&](?:[a-z_-]*(?:key|token|secret|password|signature)|code|sig)=)[^&\s"\\]+/gi,
  /("(?:authorization|cookie|x-api-key|[a-z_-]*(?:api_?key|secret|password|token))":\s*")(?:[^"\\]|\\.)+/gi,
];

/** A function that takes secrets out of a text: those that are given, wherever they stand, and what looks like one. */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets.flatMap(spellings))].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  // The longest first: one may be part of another.
  known.sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, HIDDEN);
    for (const shape of SHAPES) clean = clean.replace(shape, `$1${HIDDEN}`);
    return clean;
  };
}

/** As it is, as JSON writes it, and as a URL does. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}
