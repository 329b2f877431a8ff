import { badRequest, cause, Failure, invalid, type StatusCause } from './failure.ts';

/** How an object or list may be read. */
interface ListOptions {
  readonly watch: boolean;
  readonly query: URLSearchParams;
}

const optionsKind = { group: 'meta.k8s.io', plural: '', kind: 'ListOptions' };
const field = 'resourceVersionMatch';

/** Throws 422 for combinations of list options that mean nothing. */
export function checkListOptions({ watch, query }: ListOptions): void {
  const causes = watch ? watchCauses(query) : listCauses(query);
  if (causes.length > 0) throw invalid(optionsKind, '', causes);
}

/** The revision that a query names; 0 for none or any. */
export function revisionOf(text: string | null): number {
  if (text === null || text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

export function limitOf(text: string | null): number {
  if (text === null || text === '') return 0;
  if (/^-?\d+$/.test(text)) return Math.max(0, Number(text));
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

export function tooLarge(revision: number, current: number): Failure {
  return new Failure(`Timeout: Too large resource version: ${revision}, current: ${current}`, {
    code: 504,
    reason: 'Timeout',
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  });
}

function watchCauses(query: URLSearchParams): readonly StatusCause[] {
  const match = query.get(field) ?? '';
  if (query.has('sendInitialEvents')) {
    if (match === 'NotOlderThan') return [];
    const message = `sendInitialEvents requires setting ${field} to NotOlderThan`;
    return [
      cause.forbidden(field, message),
      ...(match === '' ? [] : [cause.unsupported(field, match, ['NotOlderThan'])]),
    ];
  }
  if (match === '') return [];
  return [cause.forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`)];
}

function listCauses(query: URLSearchParams): readonly StatusCause[] {
  const match = query.get(field) ?? '';
  const version = query.get('resourceVersion') ?? '';
  if (query.has('sendInitialEvents')) {
    return [cause.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')];
  }
  if (match === '') return [];
  if (version === '')
    return [cause.forbidden(field, `${field} is forbidden unless resourceVersion is provided`)];
  if (match === 'Exact' && version === '0') {
    return [cause.forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`)];
  }
  if (match === 'Exact' || match === 'NotOlderThan') return [];
  return [cause.unsupported(field, match, ['Exact', 'NotOlderThan', ''])];
}
