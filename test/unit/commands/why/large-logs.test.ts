import { expect, test } from 'vitest';
import type { Question } from '../../../../src/commands/why/question.ts';
import { pod } from '../../../builders.ts';
import { container } from '../../../fakes/runtime.ts';
import { link, log, logsRule, rule } from '../../agent/containergc/builders.ts';
import { boundPod, nodesPolicy, type Facts } from '../facts.ts';
import { explained } from './catalogue.ts';

const podLogs = 'default_pod_uid-pod';
const live = `/var/log/pods/${podLogs}/main/0.log`;
const rotated = `/var/log/pods/${podLogs}/rotated/0.log.20260115-110000`;
const other = '/var/log/pods/default_other_uid-other/main/0.log';
const logFile = (path: string) => log(path.replace('/var/log/pods/', ''), { bytes: 2 * 1024 ** 2 });

/** Two containers with large logs, one of them renamed, and one of another pod. */
const facts: Facts = {
  policies: [nodesPolicy({ containerGC: rule({ logs: logsRule({ warnBytesPerContainer: 1024 ** 2 }) }) })],
  pods: [pod('default/pod'), pod('default/other')],
  part: {
    pods: [boundPod('pod'), boundPod('other')],
    containers: [
      container('aaaa'),
      container('bbbb', { name: 'rotated' }),
      container('cccc', { pod: 'other' }),
    ],
    logs: {
      roots: { pods: '/var/log/pods', containers: '/var/log/containers' },
      entries: [logFile(live), logFile(rotated), logFile(other), link('pod_default_main-aaaa11.log', live)],
      ...{ directories: [], complete: true },
    },
  },
};

const ofNode = (text: string): Question => ({ kind: 'container', text, node: undefined });
const linked = '/var/log/containers/pod_default_main-aaaa11.log';

test.each<readonly [string, Question, readonly string[]]>([
  ['a container', ofNode('aaa'), ['aaaa LogTooLarge', 'aaaa Running']],
  ['its log', ofNode(live), ['aaaa LogTooLarge', `/var/log/pods/${podLogs} InUse`]],
  ['a link to its log', ofNode(linked), ['aaaa LogTooLarge', `${linked} InUse`]],
  ['a rotated log that is still written', ofNode(rotated), ['bbbb LogTooLarge', `${rotated} RuleOff`]],
  [
    'their pod',
    { kind: 'pod', namespace: 'default', name: 'pod' },
    ['aaaa LogTooLarge', 'bbbb LogTooLarge', 'default/pod NoPolicy'],
  ],
])('the warning explains %s', (_, question, expected) => {
  const { explanations } = explained(question, facts);
  const texts = explanations.map(({ object, reason }) => {
    const name =
      object.kind === 'Pod' ? `${object.namespace}/${object.name}` : (object.id ?? object.path ?? '');
    return `${name} ${reason}`;
  });
  expect(texts).toEqual(expected);
});
