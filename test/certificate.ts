import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';

/** A certificate and its key, in PEM. */
export interface Certified {
  readonly certificate: string;
  readonly key: string;
}

interface Wanted {
  readonly commonName: string;
  readonly organization?: string;
  readonly usage: 'server' | 'client';
  /** Alternative names, `DNS:node-1` or `IP:10.0.0.7`. */
  readonly names?: readonly string[];
}

/** A CA; its own certificate may serve too, for its names. */
export interface Authority extends Certified {
  readonly issue: (wanted: Wanted) => Certified;
}

/** A new CA. */
export function newAuthority(commonName: string, names: readonly string[] = []): Authority {
  const keys = newKeys();
  const subject = nameOf({ commonName });
  const issuer = { name: subject, keys };
  const extensions = [isCa, signsAndServes, ...alternativeNames(names)];
  return {
    ...certified(keys, { subject, issuer, extensions }),
    issue: (wanted) => {
      const purpose = extension(oids.extendedKeyUsage, der(tags.sequence, oids[wanted.usage]));
      return certified(newKeys(), {
        ...{ subject: nameOf(wanted), issuer },
        extensions: [purpose, ...alternativeNames(wanted.names ?? [])],
      });
    },
  };
}

/** What a server presents and its clients trust, in PEM. */
export interface ServingCertificate {
  /** The leaf and its CA, like a kubelet's pki/kubelet.crt. */
  readonly chain: string;
  readonly key: string;
  readonly ca: string;
}

/** A new CA and a leaf for the given names (`DNS:node-1`), like a kubelet's self-signed certificate. */
export function certify(names: readonly string[]): ServingCertificate {
  const { certificate: ca, issue } = newAuthority('sandbox-ca');
  const { certificate, key } = issue({ commonName: 'sandbox-kubelet', usage: 'server', names });
  return { chain: certificate + ca, key, ca };
}

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const newKeys = (): Keys => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

interface Statement {
  readonly subject: Buffer;
  readonly issuer: { readonly name: Buffer; readonly keys: Keys };
  readonly extensions: readonly Buffer[];
}

/** The fields of RFC 5280, section 4.1. */
function certified(keys: Keys, { subject, issuer, extensions }: Statement): Certified {
  const algorithm = der(tags.sequence, oids.ecdsaWithSha256);
  const statement = der(
    tags.sequence,
    der(tags.explicit0, der(tags.integer, Buffer.from([2]))), // version 3
    der(tags.integer, Buffer.from([1]), randomBytes(15)), // positive
    algorithm,
    issuer.name,
    validity(),
    subject,
    publicKeyOf(keys),
    der(tags.explicit3, der(tags.sequence, ...keyIdentifiers(keys, issuer.keys), ...extensions)),
  );
  const signature = sign('sha256', statement, issuer.keys.privateKey);
  const signed = [statement, algorithm, der(tags.bitString, Buffer.from([0]), signature)];
  const encoded = der(tags.sequence, ...signed).toString('base64');
  const lines = encoded.match(/.{1,64}/g) ?? [];
  return {
    certificate: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    key: keys.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
  };
}

const publicKeyOf = ({ publicKey }: Keys): Buffer => publicKey.export({ type: 'spki', format: 'der' });

/** Its own key and its signer's: with them, clients distinguish CAs with the same name. */
function keyIdentifiers(own: Keys, signer: Keys): readonly Buffer[] {
  const id = (keys: Keys): Buffer => createHash('sha256').update(publicKeyOf(keys)).digest().subarray(0, 20);
  return [
    extension(oids.subjectKeyIdentifier, der(tags.octetString, id(own))),
    extension(oids.authorityKeyIdentifier, der(tags.sequence, der(tags.keyIdentifier, id(signer)))),
  ];
}

const dayMs = 86_400_000;

/** From two days ago, so that a program whose clock a test sets back trusts it too, for 30 days. */
function validity(): Buffer {
  const time = (ms: number): Buffer => {
    const digits = new Date(Date.now() + ms).toISOString().replace(/\D/g, '').slice(2, 14);
    return der(tags.utcTime, Buffer.from(`${digits}Z`));
  };
  return der(tags.sequence, time(-2 * dayMs), time(30 * dayMs));
}

function nameOf({ commonName, organization }: Pick<Wanted, 'commonName' | 'organization'>): Buffer {
  const part = (oid: Buffer, value: string): Buffer =>
    der(tags.set, der(tags.sequence, oid, der(tags.utf8String, Buffer.from(value))));
  return der(
    tags.sequence,
    ...(organization === undefined ? [] : [part(oids.organization, organization)]),
    part(oids.commonName, commonName),
  );
}

function alternativeNames(names: readonly string[]): readonly Buffer[] {
  if (names.length === 0) return [];
  const encoded = names.map((name) => {
    const value = name.slice(name.indexOf(':') + 1);
    return name.startsWith('IP:')
      ? der(tags.ipAddress, addressBytes(value))
      : der(tags.dnsName, Buffer.from(value));
  });
  return [extension(oids.alternativeNames, der(tags.sequence, ...encoded))];
}

function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [before = [], after = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

function extension(oid: Buffer, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [yes] : [];
  return der(tags.sequence, oid, ...critical, der(tags.octetString, value));
}

/** A value in the distinguished encoding rules (DER): tag, length, content. */
function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length);
  const significant = length.subarray(length.findIndex((byte) => byte > 0));
  const long = Buffer.concat([Buffer.from([0x80 | significant.length]), significant]);
  return Buffer.concat([Buffer.from([tag]), body.length < 0x80 ? Buffer.from([body.length]) : long, body]);
}

const tags = {
  ...{ integer: 0x02, bitString: 0x03, octetString: 0x04, oid: 0x06, utf8String: 0x0c, utcTime: 0x17 },
  ...{ sequence: 0x30, set: 0x31, boolean: 0x01, keyIdentifier: 0x80 },
  ...{ dnsName: 0x82, ipAddress: 0x87, explicit0: 0xa0, explicit3: 0xa3 },
} as const;

const oid = (hex: string): Buffer => der(tags.oid, Buffer.from(hex, 'hex'));
const oids = {
  ecdsaWithSha256: oid('2a8648ce3d040302'),
  commonName: oid('550403'),
  organization: oid('55040a'),
  subjectKeyIdentifier: oid('551d0e'),
  authorityKeyIdentifier: oid('551d23'),
  basicConstraints: oid('551d13'),
  keyUsage: oid('551d0f'),
  alternativeNames: oid('551d11'),
  extendedKeyUsage: oid('551d25'),
  server: oid('2b06010505070301'),
  client: oid('2b06010505070302'),
} as const;

const yes = der(tags.boolean, Buffer.from([0xff]));
const isCa = extension(oids.basicConstraints, der(tags.sequence, yes), true);
// digitalSignature, keyCertSign and cRLSign.
const signsAndServes = extension(oids.keyUsage, der(tags.bitString, Buffer.from([0x01, 0x86])), true);
