import { expect, test } from 'vitest';
import { causedBy, refusal, strategic, unique, type Bed } from './api.bed.ts';

const time = '2026-01-01T00:00:00.000000Z';
const later = '2026-01-01T00:00:01.000000Z';

/** events.k8s.io/v1: what is refused at once, and the one thing that may change later. */
export function eventRows(bed: () => Bed): void {
  const event = (rest: object = {}, namespace = bed().namespace): object => ({
    metadata: { name: unique('event'), namespace },
    eventTime: time,
    reportingController: 'gc.dustpan.dev/podgc-controller',
    reportingInstance: 'instance',
    action: 'Delete',
    reason: 'PodCollected',
    type: 'Normal',
    note: 'note',
    regarding: { kind: 'Pod', apiVersion: 'v1', name: 'a', namespace, uid: 'u' },
    ...rest,
  });
  const post = (body: object, path = bed().events()): Promise<unknown> => bed().ask('POST', path, { body });

  test.each(['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00Z'])(
    'refuses the time %s',
    async (eventTime) => {
      expect(await post(event({ eventTime }))).toMatchObject(
        refusal(400, 'BadRequest', {
          message: expect.stringContaining(`parsing time "${eventTime}"`) as unknown,
        }),
      );
    },
  );

  test('takes a note of 1024 bytes', async () => {
    expect(await post(event({ note: 'é'.repeat(512) }))).toMatchObject({ status: 201 });
  });

  test.each([
    { name: 'a note of more than 1024 bytes', rest: { note: `${'é'.repeat(512)}x` }, field: 'message' },
    { name: 'no time', rest: { eventTime: undefined }, field: 'eventTime' },
    { name: 'a type that is none', rest: { type: 'Error' }, field: 'type' },
    { name: 'no reason', rest: { reason: '' }, field: 'reason' },
    { name: 'a long reason', rest: { reason: 'x'.repeat(129) }, field: 'reason' },
    { name: 'no action', rest: { action: '' }, field: 'action' },
    { name: 'no controller', rest: { reportingController: '' }, field: 'reportingController' },
    {
      name: 'a controller that is no name',
      rest: { reportingController: 'a b' },
      field: 'reportingController',
    },
    { name: 'a long instance', rest: { reportingInstance: 'x'.repeat(129) }, field: 'reportingInstance' },
    {
      name: 'a series of one',
      rest: { series: { count: 1, lastObservedTime: time } },
      field: 'series.count',
    },
    { name: 'a count of old', rest: { deprecatedCount: 3 }, field: 'count' },
    {
      name: 'a cluster-scoped object in any namespace',
      rest: { regarding: { kind: 'Node', apiVersion: 'v1', name: 'n', uid: 'u' } },
      field: 'involvedObject.namespace',
    },
  ])('refuses $name', async ({ rest, field }) => {
    expect(await post(event(rest))).toMatchObject(
      refusal(422, 'Invalid', { details: { kind: 'Event', ...causedBy(field) } }),
    );
  });

  test('keeps events of cluster-scoped objects in the default namespace', async () => {
    const regarding = { kind: 'Node', apiVersion: 'v1', name: 'n', uid: 'u' };
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    expect(await post(event({ regarding }, 'default'), path)).toMatchObject({ status: 201 });
  });

  test.each([
    { change: { note: 'other' }, field: 'message' },
    { change: { reason: 'Other' }, field: 'reason' },
    { change: { type: 'Warning' }, field: 'type' },
    { change: { eventTime: later }, field: 'eventTime' },
    { change: { regarding: { name: 'other' } }, field: 'involvedObject' },
  ])('refuses a change of $field', async ({ change, field }) => {
    const { metadata } = await bed().post(bed().events(), event());
    const answer = await bed().ask('PATCH', bed().events(metadata.name), {
      body: change,
      contentType: strategic,
    });
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details: causedBy(field) }));
  });

  test('lets a series begin and grow', async () => {
    const { metadata } = await bed().post(bed().events(), event());
    for (const count of [2, 3]) {
      const series = { count, lastObservedTime: later };
      expect(await bed().patch(bed().events(metadata.name), { series }, strategic)).toMatchObject({ series });
    }
  });

  test('refuses a series whose time has milliseconds', async () => {
    const { metadata } = await bed().post(bed().events(), event());
    const body = { series: { count: 2, lastObservedTime: '2026-01-01T00:00:01.000Z' } };
    const answer = await bed().ask('PATCH', bed().events(metadata.name), { body, contentType: strategic });
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details: causedBy('patch') }));
  });

  test('says that an event has expired', async () => {
    const body = { series: { count: 2, lastObservedTime: later } };
    const answer = await bed().ask('PATCH', bed().events('no-such-event'), { body, contentType: strategic });
    const details = { name: 'no-such-event', group: 'events.k8s.io', kind: 'events' };
    const message = 'events.events.k8s.io "no-such-event" not found';
    expect(answer).toMatchObject(refusal(404, 'NotFound', { message, details }));
  });
}

