import type { V1Status, V1StatusCause, V1StatusDetails } from '@kubernetes/client-node';
import { asObject, asObjects, asText, type Unchecked } from './json.ts';
import { MalformedError } from './frames.ts';
import { Status, Unknown } from '../gen/meta.ts';
import type { StatusDetails } from '../gen/meta.ts';
import { ApiError } from '../http/transport.ts';

const magic = Buffer.from('k8s\0');
export const magicBytes = magic.length;

/** Whether `body` begins with the magic bytes of a protobuf response of the API server. */
export function isProtobuf(body: Uint8Array): boolean {
  return magic.every((byte, i) => body[i] === byte);
}

/** Opens the envelope of a protobuf response. */
export function unwrap(body: Uint8Array): Unknown {
  if (!isProtobuf(body)) throw new MalformedError('no protobuf envelope');
  return Unknown.decode(body.subarray(magic.length));
}

/** Converts a metav1.Status to the error it describes. */
export function errorOf(status: Status): ApiError {
  const { code, message, reason, details } = status;
  return new ApiError(message, {
    status: code,
    reason,
    causes: (details?.causes ?? []).map((cause) => cause.reason),
    explanations: (details?.causes ?? []).map((cause) => cause.message),
    retryAfterMs: retryAfterMs(details),
    isStatus: true,
  });
}

function retryAfterMs(details: StatusDetails | undefined): number | undefined {
  const seconds = details?.retryAfterSeconds ?? 0;
  return seconds > 0 ? seconds * 1000 : undefined;
}

/** Reads the JSON form of a metav1.Status. */
export function statusFromJson(json: unknown): Status {
  const { status, message, reason, code, details }: Unchecked<V1Status> = asObject(json);
  const { causes, retryAfterSeconds }: Unchecked<V1StatusDetails> = asObject(details);
  return Status.fromPartial({
    status: asText(status),
    message: asText(message),
    reason: asText(reason),
    code: Number(code ?? 0),
    details: {
      causes: asObjects(causes).map((cause: Unchecked<V1StatusCause>) => ({
        reason: asText(cause.reason),
        message: asText(cause.message),
      })),
      retryAfterSeconds: Number(retryAfterSeconds ?? 0),
    },
  });
}
