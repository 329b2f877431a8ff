import { STATUS_CODES } from 'node:http';
import { isProtobuf, unwrap } from '../codec/frames.ts';
import { parseJson, statusFromJson } from '../codec/json.ts';
import { Status } from '../gen/meta.ts';
import { ApiError, type KubeRequest, type KubeResponse } from './transport.ts';

/** Builds the error of a rejected request. Prefers the server's own sentence: it names verb, resource and user. */
export function responseError(request: KubeRequest, { status, headers, body }: KubeResponse): ApiError {
  const reported = readStatus(body);
  const message = reported?.message ?? firstLine(body);
  const { reason = '', causes = [], explanations = [] } = reported ?? {};
  return new ApiError(messageOf(request, status, { message, reason: reported?.reason }), {
    status,
    reason,
    causes,
    explanations,
    serverMessage: message,
    retryAfterMs: retryAfterMs(headers['retry-after']) ?? reported?.retryAfterMs,
    isStatus: reported !== undefined,
  });
}

export function errorOf(status: Status): ApiError {
  const { code, message, reason, details } = status;
  const seconds = details?.retryAfterSeconds ?? 0;
  return new ApiError(message, {
    status: code,
    reason,
    causes: (details?.causes ?? []).map((cause) => cause.reason),
    explanations: (details?.causes ?? []).map((cause) => cause.message),
    retryAfterMs: seconds > 0 ? seconds * 1000 : undefined,
    isStatus: true,
  });
}

/** Reads the Status in either wire form: a server may send protobuf whatever the request accepts. */
function readStatus(body: Buffer): ApiError | undefined {
  try {
    const status = isProtobuf(body) ? Status.decode(unwrap(body).raw) : statusFromJson(parseJson(body));
    return status.status === 'Failure' ? errorOf(status) : undefined;
  } catch {
    // A proxy in front of the API server sends HTML or text.
    return undefined;
  }
}

function messageOf(
  { method, path }: KubeRequest,
  status: number,
  { message, reason }: { message: string; reason: string | undefined },
): string {
  // A message such as "Unauthorized" only repeats the reason: the request is added.
  if (reason !== undefined && message !== '' && message !== reason) return message;
  return `${method} ${path}: ${status} ${message === '' ? (STATUS_CODES[status] ?? 'error') : message}`;
}

const maxLineLength = 200;

/** Priority and fairness, and proxies, send plain text. Markup and JSON are not shown. */
function firstLine(body: Buffer): string {
  const [line = ''] = body
    .subarray(0, 2 * maxLineLength)
    .toString('utf8')
    .split('\n', 1);
  const isSentence = /^[^<{\p{Cc}][^\p{Cc}]*$/u.test(line.trim());
  return isSentence ? line.trim().slice(0, maxLineLength) : '';
}

/** The API server sends seconds, never a date. */
const retryAfterMs = (header: string | string[] | undefined): number | undefined =>
  typeof header === 'string' && /^\d+$/.test(header) ? Number(header) * 1000 : undefined;
