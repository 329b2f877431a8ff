import { asList, asObject, asText } from './json.ts';
import { MalformedError } from './frames.ts';
import { Status, Unknown } from '../gen/meta.ts';
import type { StatusDetails } from '../gen/meta.ts';
import { ApiError } from '../http/transport.ts';

const magic = Buffer.from('k8s\0');
export const magicBytes = magic.length;

/** True when `body` starts as every protobuf answer of the API server does. */
export function isProtobuf(body: Uint8Array): boolean {
  return magic.every((byte, i) => body[i] === byte);
}

/** Opens the envelope of a protobuf answer. */
export function unwrap(body: Uint8Array): Unknown {
  if (!isProtobuf(body)) throw new MalformedError('no protobuf envelope');
  return Unknown.decode(body.subarray(magic.length));
}

/** A metav1.Status as the error it stands for. */
export function errorOf(status: Status): ApiError {
  const { code, message, reason, details } = status;
  return new ApiError(message, {
    status: code,
    reason,
    causes: (details?.causes ?? []).map((cause) => cause.reason),
    explanations: (details?.causes ?? []).map((cause) => cause.message),
    retryAfterMs: retryAfterMs(details),
  });
}

function retryAfterMs(details: StatusDetails | undefined): number | undefined {
  const seconds = details?.retryAfterSeconds ?? 0;
  return seconds > 0 ? seconds * 1000 : undefined;
}

/** A metav1.Status in its JSON form. */
export function statusFromJson(json: unknown): Status {
  const status = asObject(json);
  const details = asObject(status['details']);
  return Status.fromPartial({
    status: asText(status['status']),
    message: asText(status['message']),
    reason: asText(status['reason']),
    code: Number(status['code'] ?? 0),
    details: {
      causes: asList(details['causes']).map((cause) => ({
        reason: asText(asObject(cause)['reason']),
        message: asText(asObject(cause)['message']),
      })),
      retryAfterSeconds: Number(details['retryAfterSeconds'] ?? 0),
    },
  });
}

/** JSON in a slice of a buffer. */
export function parseJson(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
}
