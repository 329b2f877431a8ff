import { MalformedError } from './frames.ts';
import { ApiError } from './transport.ts';

/**
 * What an error of a list or a watch asks for.
 * `resume`: the same again, later. `expired`: the server has forgotten where we were: a list, at once. `relist`: a list, later.
 * `missing`: there is no such kind. `unsupported`: the server cannot stream the initial objects (WatchList).
 */
export type Remedy = 'resume' | 'expired' | 'relist' | 'missing' | 'unsupported';

/** What to do about `err`; `initial` when it met a list or its replacement by a stream. */
export function remedyFor(
  err: unknown,
  given: { readonly optional: boolean; readonly initial: boolean },
): Remedy {
  if (err instanceof MalformedError) return 'relist';
  if (!(err instanceof ApiError)) return 'resume';
  if (err.status === 410 || err.reason === 'Expired' || err.reason === 'Gone') return 'expired';
  if (err.status === 404 && given.optional) return 'missing';
  if (isUnacceptable(err)) return given.initial ? 'unsupported' : 'relist';
  return 'resume';
}

/** The server does not accept our resourceVersion, say because its store was restored from a backup; or it does not know a parameter. */
function isUnacceptable(err: ApiError): boolean {
  return err.status === 400 || err.status === 422 || err.causes.includes('ResourceVersionTooLarge');
}
