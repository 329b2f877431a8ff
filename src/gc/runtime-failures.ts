const failureOf = (err: unknown): unknown =>
  err instanceof Error && 'failure' in err ? err.failure : undefined;

/** Whether every other removal would fail too: the runtime is unavailable, does not respond, or denies access. */
export const isHopeless = (err: unknown): boolean => isRuntimeDown(err) || hasOutlasted(err);

/** Whether the runtime has not responded within the deadline. It may complete the request later. */
export const hasOutlasted = (err: unknown): boolean => failureOf(err) === 'deadline';

/** Whether the failure is certainly not due to its object. A deadline may be: a container with a hung shim. */
export const isRuntimeDown = (err: unknown): boolean =>
  failureOf(err) === 'unavailable' || failureOf(err) === 'denied' || isForeign(err);

export const isForeign = (err: unknown): boolean => failureOf(err) === 'foreign';
