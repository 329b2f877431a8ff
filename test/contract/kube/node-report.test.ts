import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { NodeGCReport, NodeGCReportStatus } from '../../../src/api/gen/nodegcreport.gen.ts';
import { nodePodsResource } from '../../../src/kube/cache/node-pods.ts';
import { LiveNode } from '../../../src/kube/actions/live-reads.ts';
import { nodeReportsResource } from '../../../src/kube/cache/node-report-facts.ts';
import { NodeReports, type ReportingNode } from '../../../src/kube/actions/node-report.ts';
import { decodeList } from '../../../src/kube/codec/decode.ts';
import { planReport } from '../../../src/agent/report/plan.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { now, policy } from '../../builders.ts';
import { facts, images } from '../../unit/agent/report/builders.ts';
import { startEnvironment } from './environment.ts';
import { contractTransport } from './objects.ts';

const path = '/apis/gc.dustpan.dev/v1alpha1/nodegcreports';

// The agent's requests: its report, and the pods of its node.
const { signal } = new AbortController();

const { server, transport, objects } = await startEnvironment();

const newNode = async (name = `node-${randomUUID().slice(0, 8)}`): Promise<ReportingNode> => {
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  const made = JSON.parse((await objects.post('/api/v1/nodes', body)).toString()) as {
    metadata: ReportingNode;
  };
  return made.metadata;
};
const read = async ({ name }: ReportingNode): Promise<NodeGCReport> =>
  JSON.parse((await objects.request({ method: 'GET', path: `${path}/${name}` })).toString()) as NodeGCReport;
const full = (): NodeGCReportStatus => {
  const orphan = { path: '/pods/a', podUID: 'a', since: now.toISOString(), bytes: 2, reason: 'Mounted' };
  const found = { count: 1, bytes: 2, largest: [orphan], isReadOnly: false };
  const held = { ...orphan, holder: '/pods/a/v', remedy: 'umount /pods/a/v' };
  const podDirectories = { ...found, largest: [held] };
  const orphans = { podDirectories, logDirectories: found, podCgroups: found };
  const unmatched = { keep: [0, 2], only: [], maximumAgeByImage: [], policy: policy() };
  const known = { orphans, images: images({ unmatched }) };
  return planReport(facts(known), undefined, now);
};

test('a report is created for its Node and contains all written fields', async () => {
  const node = await newNode();
  const reports = new NodeReports(transport);
  expect(await reports.read(node, signal)).toBeUndefined();
  expect(await reports.write(node, full(), signal)).toBe('written');
  const { metadata, status } = await read(node);
  expect(metadata?.ownerReferences).toEqual([
    { apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid },
  ]);
  expect(status).toEqual(full());
  expect(await reports.read(node, signal)).toEqual(full());
});

test('fields that are no longer written are removed, also after a restart', async () => {
  const node = await newNode();
  await new NodeReports(transport).write(node, full(), signal);
  const less = full();
  delete less.orphans;
  delete less.imageFileSystem;
  await new NodeReports(transport).write(node, less, signal);
  expect((await read(node)).status).toEqual(less);
});

test('a Node that was created again owns the report', async () => {
  const first = await newNode();
  const reports = new NodeReports(transport);
  await reports.write(first, full(), signal);
  await objects.delete(`/api/v1/nodes/${first.name}`);
  const second = await newNode(first.name);
  expect(second.uid).not.toBe(first.uid);
  await reports.write(second, full(), signal);
  const { metadata, status } = await read(second);
  expect(metadata?.ownerReferences).toMatchObject([{ uid: second.uid }]);
  expect(status).toEqual(full());
});

test('the controller reads what the agent wrote', async () => {
  const node = await newNode();
  await new NodeReports(transport).write(node, full(), signal);
  const { codec, accept } = nodeReportsResource();
  const page = await decodeList(transport.stream({ method: 'GET', path, accept }, signal), codec);
  const report = page.items.find(({ name }) => name === node.name);
  expect(report).toMatchObject({ policyUid: 'uid-default', policyGeneration: 1, imagesRemovable: 2 });
  expect(report?.unmatched).toEqual({ keep: [0, 2], only: [], maximumAgeByImage: [] });
  expect(report?.reportedAtMs).toBe(now.getTime());
});

test('the pods of a node, with the images they refer to', async () => {
  const { name } = await newNode();
  const metadata = { name: `p-${randomUUID().slice(0, 8)}` };
  const spec = {
    ...{ nodeName: name, automountServiceAccountToken: false },
    containers: [{ name: 'c', image: 'example.com/main:1' }],
    initContainers: [{ name: 'i', image: 'example.com/init:1' }],
    volumes: [{ name: 'v', image: { reference: 'example.com/volume:1' } }],
  };
  const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
  await objects.post(`/api/v1/namespaces/${objects.namespace}/pods`, body);
  await objects.createPod();
  const { path: pods, query, accept, codec } = nodePodsResource(name);
  const stream = transport.stream({ method: 'GET', path: pods, query, accept }, signal);
  const images = ['example.com/main:1', 'example.com/init:1', 'example.com/volume:1'];
  const { items } = await decodeList(stream, codec);
  expect(items).toMatchObject([{ name: metadata.name, phase: 'Pending', images }]);
});

test('reports whether a pod still exists', async () => {
  const { metadata } = await objects.createPod();
  const node = new LiveNode({ transport, clock: systemClock, nodeName: 'node-1' });
  expect(await node.podState(metadata, signal)).toBe('exists');
  expect(await node.podState({ ...metadata, uid: randomUUID() }, signal)).toBe('gone');
  await objects.removePod(metadata.name);
  expect(await node.podState(metadata, signal)).toBe('gone');
  const stranger = await contractTransport(server, 'nobody');
  const asStranger = new LiveNode({ transport: stranger, clock: systemClock, nodeName: 'node-1' });
  expect(await asStranger.podState(metadata, signal)).toBe('unknown');
  stranger.close();
});
