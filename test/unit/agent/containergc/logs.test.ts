import { expect, test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { now } from '../../../builders.ts';
import {
  apiPod,
  checkRow,
  dead,
  down,
  factsOf,
  removalsOf,
  governedBy,
  link,
  log,
  logsRule,
  rule,
  staticSource,
  type Row,
} from './builders.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';

const uuid = '433160a7-7ac4-5869-936e-3ef9d53f3eaa';
const hash = '0123456789abcdef0123456789abcdef';
const gone = 'default_gone_uid-gone';

test.each<Row>([
  {
    name: 'of gone pods are removed, in both forms of the name, by path',
    node: { logs: [log(`${gone}/main/0.log`), log(`${uuid}/main/0.log`)] },
    removed: [`pods/${uuid} OrphanedLogs`, `pods/${gone} OrphanedLogs`],
    kept: [],
  },
  {
    name: 'of pods that exist or run are kept',
    node: {
      pods: [apiPod('here')],
      sandboxes: [sandbox('alive')],
      logs: [log('default_here_uid-here/main/0.log'), log('default_alive_uid-alive/main/0.log')],
    },
    removed: [],
    kept: [
      ...['pods/default_alive_uid-alive InUse', 'pods/default_here_uid-here InUse', 'alive-sandbox Running'],
      ...['alive', 'here'].map((it) => `pods/default_${it}_uid-${it}/main/0.log NewestAttempt`),
    ],
  },
  {
    name: 'with names that the kubelet does not use are kept',
    node: {
      logs: ['lost+found/x', 'a_b/x', 'A_b_c/x', 'a_b_c_d/x', 'mine/x', '_a_b/x', 'a_b_/x'].map((path) =>
        log(path),
      ),
    },
    removed: [],
    kept: ['A_b_c', '_a_b', 'a_b', 'a_b_', 'a_b_c_d', 'lost+found', 'mine'].map(
      (it) => `pods/${it} NotKubelets`,
    ),
  },
  {
    name: 'of static pods are kept, even without a sandbox',
    node: {
      sandboxes: [down('s', 9, { annotations: staticSource })],
      logs: [
        log(`kube-system_s_uid-s/main/0.log`),
        log(`kube-system_api_${hash}/main/0.log`),
        log(`${hash}/x/0.log`),
      ],
    },
    removed: [],
    kept: [
      's-sandbox StaticPod',
      'pods/kube-system_s_uid-s StaticPod',
      `pods/kube-system_api_${hash} StaticPod`,
      `pods/${hash} StaticPod`,
    ],
  },
  {
    name: 'are kept while the pods are unknown',
    node: { pods: undefined, logs: [log(`${gone}/main/0.log`)] },
    removed: [],
    kept: [`pods/${gone} PodsUnknown`],
  },
  {
    name: 'containers not known',
    node: { containers: undefined, logs: [log(`${gone}/main/0.log`)] },
    removed: [],
    kept: [`pods/${gone} ContainersUnknown`],
  },
  {
    name: 'of a pod with a container that is too young are kept',
    node: { containers: [dead('young', 1, { pod: 'gone' })], logs: [log(`${gone}/main/0.log`)] },
    policy: { minimumAgeMs: 600_000 },
    removed: [],
    kept: ['young TooYoung 12:09:00', `pods/${gone} InUse`],
  },
  {
    name: 'switched off',
    node: { logs: [log(`${gone}/main/0.log`)] },
    policy: { logs: logsRule({ orphanedDirectories: false }) },
    removed: [],
    kept: [`pods/${gone} RuleOff`],
  },
])('log directories: $name', checkRow);

test('an empty log directory of a gone pod is removed', () => {
  const facts = factsOf({});
  const directories = [`/var/log/pods/${gone}`];
  const logs = facts.logs && { ...facts.logs, directories };
  const plan = planContainerGc({ ...facts, logs }, { governance: governedBy(rule()), now, assumeGone: true });
  expect(removalsOf(plan)).toEqual([`pods/${gone} OrphanedLogs`]);
});

const old = 'default_old_uid-old/main/0.log';
const docker = '/var/lib/docker/containers/x/x-json.log';
/** With Docker the log is outside of the log roots; the newer of its runtimes has a link to it below the root of the pods. */
const outside = (digit: string) => link(`pod_default_main-${digit.repeat(64)}.log`, docker);
const dockerLog = { ...log('default_pod_uid-pod/main/0.log'), target: docker };
const via = (digit: string) =>
  link(`via_default_main-${digit.repeat(64)}.log`, 'default_pod_uid-pod/main/0.log');

test.each<Row>([
  {
    name: 'broken, the container unknown to the runtime, exited, or not in the name',
    node: {
      pods: [apiPod('pod')],
      containers: [dead('abcdef0123456789', 9)],
      logs: ['x_y_z-0123456789.log', 'x_y_z-abcdef01.log', 'x_y_z-abc.log', 'x.log'].map((it) =>
        link(it, old),
      ),
    },
    removed: ['x.log', 'x_y_z-0123456789.log', 'x_y_z-abc.log', 'x_y_z-abcdef01.log'].map(
      (it) => `containers/${it} BrokenLink`,
    ),
  },
  {
    name: 'broken, the container runs, was not started, or is in unknown state',
    node: {
      pods: [apiPod('pod')],
      containers: [
        container('aaaaaaaa'),
        dead('bbbbbbbb', 9, { state: 'Created', name: 'b' }),
        dead('cccccccc', 9, { state: 'Unknown' }),
      ],
      logs: ['x-aaaaaaaa.log', 'x-bbbbbb.log', 'x-cccccccc.log'].map((it) => link(it, old)),
    },
    removed: [],
    kept: [
      ...['aaaaaaaa Running', 'bbbbbbbb NewestAttempt', 'cccccccc UnknownState'],
      ...['aaaaaaaa', 'bbbbbb', 'cccccccc'].map((it) => `containers/x-${it}.log InUse`),
    ],
  },
  {
    name: 'broken, the cut id matches two containers, one of which runs',
    node: { containers: [container('aaaaaa1'), dead('aaaaaa2', 9)], logs: [link('x-aaaaaa.log', old)] },
    removed: [],
  },
  {
    name: 'not broken',
    node: {
      pods: [apiPod('here')],
      logs: [
        log('default_here_uid-here/main/0.log'),
        link('x-0123456789.log', 'default_here_uid-here/main/0.log'),
      ],
    },
    removed: [],
    kept: [
      ...['containers/x-0123456789.log InUse', 'pods/default_here_uid-here InUse'],
      'pods/default_here_uid-here/main/0.log NewestAttempt',
    ],
  },
  {
    name: 'to a target that is not listed, the runtime does not have the container',
    node: { containers: [container('c'.repeat(64))], logs: [outside('a'), via('b'), dockerLog] },
    removed: [outside('a'), via('b')].map(({ path }) => `${path.slice('/var/log/'.length)} BrokenLink`),
  },
  {
    name: 'to a target that is not listed, the runtime has the container, dead or alive',
    node: {
      pods: [apiPod('pod')],
      containers: [container('a'.repeat(64)), dead('b'.repeat(64), 9)],
      logs: [outside('a'), outside('b'), via('b'), dockerLog],
    },
    removed: [],
  },
  {
    name: 'to a target that is not listed, with a name that may not be the kubelets',
    node: {
      logs: ['service.log', 'a_b_c-service.log', 'x-0123456789abcdef.log'].map((it) => link(it, docker)),
    },
    removed: [],
    kept: ['service', 'a_b_c-service', 'x-0123456789abcdef'].map((it) => `containers/${it}.log NotKubelets`),
  },
  { name: 'not a *.log link', node: { logs: [link('x-0123456789.txt', old)] }, removed: [], kept: [] },
  {
    name: 'containers not known',
    node: { containers: undefined, logs: [link('x-0123456789.log', old)] },
    removed: [],
    kept: ['containers/x-0123456789.log ContainersUnknown'],
  },
  {
    name: 'switched off',
    node: { logs: [link('x-0123456789.log', old)] },
    policy: { logs: logsRule({ brokenLinks: false }) },
    removed: [],
    kept: ['containers/x-0123456789.log RuleOff'],
  },
])('links: $name', checkRow);

test('an incomplete listing makes no link broken', () => {
  const facts = factsOf({ logs: [link('x-0123456789.log', old)] });
  const logs = facts.logs && { ...facts.logs, complete: false };
  expect(removalsOf(planContainerGc({ ...facts, logs }, { governance: governedBy(rule()), now }))).toEqual(
    [],
  );
});
