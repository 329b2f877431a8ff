import { errorCode } from '../runtime/errors.ts';

// Structural, because only adapters know the classes of these errors.

/** The HTTP status of a rejected request, of the error or of its cause; undefined = no response arrived. */
export function statusOf(err: unknown): number | undefined {
  if (!(err instanceof Error)) return undefined;
  return 'status' in err && typeof err.status === 'number' ? err.status : statusOf(err.cause);
}

/** Whether a request to the API server failed because of the connection, a gateway or the credentials: others would fail as well. */
export function isHopeless(err: unknown): boolean {
  const status = statusOf(err);
  return status === undefined || isOfAll(status);
}

/** Whether a failed request may have been fulfilled: no response of the API server arrived. A gateway responds for it; 401 is a response of its own. */
export const mayBeFulfilled = (err: unknown): boolean => isHopeless(err) && statusOf(err) !== 401;

/** Whether a request may have failed because of its object: the server has responded, or a webhook has taken too long. A webhook that is down is a 500. */
export function isOfObject(err: unknown): boolean {
  const status = statusOf(err);
  return status === undefined ? errorCode(err) === 'ETIMEDOUT' : !isOfAll(status);
}

/** Whether a response concerns every request: rejected credentials, or a gateway without server. */
const isOfAll = (status: number): boolean => status === 401 || (status >= 502 && status <= 504);
