import type { status } from '@grpc/grpc-js';
import { PlannedFaults } from '../api/faults.ts';

export interface CriCall {
  /** E.g. `RemoveImage`. */
  readonly method: string;
  readonly request: unknown;
}

export type CriFault =
  /** Sends no response. */
  | { readonly kind: 'hang' }
  /** Does nothing and responds with an error. */
  | { readonly kind: 'fail'; readonly code: status; readonly message?: string }
  /** Serves the call after a delay. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Changes the node right before the call is served: the race that a re-check prevents. */
  | { readonly kind: 'before'; readonly act: () => void | Promise<void> }
  /** Changes the response, like a broken or newer runtime. */
  | { readonly kind: 'answer'; readonly change: (response: unknown) => unknown };

export class CriFaults extends PlannedFaults<CriCall, CriFault> {
  /** Plans the fault for the next `times` calls of the method (`'*'` = any), or that match; Infinity = until cleared. */
  override next(which: string | ((call: CriCall) => boolean), fault: CriFault, times = 1): void {
    super.next(
      typeof which === 'string' ? ({ method }) => which === '*' || which === method : which,
      fault,
      times,
    );
  }
}
