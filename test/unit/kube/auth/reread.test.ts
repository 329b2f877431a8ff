import { expect, test } from 'vitest';
import { RereadCredentials, type Identity } from '../../../../src/kube/auth/credentials.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { settled } from '../../../fakes/settling-clock.ts';

const { signal } = new AbortController();

/** Credentials that know `Bearer 1`; their source hangs until `end` is called. */
async function hanging() {
  const clock = new ManualClock();
  let [reads, end] = [0, (): void => undefined];
  const read = async (): Promise<Identity> => {
    reads += 1;
    const headers = { authorization: `Bearer ${reads}` };
    if (reads > 1) await new Promise<void>((resolve) => (end = resolve));
    return { headers, tls: {} };
  };
  const credentials = new RereadCredentials(read, clock);
  await Promise.all([credentials.headers(signal), credentials.headers(signal)]);
  expect(reads).toBe(1);
  clock.advance(60_000);
  return {
    clock,
    credentials,
    reads: () => reads,
    end: () => {
      end();
    },
  };
}

test('a source that hangs is awaited for two seconds, then the known identity serves until it ends; there is one read', async () => {
  const { clock, credentials, reads, end } = await hanging();
  const first = credentials.headers(signal);
  await until(() => clock.sleeping.includes(2_000));
  clock.advance(2_000);
  expect(await first).toEqual({ authorization: 'Bearer 1' });
  expect(await credentials.headers(signal)).toEqual({ authorization: 'Bearer 1' });
  expect(clock.sleeping).toEqual([]);
  clock.advance(3_600_000);
  expect(await credentials.headers(signal)).toEqual({ authorization: 'Bearer 1' });
  expect(reads()).toBe(2);
  end();
  await settled();
  expect(await credentials.headers(signal)).toEqual({ authorization: 'Bearer 2' });
});
