import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeGCReport, NodeGCReportStatus } from '../../../src/api/gen/nodegcreport.gen.ts';
import { policiesPath, timeoutMs, type Context } from '../context.ts';
import type { LogLine, Program } from '../program.ts';
import { bar, bold, dim, green, sideBySide } from '../screen.ts';
import { diskMiB, diskPercent, nodeName, nodePolicy } from './objects.ts';
import { idOf, mebibytes, showResult } from './result.ts';
import { isPresent, nodeState, startAgent, startNode, type DemoNode, type NodeState } from './setup.ts';

/** Shows how the agent cleans up a node; resolves with whether each object had the expected outcome. */
export async function nodePart(context: Context): Promise<boolean> {
  const { screen } = context;
  screen.print();
  if (process.platform !== 'linux') {
    screen.print('the agent needs Linux: this part is left out here');
    return true;
  }
  const node = await startNode(context);
  introduce(context, node);
  const agent = context.started(startAgent(context, node));
  const before = await showDryRun(context, node, agent);
  const after = await showEnforce(context, node, agent);
  return showResult(context, node, { agent, before, after });
}

function introduce({ screen }: Context, { hasDisk }: DemoNode): void {
  screen.print(`${bold('a node')}: ${nodeName} after some weeks, and how its agent cleans it up`);
  screen.print(dim('  simulated  the container runtime (CRI on a unix socket), its containers,'));
  screen.print(dim('             and the kubelet'));
  screen.print(dim('  real       the agent, as built; the log files and links; the clock'));
  const disk = hasDisk
    ? [`  real       the disk of the images: ${diskMiB} MiB of memory (tmpfs), a file per image`]
    : [
        '  left out   the disk of the images: nothing can be mounted here, so images are',
        '             removed only for their age',
      ];
  for (const line of disk) screen.print(dim(line));
  screen.print();
}

/** Long enough for several passes. */
const dryRunMs = 4_000;

/** Waits until the agent's log and report agree with the plan; everything must be there then. */
async function showDryRun(context: Context, node: DemoNode, agent: Program): Promise<NodeState> {
  const { screen } = context;
  const { objects, hasDisk } = node;
  screen.print(`${bold('mode DryRun')} ${dim('of the policy for nodes')}`);
  const startMs = Date.now();
  for (;;) {
    const state = await nodeState(node);
    const report = await readReport(context);
    const logged = new Set(agent.log.filter(isWouldRemove).map(idOf));
    const isLogged = [...state.due.keys()].every((id) => logged.has(id));
    if (isLogged && isReady(report) && Date.now() > startMs + dryRunMs) {
      screen.lastFrame(nodeLines(state, hasDisk));
      checkUntouched(node);
      const wrong = [...logged].filter((id) => !state.due.has(id));
      if (wrong.length > 0) throw new Error(`the agent would remove what is not due: ${wrong.join(', ')}`);
      screen.print(dim(`  kubectl get nodegcreport ${nodeName}: ${reportLine(report)}`));
      const { length } = objects.all;
      screen.print(green(`the agent's log names ${logged.size} objects to remove; all ${length} are there`));
      screen.print();
      return state;
    }
    screen.frame(nodeLines(state, hasDisk));
    await pause(agent, startMs, "the agent's log does not name everything that is due");
  }
}

const isWouldRemove = ({ msg }: LogLine): boolean => msg?.startsWith('would remove') === true;

async function readReport({ send }: Context): Promise<NodeGCReportStatus | undefined> {
  const { items } = await send('GET', '/apis/gc.dustpan.dev/v1alpha1/nodegcreports');
  return (items as NodeGCReport[]).find(({ metadata }) => metadata?.name === nodeName)?.status;
}

const isReady = (report: NodeGCReportStatus | undefined): report is NodeGCReportStatus =>
  report?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'AsPlanned') === true;

function reportLine({ images = {}, policy }: NodeGCReportStatus): string {
  const { total, inUse } = images;
  return `${total?.count ?? '?'} images, ${inUse?.count ?? '?'} in use, ${policy?.mode ?? '?'}, Ready`;
}

function checkUntouched({ cri, objects }: DemoNode): void {
  if (cri.changes.length > 0 || !objects.all.every(({ id }) => isPresent(cri, id)))
    throw new Error('DryRun touched the node');
}

/** Waits until nothing is due, and for another pass of each unit. */
async function showEnforce(context: Context, node: DemoNode, agent: Program): Promise<NodeState> {
  const { screen, send } = context;
  const { hasDisk } = node;
  screen.print(bold('mode Enforce'));
  screen.print(dim(`  kubectl patch gcpolicy nodes --type merge -p '{"spec":{"mode":"Enforce"}}'`));
  await send('PATCH', `${policiesPath}/nodes`, nodePolicy('Enforce', { hasDisk }));
  const startMs = Date.now();
  let quietSince: number | undefined;
  for (;;) {
    const state = await nodeState(node);
    quietSince = state.due.size > 0 ? undefined : (quietSince ?? agent.log.length);
    // These passes would remove what is not part of the plan.
    if (quietSince !== undefined && passesSince(agent, quietSince) >= 4) {
      screen.lastFrame(nodeLines(state, hasDisk));
      return state;
    }
    screen.frame(nodeLines(state, hasDisk));
    await pause(agent, startMs, `still due: ${[...state.due.keys()].join(', ')}`);
  }
}

const passesSince = (agent: Program, line: number): number =>
  agent.log.slice(line).filter(({ msg }) => msg === 'planned pass').length;

async function pause(agent: Program, startMs: number, problem: string): Promise<void> {
  agent.check();
  if (Date.now() > startMs + timeoutMs) throw new Error(problem);
  await sleep(200);
}

function nodeLines(
  { due, kept, usedPercent, imageCount, imageBytes }: NodeState,
  hasDisk: boolean,
): string[] {
  const images = `${imageCount} images, ${mebibytes(imageBytes)}`;
  const percent = `${usedPercent} %`.padStart(5);
  const disk = `disk ${percent} ${bar(usedPercent)} limit ${diskPercent.limit} %, goal ${diskPercent.goal} %`;
  return [`  ${hasDisk ? `${disk}   ${images}` : images}`, ...sideBySide(due.values(), kept.values())];
}
