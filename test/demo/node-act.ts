import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeGCReportStatus } from '../../src/api/gen/nodegcreport.gen.ts';
import { startCriSandbox, type CriSandbox } from '../sandbox/cri/server.ts';
import { layOutImages } from '../sandbox/node/image-disk.ts';
import { mountMemory } from '../sandbox/node/own-mounts.ts';
import {
  boundPods,
  diskMiB,
  diskPercent,
  NodeMess,
  nodeName,
  nodePolicy,
  type PodUids,
} from './node-mess.ts';
import { reckon } from './node-reckoning.ts';
import { idOf, isPresent, mebibytes, type Scene } from './node-scene.ts';
import { NodeView, type NodeLook } from './node-view.ts';
import { Program } from './program.ts';
import { bar, bold, dim, green, sideBySide } from './screen.ts';
import { patienceMs, type Stage } from './stage.ts';

/** A node after some weeks and how the agent cleans it; resolves with whether it went as it should. */
export async function nodeAct(stage: Stage): Promise<boolean> {
  const { screen } = stage;
  screen.say();
  if (process.platform !== 'linux') {
    screen.say('the node agent needs Linux: this part is left out here');
    return true;
  }
  const scene = await setScene(stage);
  introduce(stage, scene);
  const agent = stage.started(startAgent(stage, scene));
  const before = await showDryRun(stage, scene, agent);
  const after = await showEnforce(stage, scene, agent);
  return reckon(stage, scene, { agent, before, after });
}

