import { describe, expect, test } from 'vitest';
import { findTarget } from '../../../../src/commands/why/target.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import type { PodPart } from '../../../../src/snapshot/plan-facts.ts';
import type { LogListing } from '../../../../src/node/logs/list.ts';
import { image } from '../../../fakes/runtime.ts';
import { pod } from '../../../builders.ts';
import { dead, down, link, log, rule } from '../../agent/containergc/builders.ts';
import { factsOf, nodesPolicy, type Facts } from '../facts.ts';
import { explained } from './catalogue.ts';

describe('an image', () => {
  const digest = `sha256:${'d'.repeat(64)}`;
  const images: readonly RuntimeImage[] = [
    image('cafe0123456789', { tags: ['docker.io/library/nginx:latest', 'docker.io/library/nginx:1.27'] }),
    image('cafe9876543210', {
      tags: ['registry.example.com/app:v1'],
      digests: [`registry.example.com/app@${digest}`],
    }),
    image('beef0000000000', { tags: [], digests: [] }),
  ];
  const facts = factsOf({ part: { images } });

  test.each([
    { text: 'nginx', is: 'sha256:cafe0123456789' },
    { text: 'nginx:1.27', is: 'sha256:cafe0123456789' },
    { text: 'docker.io/nginx', is: 'sha256:cafe0123456789' },
    { text: `registry.example.com/app@${digest}`, is: 'sha256:cafe9876543210' },
    { text: digest, is: 'sha256:cafe9876543210' },
    { text: 'beef', is: 'sha256:beef0000000000' },
    { text: 'sha256:beef', is: 'sha256:beef0000000000' },
    { text: 'cafe9', is: 'sha256:cafe9876543210' },
    {
      text: 'cafe',
      is: '"cafe" is ambiguous, 2 match: cafe01234567 (docker.io/library/nginx:latest), cafe98765432 (registry.example.com/app:v1)',
    },
    { text: 'bee', is: 'there is no image bee on node-1' },
    {
      text: 'registry.example.com/app:v2',
      is: 'there is no image registry.example.com/app:v2 on node-1; did you mean registry.example.com/app:v1?',
    },
    { text: 'app', is: 'there is no image app on node-1; did you mean registry.example.com/app:v1?' },
    { text: 'nginx', nodeName: 'node-2', is: 'node node-2 was not read, only node-1' },
  ])('$text $nodeName: $is', ({ text, nodeName, is }) => {
    const target = findTarget({ kind: 'image', text, node: nodeName }, facts);
    const found = images.filter(
      ({ id }) => target.kind === 'found' && target.only({ kind: 'Image', id, node: 'node-1' }, 'Keep'),
    );
    expect(target.kind === 'found' ? found.map(({ id }) => id).join() : target.message).toBe(is);
  });
});

describe('a container, a sandbox or a log', () => {
  const goneLogs = 'default_gone_11111111-2222-3333-4444-555555555555';
  const logs: LogListing = {
    roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
    entries: [log(`${goneLogs}/main/0.log`), link('g_d_m-01234567.log', `${goneLogs}/main/0.log`)],
    ...{ directories: [], complete: true },
  };
  const facts: Facts = {
    policies: [nodesPolicy({ containerGC: rule() })],
    part: {
      containers: [dead('abcd01', 60), dead('abcd02', 30), dead('abc', 10)],
      sandboxes: [down('pod', 60, { id: 'ffff01' })],
      logs,
    },
    assumeElapsed: true,
  };

  test.each([
    { text: 'abcd01', is: 'found' },
    { text: 'abc', is: 'found' },
    { text: 'ffff', is: 'found' },
    {
      text: 'abcd',
      is: '"abcd" is ambiguous, 2 match: abcd01 (container main on node-1), abcd02 (container main on node-1)',
    },
    { text: '9999', is: 'there is no container or sandbox 9999 on node-1, or not any more' },
    {
      text: '/var/log/nothing',
      is: 'there is no log or orphaned resource /var/log/nothing on node-1, or not any more',
    },
    { text: 'abcd01', nodeName: 'node-9', is: 'node node-9 was not read, only node-1' },
  ])('$text $nodeName: $is', ({ text, nodeName, is }) => {
    const target = findTarget({ kind: 'container', text, node: nodeName }, factsOf(facts));
    expect(target.kind === 'found' ? 'found' : target.message).toBe(is);
  });

  test('the decision about a log directory explains a link into it', () => {
    const text = '/var/log/containers/g_d_m-01234567.log';
    const question = { kind: 'container', text, node: undefined } as const;
    const { explanations } = explained(question, facts);
    expect(explanations).toMatchObject([{ reason: 'OrphanedLogs', object: { kind: 'LogDirectory' } }]);
  });
});

test.each<{ namespace?: string; name: string; part?: PodPart; message: string }>([
  {
    namespace: 'web',
    name: 'api-2',
    message: 'there is no pod web/api-2, or not any more; did you mean web/api-1?',
  },
  {
    name: 'api-1',
    message: 'there is no pod default/api-1, or not any more; there is web/api-1',
  },
  { namespace: 'web', name: 'queue', message: 'there is no pod web/queue, or not any more' },
  {
    ...{ namespace: 'web', name: 'queue', part: { namespace: 'web', selector: undefined } },
    message: 'there is no pod web/queue, or not any more',
  },
  {
    ...{ namespace: 'web', name: 'queue', part: { namespace: 'web', selector: 'app=api' } },
    message:
      'the snapshot does not have pod web/queue, which may exist: it has only the pods of namespace web with labels app=api',
  },
  {
    ...{ namespace: 'web', name: 'queue', part: { namespace: undefined, selector: 'app=api' } },
    message:
      'the snapshot does not have pod web/queue, which may exist: it has only the pods with labels app=api',
  },
  {
    ...{ name: 'queue', part: { namespace: 'web', selector: undefined } },
    message:
      'the snapshot does not have pod default/queue, which may exist: it has only the pods of namespace web',
  },
])('a pod: $message', ({ namespace, name, part, message }) => {
  const facts = { ...factsOf({ pods: [pod('web/api-1')] }), part };
  expect(findTarget({ kind: 'pod', namespace, name }, facts)).toEqual({ kind: 'missing', message });
});
