import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { reportsPath } from '../../../src/kube/cache/resources.ts';
import { builtMain } from '../../cluster/servers/command.ts';
import { mergePatch, sendAll } from '../api-client.ts';
import { benchInJail, besidePeer, progress, row, thousands } from '../bench.ts';
import { medianRun } from '../plan/command.ts';
import { settled, startServers, type Servers } from '../servers.ts';
import { usageReport } from './reports.ts';

const { values: options } = scriptOptions({
  options: {
    nodes: { type: 'string', default: '1000' },
    /** Of each report, as on a usual node; its bounds are 64 and 64. */
    namespaces: { type: 'string', default: '12' },
    images: { type: 'string', default: '30' },
    /** How often each command runs; the table shows the median. */
    rounds: { type: 'string', default: '5' },
  },
});
const [nodes, rounds] = [Number(options.nodes), Number(options.rounds)];
const size = { namespaces: Number(options.namespaces), images: Number(options.images) };
const budget = { seconds: 1, mib: 150 };
const isJudged = nodes === 1_000;
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

async function measure({ cluster }: Servers, scratch: string): Promise<string[][]> {
  const kubeconfig = `--kubeconfig=${cluster.kubeconfig('admin')}`;
  const kubectl = join(process.env['DUSTPAN_BED_BIN'] ?? '', 'kubectl');
  // The same reports, unchanged.
  const get = [kubectl, 'get', 'nodegcreports', '-o', 'json', kubeconfig];
  const peer = await medianRun('kubectl', get, { rounds, scratch });
  const rows: string[][] = [];
  for (const command of ['nodes', 'namespaces', 'pods -A', 'images', 'nodes --node=node-0007']) {
    const name = `\`top ${command}\``;
    const top = [process.execPath, builtMain, 'top', ...command.split(' '), kubeconfig];
    const { seconds, peakMiB } = await medianRun(name, top, { rounds, scratch });
    rows.push(
      row(`${name}, time`, {
        ...{ dustpan: `${seconds.toFixed(2)} s`, peer: `${peer.seconds.toFixed(2)} s` },
        budget: { text: `${budget.seconds} s`, isMet: isJudged ? seconds < budget.seconds : undefined },
      }),
      row(`${name}, memory, peak`, {
        ...{ dustpan: `${peakMiB.toFixed(0)} MiB`, peer: `${peer.peakMiB.toFixed(0)} MiB` },
        budget: { text: `${budget.mib} MiB`, isMet: isJudged ? peakMiB < budget.mib : undefined },
      }),
    );
  }
  return rows;
}

await benchInJail(['etcd', 'api'], async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-top-'));
  await using servers = await startServers([]);
  try {
    const bytes = await writeReports(servers);
    await settled(servers.cluster);
    return {
      title: `top, ${thousands(nodes)} reports of ${Math.round(bytes / nodes / 1_000)} KB (${size.namespaces} namespaces, ${size.images} images)`,
      conditions: [servers.version, `median of ${rounds} runs from start to exit, with Node's own flags`],
      columns: besidePeer('`kubectl get nodegcreports -o json`'),
      rows: await measure(servers, scratch),
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});