/** The node with everything on it, as the runtime and the API server have it, and its policy in DryRun. */
export async function setScene(stage: Stage): Promise<Scene> {
  const uids = await bindPods(stage);
  const path = (name: string): string => join(stage.directory, name);
  for (const name of ['pods', 'containers', 'state', 'kubelet', 'images'])
    mkdirSync(path(name), { recursive: true });
  const unmount = mountMemory(path('images'), diskMiB);
  if (unmount) stage.atEnd(unmount);
  const hasDisk = unmount !== undefined;
  const logs = { pods: path('pods'), containers: path('containers') };
  const socket = path('cri.sock');
  const cri = await startCriSandbox({ socket, logs, mountpoint: path('images') });
  stage.atEnd(() => {
    cri.stop();
  });
  const mess = new NodeMess(cri.runtime, { ...logs, state: path('state') }, { hasDisk });
  mess.make(uids);
  takeTime(cri, hasDisk);
  await stage.send('POST', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies', nodePolicy('DryRun', { hasDisk }));
  const view = new NodeView({ ...stage, nodeName, socket, stateDirectory: path('state'), logs });
  stage.atEnd(() => {
    view.close();
  });
  return { cri, mess, view, hasDisk, path };
}

/** As a real runtime, and so that a person sees it go. */
function takeTime(cri: CriSandbox, hasDisk: boolean): void {
  const removalMs = 250;
  if (hasDisk) layOutImages(cri, removalMs);
  for (const method of ['RemoveImage', 'RemoveContainer', 'RemovePodSandbox'])
    cri.faults.next(method, { kind: 'delay', ms: removalMs }, Infinity);
}

/** The node and its pods, as the API server has them. */
async function bindPods({ send }: Stage): Promise<PodUids> {
  await send('POST', '/api/v1/nodes', { metadata: { name: nodeName } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await send('PATCH', `/api/v1/nodes/${nodeName}/status`, { status: { conditions } });
  const uids: Record<string, string> = {};
  for (const { name, phase, image } of boundPods) {
    const spec = { nodeName, containers: [{ name: 'main', image }] };
    const pod = await send('POST', '/api/v1/namespaces/web/pods', { metadata: { name }, spec });
    await send('PATCH', `/api/v1/namespaces/web/pods/${name}/status`, { status: { phase } });
    uids[name] = (pod['metadata'] as { uid: string }).uid;
  }
  return uids as PodUids;
}

function introduce({ screen }: Stage, { hasDisk }: Scene): void {
  screen.say(`${bold('a node')}: ${nodeName} after some weeks, and how its agent cleans it`);
  screen.say(dim('  simulated  the container runtime (CRI on a unix socket) and what ran in it,'));
  screen.say(dim('             and the kubelet'));
  screen.say(dim('  real       the agent, as built; the log files and links; the clock'));
  const disk = hasDisk
    ? [`  real       the disk of the images: ${diskMiB} MiB of memory (tmpfs), a file an image`]
    : [
        '  left out   the disk of the images: nothing can be mounted here, so nothing',
        '             is removed for space, only what was unused for too long',
      ];
  for (const line of disk) screen.say(dim(line));
  screen.say();
}

/** The agent, as a user starts it, but with a pass each second. */
export function startAgent({ kubeconfig, kubelet, directory }: Stage, { cri, path }: Scene): Program {
  return new Program(
    [
      ...['agent', `--node-name=${nodeName}`, `--kubeconfig=${kubeconfig}`, `--cri-socket=${cri.socket}`],
      ...[`--state-dir=${path('state')}`, `--kubelet-root-dir=${path('kubelet')}`],
      ...[`--pod-logs-dir=${path('pods')}`, `--container-logs-dir=${path('containers')}`],
      ...['--container-gc-period=1s', '--image-gc-period=1s', '--local-storage-period=1s', '--v=4'],
      ...['--metrics-bind-address=0', '--health-probe-bind-address=0'],
      ...(kubelet === undefined ? [] : [`--kubelet-endpoint=${kubelet.endpoint}`]),
    ],
    join(directory, 'agent.log'),
  );
}

/** Until the agent's log names everything that is due, and its report says that all is well; then all must still be there. */
async function showDryRun(stage: Stage, scene: Scene, agent: Program): Promise<NodeLook> {
  const { screen } = stage;
  const { mess, view, hasDisk } = scene;
  screen.say(`${bold('mode DryRun')} ${dim('of the policy for nodes')}`);
  const startMs = Date.now();
  for (;;) {
    const look = await view.look();
    const report = await view.report();
    const named = new Set(agent.log.filter(({ msg }) => msg?.startsWith('would remove')).map(idOf));
    const isTold = [...look.due.keys()].every((id) => named.has(id)) && isReady(report);
    if (isTold && Date.now() > startMs + 4_000) {
      screen.settle(nodeLines(look, hasDisk));
      mustBeUntouched(scene);
      const early = [...named].filter((id) => !look.due.has(id));
      if (early.length > 0) throw new Error(`the agent would remove what is not due: ${early.join(', ')}`);
      screen.say(dim(`  kubectl get nodegcreport ${nodeName}: ${reportLine(report)}`));
      screen.say(
        green(`the agent's log names ${named.size} to go; all ${mess.things.length} things are there`),
      );
      screen.say();
      return look;
    }
    screen.frame(nodeLines(look, hasDisk));
    await pause(agent, startMs, 'the agent does not tell what is due');
  }
}

const isReady = (report: NodeGCReportStatus | undefined): report is NodeGCReportStatus =>
  report?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'AsPlanned') === true;

function reportLine({ images = {}, policy }: NodeGCReportStatus): string {
  const { total, inUse } = images;
  return `${total?.count ?? '?'} images, ${inUse?.count ?? '?'} in use, ${policy?.mode ?? '?'}, Ready`;
}

function mustBeUntouched({ cri, mess }: Scene): void {
  if (cri.changes.length > 0 || !mess.things.every(({ id }) => isPresent(cri, id)))
    throw new Error('DryRun touched the node');
}

/** Until nothing is due any more, and a pass has seen so. */
async function showEnforce(stage: Stage, { view, hasDisk }: Scene, agent: Program): Promise<NodeLook> {
  const { screen, send } = stage;
  screen.say(bold('mode Enforce'));
  screen.say(dim(`  kubectl patch gcpolicy nodes --type merge -p '{"spec":{"mode":"Enforce"}}'`));
  await send('PATCH', '/apis/gc.dustpan.dev/v1alpha1/gcpolicies/nodes', nodePolicy('Enforce', { hasDisk }));
  const startMs = Date.now();
  let quietSince: number | undefined;
  for (;;) {
    const look = await view.look();
    quietSince = look.due.size > 0 ? undefined : (quietSince ?? agent.log.length);
    // Two units with a pass each: what they remove beyond the plan would show now.
    if (quietSince !== undefined && plannedSince(agent, quietSince) >= 4) {
      screen.settle(nodeLines(look, hasDisk));
      return look;
    }
    screen.frame(nodeLines(look, hasDisk));
    await pause(agent, startMs, `still due: ${[...look.due.keys()].join(', ')}`);
  }
}

const plannedSince = (agent: Program, line: number): number =>
  agent.log.slice(line).filter(({ msg }) => msg === 'planned pass').length;

async function pause(agent: Program, startMs: number, complaint: string): Promise<void> {
  agent.check();
  if (Date.now() > startMs + patienceMs) throw new Error(complaint);
  await sleep(200);
}

function nodeLines({ due, kept, disk, imageCount, imageBytes }: NodeLook, hasDisk: boolean): string[] {
  const images = `${imageCount} images, ${mebibytes(imageBytes)}`;
  const percent = `${disk.usedPercent} %`.padStart(5);
  const disks = `disk ${percent} ${bar(disk.usedPercent)} limit ${diskPercent.limit} %, goal ${diskPercent.goal} %`;
  const first = hasDisk ? `${disks}   ${images}` : images;
  return [`  ${first}`, ...sideBySide(due.values(), kept.values())];
}