/** Leases: no write without having read. */
export function leaseRows(bed: () => Bed): void {
  const spec = {
    holderIdentity: 'me',
    leaseDurationSeconds: 15,
    acquireTime: time,
    renewTime: time,
    leaseTransitions: 0,
  };
  const lease = (name: string, more: object = {}): object => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name },
    spec: { ...spec, ...more },
  });

  test('keeps microseconds as they are', async () => {
    const created = await bed().post(bed().leases(), lease(unique('lease')));
    expect(created.spec).toEqual(spec);
  });

  test('is updated by whoever has read it last', async () => {
    const name = unique('lease');
    const read = await bed().post(bed().leases(), lease(name));
    const renewed = { ...read, spec: { ...read.spec, renewTime: later } };
    expect(await bed().put(bed().leases(name), renewed)).toMatchObject({ spec: { renewTime: later } });
    const message = `Operation cannot be fulfilled on leases.coordination.k8s.io "${name}": the object has been modified; please apply your changes to the latest version and try again`;
    const details = { name, group: 'coordination.k8s.io', kind: 'leases' };
    expect(await bed().ask('PUT', bed().leases(name), { body: renewed })).toMatchObject(
      refusal(409, 'Conflict', { message, details }),
    );
  });

  test('is never updated blindly', async () => {
    const name = unique('lease');
    await bed().post(bed().leases(), lease(name));
    const details = causedBy('metadata.resourceVersion');
    const answer = await bed().ask('PUT', bed().leases(name), { body: lease(name) });
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('is created by PUT where there is none', async () => {
    const name = unique('lease');
    const answer = await bed().ask('PUT', bed().leases(name), { body: lease(name) });
    expect(answer).toMatchObject({ status: 201, body: { metadata: { name } } });
  });

  test('is released by an empty holder', async () => {
    const name = unique('lease');
    const read = await bed().post(bed().leases(), lease(name));
    const released = { ...read, spec: { ...read.spec, holderIdentity: '', leaseDurationSeconds: 1 } };
    expect(await bed().put(bed().leases(name), released)).toMatchObject({ spec: { holderIdentity: '' } });
  });

  test.each([
    { name: 'a duration of zero', more: { leaseDurationSeconds: 0 }, field: 'spec.leaseDurationSeconds' },
    { name: 'negative transitions', more: { leaseTransitions: -1 }, field: 'spec.leaseTransitions' },
  ])('refuses $name', async ({ more, field }) => {
    const answer = await bed().ask('POST', bed().leases(), { body: lease(unique('lease'), more) });
    const details = { group: 'coordination.k8s.io', kind: 'Lease', ...causedBy(field) };
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('refuses a time with milliseconds', async () => {
    const body = lease(unique('lease'), { renewTime: '2026-01-01T00:00:00.000Z' });
    expect(await bed().ask('POST', bed().leases(), { body })).toMatchObject(refusal(400, 'BadRequest'));
  });
}
