import { describe, expect, test } from 'vitest';
import { whyTable } from '../../../../src/commands/why/table.ts';
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
    ['nginx', 'sha256:cafe0123456789'],
    ['nginx:1.27', 'sha256:cafe0123456789'],
    ['docker.io/nginx', 'sha256:cafe0123456789'],
    [`registry.example.com/app@${digest}`, 'sha256:cafe9876543210'],
    [digest, 'sha256:cafe9876543210'],
    ['beef', 'sha256:beef0000000000'],
    ['sha256:beef', 'sha256:beef0000000000'],
    ['cafe9', 'sha256:cafe9876543210'],
    [
      'cafe',
      '"cafe" is ambiguous, 2 match: cafe01234567 (docker.io/library/nginx:latest), cafe98765432 (registry.example.com/app:v1)',
    ],
    ['bee', 'there is no image bee on node-1'],
    [
      'registry.example.com/app:v2',
      'there is no image registry.example.com/app:v2 on node-1; did you mean registry.example.com/app:v1?',
    ],
    ['app', 'there is no image app on node-1; did you mean registry.example.com/app:v1?'],
    ['nginx', 'node node-2 was not read, only node-1', 'node-2'],
  ])('%s: %s', (text, is, nodeName?: string) => {
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
    entries: [
      log(`${goneLogs}/main/0.log`),
      log(`${goneLogs}/main/1.log`),
      link('g_d_m-01234567.log', `${goneLogs}/main/0.log`),
    ],
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
    ['abcd01', 'found'],
    ['abc', 'found'],
    ['ffff', 'found'],
    [
      'abcd',
      '"abcd" is ambiguous, 2 match: abcd01 (container main on node-1), abcd02 (container main on node-1)',
    ],
    ['9999', 'there is no container or sandbox 9999 on node-1, or not any more'],
    ['…/default_gone_11111111…', 'found'],
    ['…/default_gone/main/0.log', 'found'],
    ['…/g_d_m-01234567.log', 'found'],
    [
      '…/main/…log',
      `"…/main/…log" is ambiguous, 2 match: ${[0, 1].map((n) => `/var/log/pods/${goneLogs}/main/${n}.log`).join(', ')}`,
    ],
    ['…/nothing', 'there is no log or orphaned resource …/nothing on node-1, or not any more'],
    ['/var/nothing', 'there is no log or orphaned resource /var/nothing on node-1, or not any more'],
    ['abcd01', 'node node-9 was not read, only node-1', 'node-9'],
  ])('%s: %s', (text, is, nodeName?: string) => {
    const target = findTarget({ kind: 'container', text, node: nodeName }, factsOf(facts));
    expect(target.kind === 'found' ? 'found' : target.message).toBe(is);
  });

  test.each([
    ['node-1', 'is not warned about'],
    ['node-9', 'node node-9 was not read, only node-1'],
  ])('a node: %s', (text, is) => {
    const question = { kind: 'node', text, node: text } as const;
    const target = findTarget(question, factsOf(facts));
    expect(target.kind === 'found' ? whyTable(explained(question, facts)) : target.message).toContain(is);
  });

  test('the decision about a log directory explains a link into it', () => {
    const text = '/var/log/containers/g_d_m-01234567.log';
    const question = { kind: 'container', text, node: undefined } as const;
    const { explanations } = explained(question, facts);
    expect(explanations).toMatchObject([{ reason: 'OrphanedLogs', object: { kind: 'LogDirectory' } }]);
  });
});

test('the explanation wraps at the width of the terminal', () => {
  const policies = [nodesPolicy({ containerGC: rule() })];
  const facts = { policies, part: { containers: [dead('abcd01', 60)] } };
  const question = { kind: 'container', text: 'abcd01', node: undefined } as const;
  expect(whyTable(explained(question, facts), 50)).not.toMatch(/.{51}/);
  expect(whyTable(explained(question, facts), 120)).toMatch(/.{81}/);
});

const part = (namespace?: string, selector?: string): PodPart => ({ namespace, selector });
const podMessage = (namespace: string | undefined, name: string, known?: PodPart) => {
  const facts = { ...factsOf({ pods: [pod('web/api-1')] }), part: known };
  const target = findTarget({ kind: 'pod', namespace, name }, facts);
  return target.kind === 'missing' ? target.message : target.kind;
};

test.each([
  ['web', 'api-2', 'there is no pod web/api-2, or not any more; did you mean web/api-1?'],
  [undefined, 'api-1', 'there is no pod default/api-1, or not any more; there is web/api-1'],
  ['web', 'queue', 'there is no pod web/queue, or not any more'],
  ['web', 'queue', 'there is no pod web/queue, or not any more', part('web')],
])('a pod: %s %s: %s', (namespace, name, message, known?: PodPart) => {
  expect(podMessage(namespace, name, known)).toBe(message);
});

test.each<readonly [string | undefined, PodPart, string]>([
  ['web', part('web', 'app=api'), 'the pods of namespace web with labels app=api'],
  ['web', part(undefined, 'app=api'), 'the pods with labels app=api'],
  [undefined, part('web'), 'the pods of namespace web'],
])('a pod of namespace %s that a snapshot of some pods %o lacks may exist', (namespace, known, pods) => {
  expect(podMessage(namespace, 'queue', known)).toBe(
    `the snapshot does not have pod ${namespace ?? 'default'}/queue, which may exist: it has only ${pods}`,
  );
});
