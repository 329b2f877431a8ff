import { STATUS_CODES } from 'node:http';
import { errorOf, isProtobuf, parseJson, statusFromJson, unwrap } from './decode-status.ts';
import { Status } from './gen/meta.ts';
import { ApiError, type KubeRequest, type KubeResponse } from './transport.ts';

/** What the server said no with; its own sentence where it gave one, as that names verb, resource and user. */
export function refusal(request: KubeRequest, response: KubeResponse): ApiError {
  const status = readStatus(response.body);
  return new ApiError(messageOf(request, response, status), {
    status: response.status,
    reason: status?.reason ?? '',
    causes: status?.causes ?? [],
    explanations: status?.explanations ?? [],
    retryAfterMs: retryAfterMs(response) ?? status?.retryAfterMs,
  });
}

/** The Status in either wire form: a server may answer in protobuf whatever else is accepted. */
function readStatus(body: Buffer): ApiError | undefined {
  try {
    const status = isProtobuf(body) ? Status.decode(unwrap(body).raw) : statusFromJson(parseJson(body));
    return status.status === 'Failure' ? errorOf(status) : undefined;
  } catch {
    // Whatever stands before the API server answers in HTML or text.
    return undefined;
  }
}

function messageOf(request: KubeRequest, response: KubeResponse, status: ApiError | undefined): string {
  // "Unauthorized" alone, the reason again, helps nobody.
  if (status && status.message !== '' && status.message !== status.reason) return status.message;
  const text = status?.message ?? firstLine(response.body);
  const answer = text === '' ? (STATUS_CODES[response.status] ?? 'error') : text;
  return `${request.method} ${request.path}: ${response.status} ${answer}`;
}

const maxLineLength = 200;

/** Priority and fairness, and proxies in between, answer in plain text; markup and JSON are no sentence. */
function firstLine(body: Buffer): string {
  const [line = ''] = body
    .subarray(0, 2 * maxLineLength)
    .toString('utf8')
    .split('\n', 1);
  const isSentence = /^[^<{\p{Cc}][^\p{Cc}]*$/u.test(line.trim());
  return isSentence ? line.trim().slice(0, maxLineLength) : '';
}

/** The API server sends seconds, never a date. */
function retryAfterMs({ headers }: KubeResponse): number | undefined {
  const value = headers['retry-after'];
  return typeof value === 'string' && /^\d+$/.test(value) ? Number(value) * 1000 : undefined;
}
