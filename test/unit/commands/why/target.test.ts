import { expect, test } from 'vitest';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import { explain } from '../../../../src/evaluation/why/explain.ts';
import { questionOf } from '../../../../src/evaluation/why/question.ts';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { findTarget } from '../../../../src/evaluation/why/target.ts';
import type { LogEntry, LogListing } from '../../../../src/node/logs/list.ts';
import type { PodPart } from '../../../../src/snapshot/plan-facts.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { minutesAgo, now, pod } from '../../../builders.ts';
import { dead, down, link, log, logsRule, rule } from '../../agent/containergc/builders.ts';
import { boundPod, factsOf, nodesPolicy, type Facts } from '../facts.ts';

const digest = `sha256:${'d'.repeat(64)}`;
const images = [
  image('cafe0123456789', { tags: ['docker.io/library/nginx:latest', 'docker.io/library/nginx:1.27'] }),
  image('cafe9876543210', {
    tags: ['registry.example.com/app:v1'],
    digests: [`registry.example.com/app@${digest}`],
  }),
  image('beef0000000000', { tags: [], digests: [] }),
];
const logsOf = (...entries: readonly LogEntry[]): LogListing => ({
  roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
  ...{ entries, directories: [], complete: true },
});
const goneLogs = 'default_gone_11111111-2222-3333-4444-555555555555';
const linkedLog = 'g_d_m-01234567.log';
const onNode: Facts = {
  policies: [nodesPolicy({ containerGC: rule() })],
  pods: [pod('web/api-1')],
  part: {
    images,
    containers: [dead('abcd01', 60), dead('abcd02', 30), dead('abcd', 10)],
    sandboxes: [down('pod', 60, { id: 'ffff01' })],
    logs: logsOf(
      ...[log(`${goneLogs}/main/0.log`), log(`${goneLogs}/main/1.log`)],
      link(linkedLog, `${goneLogs}/main/0.log`),
    ),
  },
};

const withCheckpoints: Facts = {
  ...onNode,
  part: {
    ...onNode.part,
    checkpoints: {
      files: ['api_web', 'api_other', 'api_other'].map((name, i) => ({
        path: `/checkpoints/checkpoint-${name}-main-2026-01-0${i + 1}T00:00:00Z.tar`,
        ...{ isFile: true, bytes: 4096, writtenMs: minutesAgo(600) },
      })),
      ...{ complete: true, isReadOnly: false, isApart: false },
    },
  },
};

const podLogs = '/var/log/pods/default_pod_uid-pod';
const live = `${podLogs}/main/0.log`;
const rotated = `${podLogs}/rotated/0.log.20260115-110000`;
const large = (path: string): LogEntry => log(path.replace('/var/log/pods/', ''), { bytes: 2 * 1024 ** 2 });
/** Two containers with large logs, one of them renamed, and one of another pod. */
const withLargeLogs: Facts = {
  policies: [nodesPolicy({ containerGC: rule({ logs: logsRule({ warnBytesPerContainer: 1024 ** 2 }) }) })],
  pods: [pod('default/pod'), pod('default/other')],
  part: {
    pods: [boundPod('pod'), boundPod('other')],
    containers: [
      ...[container('aaaa'), container('bbbb', { name: 'rotated' })],
      container('cccc', { pod: 'other' }),
    ],
    logs: logsOf(
      ...[large(live), large(rotated), large('/var/log/pods/default_other_uid-other/main/0.log')],
      link('pod_default_main-aaaa11.log', live),
    ),
  },
};

/** The first line of each section of the answer, or the line that says why there is none. */
function answer(words: string, facts: Facts, part?: PodPart): string {
  const [text = ''] = words.split(/ (?:-n |--node=)/);
  const [, namespace] = / -n (.*)/.exec(words) ?? [];
  const [, node] = / --node=(.*)/.exec(words) ?? [];
  const question = questionOf({ text, namespace, node });
  if ('problem' in question) return question.problem;
  const target = findTarget(question, { ...factsOf(facts), part });
  if (target.kind !== 'found') return target.message;
  const plan = planUnits(target.facts, { now, kept: false, assumeElapsed: true, only: target.only });
  return whyTable(explain(plan, target), 200).match(/^\S.*/gm)?.join('\n  ') ?? '';
}

const asked = [
  ...['pod web/api-1', 'pods/api-1 -n web', 'POD web/api-1 -n web', 'pod web/api-2', 'po api-1'],
  ...['image nginx', 'image nginx:1.27', `image registry.example.com/app@${digest}`, `image ${digest}`],
  ...['image beef', 'image sha256:beef', 'image cafe', 'image bee', 'image registry.example.com/app:v2'],
  ...['images app', 'image/nginx --node=node-1', 'image nginx --node=node-2'],
  ...['container abcd01', 'container/abcd', 'container abcd0', 'container 9999', 'container abc'],
  ...['sandbox/ffff', 'sandbox of default/pod ffff01', 'Container default/pod main abcd02'],
  ...[`log /var/log/pods/${goneLogs}//`, 'LogDirectory …/default_gone_11111111…', `log …/${linkedLog}`],
  ...[
    `log /var/log/containers/${linkedLog}`,
    'log …/main/…log',
    'log /var/nothing',
    'log /var/lib/kubelet/checkpoints/checkpoint-a',
    'pod directory 0182ee',
  ],
  ...[
    'control group pod0182.slice',
    'node node-1',
    'node node-9',
    'node B',
    'pod',
    'pod ',
    'pvc/x',
    'deploy/web',
  ],
  ...['pod web/api-1 -n batch', 'pod a/b/c', 'image a b', 'pod api-1 --node=node-1', 'image nginx -n web'],
];
const inPart: readonly (readonly [string, PodPart])[] = [
  ['pod queue -n web', { namespace: 'web', selector: undefined }],
  ['pod queue -n web', { namespace: 'web', selector: 'app=api' }],
  ['pod queue -n web', { namespace: undefined, selector: 'app=api' }],
  ['pod queue', { namespace: 'web', selector: undefined }],
];
const aboutCheckpoints = [
  ...['checkpoint web/api', 'checkpoint api', 'checkpoint checkpoint-api_web-main-2026-01-01T00:00:00Z.tar'],
  ...['checkpoints other/api', 'checkpoint gone'],
];
const aboutLargeLogs = ['log /var/log/containers/pod_default_main-aaaa11.log', `log ${rotated}`, 'pod pod'];

test('what why finds for the words of the command line is that of the file', async () => {
  const texts = [
    ...asked.map((words) => [words, answer(words, onNode)]),
    ...inPart.map(([words, part]) => [`${words}, in a snapshot of a part`, answer(words, onNode, part)]),
    ...aboutCheckpoints.map((words) => [words, answer(words, withCheckpoints)]),
    ...aboutLargeLogs.map((words) => [`${words}, with a large log`, answer(words, withLargeLogs)]),
  ];
  const text = texts.map(([words, found]) => `why ${words}\n  ${found}\n`).join('');
  await expect(text).toMatchFileSnapshot('./__snapshots__/target.txt');
});
