import { join } from 'node:path';
import { reportsPath } from '../../../src/kube/cache/resources.ts';
import { builtMain } from '../../cluster/servers/command.ts';
import { mergePatch, sendAll } from '../api-client.ts';
import { benchInJail, benchOptions, besidePeer, budgetsOf, progress, row, thousands } from '../bench.ts';
import { medianRun } from '../plan/command.ts';
import { settled, startServers, type Servers } from '../servers.ts';
import { usageReport } from './reports.ts';

const { nodes, rounds, ...size } = benchOptions({
  nodes: 1_000,
  /** Of each report, as on a usual node; its bounds are 64, 64 and 20. */
  namespaces: 12,
  images: 30,
  workloads: 8,
  /** How often each command runs; the table shows the median. */
  rounds: 5,
});
const most = { seconds: 1, mib: 150 };
const budget = budgetsOf(nodes === 1_000);
const inFlight = 16;

/** Resolves with the bytes of all reports. */
async function writeReports({ api }: Servers): Promise<number> {
  progress(`writing ${nodes} reports`);
  const now = new Date();
  const reports = Array.from({ length: nodes }, (_, number) => usageReport(number, now, size));
  await sendAll(reports, inFlight, async (report) => {
    await api.send('POST', reportsPath, { body: report });
    const body = { status: report['status'] };
    const path = `${reportsPath}/${report.metadata.name}/status`;
    await api.send('PATCH', path, { body, contentType: mergePatch });
  });
  return reports.reduce((sum, report) => sum + JSON.stringify(report).length, 0);
}

async function measure({ cluster }: Servers): Promise<string[][]> {
  const kubeconfig = `--kubeconfig=${cluster.kubeconfig('admin')}`;
  const kubectl = join(process.env['DUSTPAN_BED_BIN'] ?? '', 'kubectl');
  // The same reports, unchanged.
  const get = [kubectl, 'get', 'nodegcreports', '-o', 'json', kubeconfig];
  const peer = await medianRun('kubectl', get, rounds);
  const rows: string[][] = [];
  for (const command of [
    'nodes',
    'namespaces',
    'workloads -A',
    'pods -A',
    'images',
    'nodes --node=node-0007',
  ]) {
    const name = `\`top ${command}\``;
    const top = [process.execPath, builtMain, 'top', ...command.split(' '), kubeconfig];
    const { seconds, peakMiB } = await medianRun(name, top, rounds);
    rows.push(
      row(`${name}, time`, `${seconds.toFixed(2)} s`, {
        peer: `${peer.seconds.toFixed(2)} s`,
        budget: budget(`${most.seconds} s`, seconds < most.seconds),
      }),
      row(`${name}, memory, peak`, `${peakMiB.toFixed(0)} MiB`, {
        peer: `${peer.peakMiB.toFixed(0)} MiB`,
        budget: budget(`${most.mib} MiB`, peakMiB < most.mib),
      }),
    );
  }
  return rows;
}

await benchInJail(['etcd', 'api'], async () => {
  await using servers = await startServers([]);
  const bytes = await writeReports(servers);
  await settled(servers.cluster);
  return {
    title: `top, ${thousands(nodes)} reports of ${Math.round(bytes / nodes / 1_000)} KB (${size.namespaces} namespaces, ${size.images} images, ${size.workloads} workloads)`,
    conditions: [servers.version, `median of ${rounds} runs from start to exit, with Node's own flags`],
    columns: besidePeer('`kubectl get nodegcreports -o json`'),
    rows: await measure(servers),
  };
});
