/**
 * How many tokens a text comes to, without a tokenizer of any one model. English text and code take about four ASCII
 * characters a token in the common tokenizers. Other scripts take far more, up to a token or two for each character, so
 * they count a token for every two bytes of UTF-8: é 1, 漢 1.5, 👋 2. It errs on the high side, because a prompt that
 * is a little short works and one that is too long is refused by the model.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const char of text) {
    const point = char.codePointAt(0) as number;
    tokens += point < 0x80 ? 0.25 : point < 0x800 ? 1 : point < 0x10000 ? 1.5 : 2;
  }
  return Math.ceil(tokens);
}
