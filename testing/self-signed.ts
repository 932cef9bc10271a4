import { generateKeyPairSync, sign } from "node:crypto";

export interface Certificate {
  /** As PEM. */
  readonly key: string;
  readonly cert: string;
}

/** Made anew each time, so that no key lies in the repository. For one host name, of no authority but itself. */
export function selfSigned(host: string): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = sequence(set(sequence(oid("550403"), der(0x0c, Buffer.from(host)))));
  const years = sequence(utcTime("200101000000Z"), utcTime("490101000000Z"));
  const signature = sequence(oid("2a8648ce3d040302")); // ecdsa-with-SHA256
  const alternativeNames = der(0x04, sequence(der(0x82, Buffer.from(host))));
  const isAuthority = der(0x04, sequence(der(0x01, Buffer.from([0xff]))));
  const extensions = der(
    0xa3,
    sequence(sequence(oid("551d11"), alternativeNames), sequence(oid("551d13"), isAuthority)),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1])), // its number
    ...[signature, name, years, name],
    publicKey.export({ type: "spki", format: "der" }),
    extensions,
  );
  const signed = sequence(body, signature, der(0x03, Buffer.from([0]), sign("sha256", body, privateKey)));
  const base64 = signed.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function set(...parts: Buffer[]): Buffer {
  return der(0x31, ...parts);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}
