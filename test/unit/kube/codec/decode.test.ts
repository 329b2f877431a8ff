import { describe, expect, test } from 'vitest';
import { CONTAINER_ENDS } from '../../../../src/api/policy/matching.ts';
import { MalformedError } from '../../../../src/kube/codec/frames.ts';
import type { LabelKeys, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { jobCodec, jsonResource, nodeCodec, podCodec } from '../../../../src/kube/cache/resources.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';
import { evicted, plain, pod } from './decode.fixtures.ts';

const labelKeys = new Set(['app']);
const codec = podCodec(() => labelKeys);

const facts = (object: object): PodFacts => podCodec(() => 'all').fromJson(object);

const protobuf = (object: object): Buffer => protobufOf('Pod', object);
/** A container that ended at this time. */
const ended = (finishedAt: string): object => ({ state: { terminated: { finishedAt } } });
const condition = (type: string, status: string, time?: string, more: object = {}): object => ({
  ...{ type, status, lastTransitionTime: time, ...more },
});
const disruption = (time: string): object => condition('DisruptionTarget', 'True', time);
const january = (day: number): string => `2026-01-0${day}T00:00:00Z`;
const start1970 = '1970-01-01T00:00:00Z';
const beforeCreation = '2025-12-31T23:00:00Z';

/** The facts of a pod, from both wire forms. */
const forms = (object: object, keys: LabelKeys): readonly PodFacts[] => {
  const reader = podCodec(() => keys);
  return [reader.fromJson(object), reader.fromProtobuf(protobuf(object))];
};

describe('the ttl annotation', () => {
  const key = 'gc.dustpan.dev/ttl-after-finished';
  const finished = (annotations: object, phase = 'Failed'): object => pod({ phase }, { annotations });

  test.each<readonly [string, object, string | undefined]>([
    ['is read', finished({ [key]: '10m', other: 'x' }), '10m'],
    ['is not read while the pod runs', finished({ [key]: '10m' }, 'Running'), undefined],
    ['is not a label', pod({ phase: 'Failed' }, { labels: { [key]: '10m' } }), undefined],
  ])('%s, and only if a policy reads it', (_name, object, expected) => {
    for (const one of forms(object, new Set([key]))) expect(one.ttlAnnotation).toBe(expected);
    for (const one of forms(object, labelKeys)) expect(one.ttlAnnotation).toBeUndefined();
  });

  test('is cut, so that it is no duration', () => {
    for (const { ttlAnnotation } of forms(finished({ [key]: '1h'.repeat(100_000) }), new Set([key])))
      expect(ttlAnnotation).toMatch(/^(1h)+1?…[0-9a-f]{32}$/);
  });
});

describe('the ends of containers', () => {
  const end = (exitCode: number, reason?: string): object => ({
    state: { terminated: { exitCode, reason } },
  });
  const [completed, oomKilled, stopped] = [end(0, 'Completed'), end(137, 'OOMKilled'), end(143, 'Error')];
  const waiting = { state: { waiting: { reason: 'PodInitializing' } } };

  test.each<readonly [string, object, string]>([
    [
      'of a failed pod are those that failed, each once',
      { containerStatuses: [completed, oomKilled, stopped, oomKilled] },
      'OOMKilled:137,Error:143',
    ],
    [
      'of init containers count if no other container failed',
      { containerStatuses: [waiting, completed], initContainerStatuses: [completed, end(1, 'Error')] },
      'Error:1',
    ],
    [
      'of init containers do not count otherwise: a sidecar is stopped at last',
      { containerStatuses: [oomKilled], initContainerStatuses: [stopped] },
      'OOMKilled:137',
    ],
    [
      'of a succeeded pod are those of its main containers',
      { phase: 'Succeeded', containerStatuses: [completed], initContainerStatuses: [stopped] },
      'Completed:0',
    ],
    [
      'with a child that was killed are no success',
      { containerStatuses: [end(0, 'OOMKilled')] },
      'OOMKilled:0',
    ],
    ['are none while the pod runs', { phase: 'Running', containerStatuses: [oomKilled] }, ''],
    [
      'are at most 16',
      { containerStatuses: Array.from({ length: 20 }, (_, i) => end(i + 1)) },
      Array.from({ length: 16 }, (_, i) => `:${i + 1}`).join(),
    ],
  ])('%s', (_name, status, expected) => {
    const object = pod({ phase: 'Failed', ...status });
    for (const { ends } of forms(object, new Set([CONTAINER_ENDS])))
      expect(ends.map(({ reason, exitCode }) => `${reason}:${exitCode}`).join()).toBe(expected);
    for (const { ends } of forms(object, labelKeys)) expect(ends).toEqual([]);
  });
});

test('a known pod gets the label, the annotation and the ends that are required now', () => {
  const ttl = 'gc.dustpan.dev/ttl-after-finished';
  const state = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
  const labels = { app: 'web', tier: 'x' };
  const object = pod(
    { phase: 'Failed', containerStatuses: [{ state }] },
    { labels, annotations: { [ttl]: '10m' } },
  );
  let keys: LabelKeys = new Set(['app']);
  const reader = podCodec(() => keys);
  const known = reader.fromJson(object);
  expect([known.labels, known.ttlAnnotation, known.ends]).toEqual([{ app: 'web' }, undefined, []]);
  keys = new Set(['tier', ttl, CONTAINER_ENDS]);
  const byUid = new Map([[known.uid, known]]);
  for (const one of [reader.fromJson(object, byUid), reader.fromProtobuf(protobuf(object), byUid)]) {
    const ends = [{ reason: 'OOMKilled', exitCode: 137 }];
    expect([one.labels, one.ttlAnnotation, one.ends]).toEqual([{ tier: 'x' }, '10m', ends]);
    expect(reader.fromJson(object, new Map([[known.uid, one]]))).toBe(one);
  }
});

describe('pods', () => {
  const read = (status: object | undefined): unknown[] => {
    const object = { ...pod({}), status };
    return [facts(object), codec.fromProtobuf(protobuf(object))];
  };
  const finishOf = (status: object): unknown => read(status).map((one) => (one as PodFacts).finishedAtMs);

  const main = (...times: readonly string[]) => ({ containerStatuses: times.map(ended) });
  const init = (time: string) => ({ initContainerStatuses: [ended(time)] });
  const disrupted = (time: string) => ({ conditions: [disruption(time)] });
  const [day2, day3, day4] = [january(2), january(3), january(4)];

  test.each<readonly [string, object]>([
    ['no container status', {}],
    ['a container that the kubelet lost', main(day2, start1970)],
    ['an ended init container alone', init(day2)],
    ['a container that waits', { containerStatuses: [ended(day2), { state: { waiting: {} } }] }],
    ['a start alone', { startTime: day2 }],
  ])('with %s the disruption is the finish, and no other condition', (_name, status) => {
    const failed = { phase: 'Failed', ...status };
    const others = ['Ready', 'DisruptionTarget'].map((type) => condition(type, 'False', day4));
    expect(finishOf({ ...failed, conditions: others })).toEqual([undefined, undefined]);
    const conditions = [disruption(day3), condition('Ready', 'True', day4)];
    const atMs = Date.parse(day3);
    expect(finishOf({ ...failed, conditions })).toEqual([atMs, atMs]);
  });

  const [early, soon] = ['2025-12-31T22:00:00Z', '2025-12-31T23:59:55Z'];
  const slow = '1970-01-01T00:02:03Z';
  test.each<readonly [string, object, string]>([
    [
      'the end of a container after the disruption is later',
      { ...disrupted(day3), ...main(day4, start1970) },
      day4,
    ],
    [
      'a later condition does not move the end of the last container',
      { ...disrupted(day4), ...main(day2) },
      day2,
    ],
    ['an init container may end last', { ...main(day2), ...init(day3) }, day3],
    ['so may an ephemeral one', { ...main(day2), ephemeralContainerStatuses: [ended(day3)] }, day3],
    ['an end before the creation shows a clock that was behind', main(day2, beforeCreation), beforeCreation],
    ['so does a start, however long the pod ran', { startTime: early, ...main(day2) }, early],
    ['a synchronised clock may start a pod some seconds early', { startTime: soon, ...main(day2) }, day2],
    ['a clock that counts from 1970 is behind', main(slow), slow],
  ])('%s', (_name, status, finish) => {
    for (const phase of ['Failed', 'Succeeded'])
      expect(finishOf({ phase, ...status })).toEqual([Date.parse(finish), Date.parse(finish)]);
  });

  const waiting = (reason: string, more = {}) => ({
    ...{ name: 'c', image: 'i', state: { waiting: { reason, ...more } } },
  });
  const noReason = { reason: '', message: '', image: '', container: '', initEnd: undefined };
  const uninitialized = {
    phase: 'Pending',
    conditions: [condition('Initialized', 'False', january(1))],
    containerStatuses: [waiting('PodInitializing')],
  };
  const lostInit = {
    name: 'restore',
    state: { terminated: { exitCode: 0, reason: 'OOMKilled', finishedAt: day3 } },
  };
  test.each<readonly [string, object, Partial<NonNullable<PodFacts['wait']>> | undefined]>([
    [
      'since its last transition',
      {
        phase: 'Unknown',
        conditions: [condition('A', 'True', january(3)), condition('Ready', 'False', january(2))],
      },
      { sinceMs: Date.parse(january(3)), ...noReason },
    ],
    [
      'the scheduler has not bound it',
      {
        phase: 'Pending',
        conditions: [
          condition('PodScheduled', 'False', january(1), { reason: 'Unschedulable', message: 'no node' }),
        ],
      },
      { reason: 'Unschedulable', message: 'no node', image: '' },
    ],
    [
      'a container has a reason, others wait for it',
      {
        phase: 'Pending',
        initContainerStatuses: [
          { image: 'x', state: { waiting: {} } },
          waiting('ErrImagePull', { message: 'm' }),
        ],
        containerStatuses: [waiting('PodInitializing'), { state: {} }],
      },
      { reason: 'ErrImagePull', message: 'm', image: 'i', container: 'c', isWorking: false },
    ],
    [
      'there is no sandbox',
      {
        phase: 'Pending',
        conditions: [
          condition('PodReadyToStartContainers', 'False', january(1), { reason: 'PodSandboxNotReady' }),
        ],
        containerStatuses: [waiting('ContainerCreating')],
      },
      { reason: 'PodReadyToStartContainers', message: '', image: '' },
    ],
    [
      'an init container works',
      { ...uninitialized, initContainerStatuses: [{ name: 'restore', state: { running: {} } }] },
      { ...noReason, reason: 'PodInitializing', isWorking: true },
    ],
    [
      'an init container has ended, and nothing has started since',
      {
        ...uninitialized,
        initContainerStatuses: [lostInit, { ...waiting('PodInitializing'), name: 'next' }],
      },
      {
        ...{ sinceMs: Date.parse(day3), reason: 'PodInitializing', container: 'restore', isWorking: false },
        initEnd: { reason: 'OOMKilled', exitCode: 0 },
      },
    ],
    [
      'all init containers have ended',
      {
        ...uninitialized,
        conditions: [condition('Initialized', 'True', january(1))],
        initContainerStatuses: [lostInit],
      },
      { ...noReason, reason: 'PodInitializing' },
    ],
    ['a running pod waits for nothing', { phase: 'Running', containerStatuses: [waiting('x')] }, undefined],
  ])('wait: %s', (_name, status, wait) => {
    for (const one of read(status))
      if (wait === undefined) expect((one as PodFacts).wait).toBeUndefined();
      else expect((one as PodFacts).wait).toMatchObject(wait);
  });

  const ofSpec = (spec: object, status: object): readonly PodFacts[] =>
    [facts({ ...pod(status), spec }), codec.fromProtobuf(protobuf({ ...pod(status), spec }))] as PodFacts[];

  test('a sidecar that runs is no progress', () => {
    const spec = { initContainers: [{ name: 'proxy', restartPolicy: 'Always' }, { name: 'restore' }] };
    const runs = { name: 'proxy', state: { running: {} } };
    for (const [next, isWorking] of [
      [lostInit, false],
      [{ name: 'restore', state: { running: {} } }, true],
    ] as const)
      for (const { wait } of ofSpec(spec, { ...uninitialized, initContainerStatuses: [runs, next] }))
        expect(wait).toMatchObject({ isWorking });
  });

  const both = {
    phase: 'Running',
    containerStatuses: [
      { name: 'report', state: { terminated: { exitCode: 0 } } },
      { name: 'proxy', state: { running: {} } },
      waiting('x'),
    ],
  };
  const partly = { ended: ['report'], running: ['proxy'] };
  test.each([
    ['of a Job', 'Never', both, partly],
    ['of a Job whose containers are tried again', 'OnFailure', both, partly],
    ['of a service', 'Always', both, undefined],
    ['of an unknown policy', undefined, both, undefined],
    ['that is pending', 'Never', { ...both, phase: 'Pending' }, undefined],
    ['with an end alone', 'Never', { phase: 'Running', ...main(day2) }, undefined],
  ])('a pod %s has ended in part: %#', (_, restartPolicy, status, partlyEnded) => {
    for (const one of ofSpec({ restartPolicy }, status)) expect(one.partlyEnded).toEqual(partlyEnded);
  });

  const withAnEnd = main(day2);
  const running = { finishedAtMs: undefined };
  const scheduled = (status: string) => ({ conditions: [condition('PodScheduled', status)] });
  test.each<readonly [string, object | undefined, Partial<PodFacts>]>([
    ['a running pod has no end', { phase: 'Running', ...withAnEnd }, running],
    ['a pod in phase Unknown has not ended', { phase: 'Unknown', ...withAnEnd }, running],
    [
      'a pod with an empty phase has no finish time; it is terminated, as upstream',
      withAnEnd,
      { phase: '', finishedAtMs: undefined },
    ],
    ['a new pod has no node and was on none', {}, { nodeName: undefined, nodeExisted: false }],
    ['a pod that a kubelet has accepted was on a node', { startTime: january(1) }, { nodeExisted: true }],
    ['a pod that a scheduler has bound was on a node', scheduled('True'), { nodeExisted: true }],
    ['a pod that no scheduler could bind was on none', scheduled('False'), { nodeExisted: false }],
    ...(
      [
        ['Failed', 'True', 'TerminationByKubelet', { endedByKubelet: true, markedByPodGc: false }],
        ['Failed', 'False', 'TerminationByKubelet', { endedByKubelet: false }],
        ['Failed', 'True', 'DeletionByTaintManager', { endedByKubelet: false, markedByPodGc: false }],
        ['Succeeded', 'True', 'TerminationByKubelet', { endedByKubelet: false }],
        ['Failed', 'True', 'DeletionByPodGC', { endedByKubelet: false, markedByPodGc: true }],
        ['Failed', 'False', 'DeletionByPodGC', { markedByPodGc: false }],
        ['Running', 'True', 'DeletionByPodGC', { markedByPodGc: false }],
      ] as const
    ).map(
      ([phase, status, reason, expected]) =>
        [
          `a ${phase} pod with the disruption ${reason} ${status}: ${JSON.stringify(expected)}`,
          { phase, conditions: [{ type: 'DisruptionTarget', status, reason }] },
          expected,
        ] as const,
    ),
    ['a pod may have no status', undefined, { phase: '', reason: '' }],
  ])('%s', (_name, status, expected) => {
    expect(read(status)).toMatchObject([expected, expected]);
  });

  test('a known object in the same state is reused', () => {
    const known = codec.fromJson(evicted);
    const byUid = new Map([[known.uid, known]]);
    expect(codec.fromJson(evicted, byUid)).toBe(known);
    const changed = { ...evicted, metadata: { ...evicted.metadata, resourceVersion: '218' } };
    expect(plain(codec.fromJson(changed, byUid))).toEqual({ ...plain(known), resourceVersion: '218' });
  });

  test.each([{ metadata: { name: 'p' } }, { metadata: { uid: 'u' } }, null])(
    'an object without identity is rejected: %j',
    (object) => {
      expect(() => codec.fromJson(object)).toThrow(MalformedError);
    },
  );
});

describe('other kinds', () => {
  const metadata = { name: 'n', namespace: 'a', uid: 'u', resourceVersion: '1', labels: { a: 'b' } };

  test.each<readonly [string, readonly object[], boolean]>([
    ['a ready node', [condition('Ready', 'True')], true],
    ['a node of unknown state', [condition('Ready', 'Unknown')], false],
    ['a node without conditions', [], false],
  ])('%s', (_name, conditions, ready) => {
    const node = nodeCodec().fromJson({ metadata, status: { conditions } });
    expect(node).toMatchObject({ ready, labels: { a: 'b' } });
  });

  test.each([
    { conditions: [{ type: 'Complete', status: 'True' }], finished: true },
    { conditions: [{ type: 'Failed', status: 'True' }], finished: true },
    { conditions: [{ type: 'Complete', status: 'False' }], finished: false },
    { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }], finished: false },
  ])('a job with $conditions is finished: $finished', ({ conditions, finished }) => {
    const job = jobCodec().fromJson({ metadata, status: { conditions } });
    expect(job).toMatchObject({ namespace: 'a', controller: undefined, finished });
  });

  test('a custom resource is rejected in protobuf and without identity', () => {
    const { codec: raw } = jsonResource({ name: 'gcpolicies', path: '/x' });
    expect(() => raw.fromProtobuf(Buffer.alloc(0))).toThrow(MalformedError);
    expect(() => raw.fromJson({ metadata: { name: 'p' } })).toThrow(MalformedError);
  });
});
