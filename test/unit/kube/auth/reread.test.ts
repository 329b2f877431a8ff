import { expect, test } from 'vitest';
import { RereadCredentials, type Identity } from '../../../../src/kube/auth/credentials.ts';
import { FakeClock } from '../../../fakes/clock.ts';

/** Credentials whose source returns token 1, 2, …, and whether each read was notified of a rejection. */
function rereading(tls: () => Identity['tls'] = () => ({ ca: 'CA' })) {
  const clock = new FakeClock();
  const rejections: boolean[] = [];
  const read = (isRejected: boolean): Promise<Identity> => {
    rejections.push(isRejected);
    return Promise.resolve({ headers: { authorization: `Bearer ${rejections.length}` }, tls: tls() });
  };
  return { clock, rejections, credentials: new RereadCredentials(read, clock) };
}

test('the source is read again after a minute', async () => {
  const { clock, credentials } = rereading();
  const first = await credentials.headers();
  clock.advance(59_999);
  expect(await credentials.headers()).toBe(first);
  clock.advance(1);
  expect(await credentials.headers()).toEqual({ authorization: 'Bearer 2' });
});

test('requests at the same time read it once', async () => {
  const { rejections, credentials } = rereading();
  await Promise.all([credentials.headers(), credentials.headers()]);
  expect(rejections).toHaveLength(1);
});

test('it is read at once after a rejection, and notified of it once', async () => {
  const { clock, rejections, credentials } = rereading();
  await credentials.headers();
  credentials.refresh();
  await credentials.headers();
  clock.advance(60_000);
  await credentials.headers();
  expect(rejections).toEqual([false, true, false]);
});

test('equal certificates are the same object, so that connections are kept', async () => {
  let ca = 'CA';
  const { clock, credentials } = rereading(() => ({ ca }));
  const endpoint = credentials.endpoint('https://server');
  await credentials.headers();
  const { tls } = endpoint;
  clock.advance(60_000);
  await credentials.headers();
  expect(endpoint.tls).toBe(tls);
  ca = 'rotated';
  clock.advance(60_000);
  await credentials.headers();
  expect(endpoint.tls).toEqual({ ca: 'rotated' });
});
