import type { status } from '@grpc/grpc-js';

/** A call as the server saw it. */
export interface CriCall {
  /** E.g. `RemoveImage`. */
  readonly method: string;
  readonly request: unknown;
}

/** What goes wrong with a call. */
export type CriFault =
  /** Never answered. */
  | { readonly kind: 'hang' }
  /** Nothing is done, and the answer is an error. */
  | { readonly kind: 'fail'; readonly code: status; readonly message?: string }
  /** Served after so long. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Something happens on the node right before it is served: the race a re-check is for. */
  | { readonly kind: 'before'; readonly act: () => void | Promise<void> }
  /** The answer is changed, as a broken or newer runtime would give it. */
  | { readonly kind: 'answer'; readonly change: (answer: unknown) => unknown };

interface Planned {
  readonly matches: (call: CriCall) => boolean;
  readonly fault: CriFault;
  timesLeft: number;
}

/** Faults to come; the first planned that matches is used. */
export class CriFaults {
  #planned: Planned[] = [];

  /** The fault happens to the next `times` calls of the method (`'*'` = any) or that match; default 1, Infinity = until cleared. */
  next(which: string | ((call: CriCall) => boolean), fault: CriFault, times = 1): void {
    const matches =
      typeof which === 'string' ? ({ method }: CriCall) => which === '*' || which === method : which;
    this.#planned.push({ matches, fault, timesLeft: times });
  }

  clear(): void {
    this.#planned = [];
  }

  /** The fault for this call, if any; it counts as used. */
  take(call: CriCall): CriFault | undefined {
    const planned = this.#planned.find(({ matches }) => matches(call));
    if (planned === undefined) return undefined;
    planned.timesLeft -= 1;
    if (planned.timesLeft <= 0) this.#planned = this.#planned.filter((other) => other !== planned);
    return planned.fault;
  }
}
