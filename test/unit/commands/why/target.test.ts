import { expect, test } from 'vitest';
import { objectText } from '../../../../src/commands/plan/table.ts';
import { planUnits } from '../../../../src/commands/plan/units.ts';
import type { Question } from '../../../../src/commands/why/question.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { findTarget } from '../../../../src/commands/why/target.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import type { PodPart } from '../../../../src/snapshot/plan-facts.ts';
import type { LogListing } from '../../../../src/node/logs/list.ts';
import { image } from '../../../fakes/runtime.ts';
import { now, pod } from '../../../builders.ts';
import { dead, down, link, log, rule } from '../../agent/containergc/builders.ts';
import { factsOf, nodesPolicy, type Facts } from '../facts.ts';
import { explained } from './catalogue.ts';

const digest = `sha256:${'d'.repeat(64)}`;
const images: readonly RuntimeImage[] = [
  image('cafe0123456789', { tags: ['docker.io/library/nginx:latest', 'docker.io/library/nginx:1.27'] }),
  image('cafe9876543210', {
    tags: ['registry.example.com/app:v1'],
    digests: [`registry.example.com/app@${digest}`],
  }),
  image('beef0000000000', { tags: [], digests: [] }),
];

const goneLogs = 'default_gone_11111111-2222-3333-4444-555555555555';
const linkedLog = 'g_d_m-01234567.log';
const logs: LogListing = {
  roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
  entries: [
    ...[log(`${goneLogs}/main/0.log`), log(`${goneLogs}/main/1.log`)],
    link(linkedLog, `${goneLogs}/main/0.log`),
  ],
  ...{ directories: [], complete: true },
};
const onNode: Facts = {
  policies: [nodesPolicy({ containerGC: rule() })],
  pods: [pod('web/api-1')],
  part: {
    images,
    containers: [dead('abcd01', 60), dead('abcd02', 30), dead('abc', 10)],
    sandboxes: [down('pod', 60, { id: 'ffff01' })],
    logs,
  },
  assumeElapsed: true,
};

/** The question, and the objects that it finds: their decisions, or the line that says why there is none. */
function answer(question: Question, part?: PodPart): string {
  const target = findTarget(question, { ...factsOf(onNode), part });
  const asked = Object.values({ ...question, ...part })
    .filter((one) => one !== undefined)
    .join(' ');
  if (target.kind !== 'found') return `${asked}\n  ${target.message}\n`;
  const found = planUnits(target.facts, { now, kept: true, assumeElapsed: true, only: target.only });
  const names = found.decisions.map((one) => objectText(one));
  return `${asked}\n${names.map((name) => `  ${name}\n`).join('')}`;
}

const ofNode = (kind: 'image' | 'container' | 'node', ...[text, node]: readonly [string, string?]): string =>
  answer({ kind, text, node });
const ofPod = (namespace: string | undefined, name: string, part?: PodPart): string =>
  answer({ kind: 'pod', namespace, name }, part);

const imageTexts = [
  ...['nginx', 'nginx:1.27', 'docker.io/nginx', `registry.example.com/app@${digest}`, digest],
  ...['beef', 'sha256:beef', 'cafe9', 'cafe', 'bee', 'registry.example.com/app:v2', 'app'],
];
const containerTexts = [
  ...['abcd01', 'abc', 'ffff', 'abcd', '9999', '…/default_gone_11111111…', '…/default_gone/main/0.log'],
  ...[`…/${linkedLog}`, '…/main/…log', '…/nothing', '/var/nothing'],
];

test('what a question finds is that of the file', async () => {
  const texts = [
    ...imageTexts.map((text) => ofNode('image', text)),
    ...containerTexts.map((text) => ofNode('container', text)),
    ofNode('image', 'nginx', 'node-2'),
    ofNode('container', 'abcd01', 'node-9'),
    ofNode('node', 'node-1', 'node-1'),
    ofNode('node', 'node-9', 'node-9'),
    ofPod('web', 'api-1'),
    ofPod('web', 'api-2'),
    ofPod(undefined, 'api-1'),
    ofPod('web', 'queue'),
    ofPod('web', 'queue', { namespace: 'web', selector: undefined }),
    ofPod('web', 'queue', { namespace: 'web', selector: 'app=api' }),
    ofPod('web', 'queue', { namespace: undefined, selector: 'app=api' }),
    ofPod(undefined, 'queue', { namespace: 'web', selector: undefined }),
  ];
  await expect(texts.join('')).toMatchFileSnapshot('./__snapshots__/target.txt');
});

test('a node that is not short of anything is not warned about', () => {
  expect(whyTable(explained({ kind: 'node', text: 'node-1', node: 'node-1' }, onNode))).toContain(
    'is not warned about',
  );
});

test('the decision about a log directory explains a link into it', () => {
  const text = `/var/log/containers/${linkedLog}`;
  const { explanations } = explained({ kind: 'container', text, node: undefined }, onNode);
  expect(explanations).toMatchObject([{ reason: 'OrphanedLogs', object: { kind: 'LogDirectory' } }]);
});

test('the explanation wraps at the width of the terminal', () => {
  const policies = [nodesPolicy({ containerGC: rule() })];
  const facts = { policies, part: { containers: [dead('abcd01', 60)] } };
  const question = { kind: 'container', text: 'abcd01', node: undefined } as const;
  expect(whyTable(explained(question, facts), 50)).not.toMatch(/.{51}/);
  expect(whyTable(explained(question, facts), 120)).toMatch(/.{81}/);
});
