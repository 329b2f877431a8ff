import type { Outcome } from '../../../src/gc/decision.ts';
import {
  execute,
  type Check,
  type Executed,
  type Execution,
  type Objection,
  type StepResult,
} from '../../../src/gc/execute.ts';
import { LiveQuery } from '../../../src/gc/live.ts';
import { FakeClock } from '../../fakes/clock.ts';

interface Pass {
  readonly decisions?: readonly string[];
  readonly execution?: Partial<Execution<string>>;
  readonly signal?: AbortSignal;
}

/** A pass over objects named by strings; records all queries, requests and outcomes in order. */
export class PassFixture {
  readonly clock = new FakeClock();
  readonly calls: string[] = [];
  readonly outcomes: Outcome<string>[] = [];

  async run({ decisions = ['a', 'b', 'c'], execution, signal }: Pass = {}): Promise<Executed<string>> {
    return await execute(
      decisions,
      {
        ...{ checks: [], clock: this.clock, concurrency: 1, giveUpAfter: 2, isHopeless: () => true },
        steps: [this.step('remove')],
        onOutcome: (outcome) => this.outcomes.push(outcome),
        ...execution,
      },
      signal ?? new AbortController().signal,
    );
  }

  step(name: string, result: (target: string) => StepResult = () => ({ kind: 'done' })) {
    return (target: string): Promise<StepResult> => {
      this.calls.push(`${name} ${target}`);
      return Promise.resolve(result(target));
    };
  }

  /** A live check whose queries take `takesMs`; `shared`: all decisions share a response. */
  check(name: string, options: CheckOptions = {}): Check<string> {
    const { objection = () => undefined, takesMs = () => 0, shared = false, ...rest } = options;
    const live = new LiveQuery<string, true>({
      clock: this.clock,
      key: (target) => (shared ? 'shared' : target),
      query: (target) => {
        this.calls.push(`query ${name} ${target}`);
        this.clock.advance(takesMs());
        return Promise.resolve(true);
      },
      ...rest,
    });
    return { live, objection };
  }

  get kinds(): readonly string[] {
    return this.outcomes.map(({ kind, decision }) => `${decision} ${kind}`);
  }
}

interface CheckOptions {
  readonly objection?: (target: string) => Objection | undefined;
  readonly takesMs?: () => number;
  readonly shared?: boolean;
  readonly maxDecisions?: number;
}

export const only =
  (name: string, objection: Objection) =>
  (target: string): Objection | undefined =>
    target === name ? objection : undefined;
