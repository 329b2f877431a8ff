// @bed node
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { PodStorageUsage, StorageMeasurement } from '../../../src/api/local-storage.ts';
import { tokenCredentials, type ClusterConnection } from '../../../src/kube/auth/credentials.ts';
import { KubeletUsage, type KubeletUsageOptions } from '../../../src/node/kubelet/source.ts';
import { storageUsageOf } from '../../../src/node/kubelet/summary.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { certify } from '../../certificate.ts';
import { isReal } from '../project.ts';
import { startRealKubelet } from './real-kubelet.ts';
import { startSandboxKubelet } from './sandbox-kubelet.ts';

/** emptyDir on disk, emptyDir in memory, writable layer, logs, all of it that is on disk. */
function usageOf(
  { total, volumes, containers }: PodStorageUsage,
  container: string,
): readonly (StorageMeasurement | undefined)[] {
  const { layer, logs } = containers.find(({ name }) => name === container) ?? {};
  return [volumes.get('data'), volumes.get('shm'), layer, logs, total];
}

/** Directories and the blocks of a file system's own. */
const slackBytes = 256 * 1024;
const never = new AbortController().signal;

const target = await (isReal ? startRealKubelet() : startSandboxKubelet());
const folder = mkdtempSync(join(tmpdir(), 'dustpan-kubelet-contract-'));
const open: KubeletUsage[] = [];
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

interface Choice extends Partial<Omit<KubeletUsageOptions, 'trust'>> {
  readonly token?: string;
  readonly clusterCa?: string | undefined;
  readonly trust?: Partial<KubeletUsageOptions['trust']>;
}

const source = ({ token, clusterCa, trust, ...options }: Choice = {}): KubeletUsage => {
  const cluster: ClusterConnection = {
    endpoint: { server: 'https://unused', tls: { ca: clusterCa } },
    auth: tokenCredentials(token ?? target.tokens.stats),
    source: 'test',
  };
  const { endpoint, nodeName } = target;
  const trusts = { isInsecure: false, caFile: undefined, ownFile: join(folder, 'missing.crt'), ...trust };
  const made = new KubeletUsage({
    ...{ endpoint, nodeName, cluster, trust: trusts, clock: systemClock },
    ...options,
  });
  open.push(made);
  return made;
};

afterEach(() => {
  for (const one of open.splice(0)) one.close();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await target.stop();
});

describe('the usage of pods', () => {
  test('has each kind of storage with its time', async () => {
    const usage = await source({ clusterCa: target.ca }).usage(never);
    const { pod } = target;
    const measured = usage.pods.get(pod.uid);
    const values = measured === undefined ? [] : usageOf(measured, pod.container);
    const { dataBytes, shmBytes, layerBytes, logBytes } = pod;
    const expected = [dataBytes, shmBytes, layerBytes, logBytes, dataBytes + layerBytes + logBytes];
    expect(values).toHaveLength(expected.length);
    for (const [i, value] of values.entries()) {
      const over = (value?.bytes ?? NaN) - (expected[i] ?? NaN);
      expect({ i, over, isNear: over >= 0 && over <= slackBytes }).toMatchObject({ isNear: true });
      expect(value?.atMs).toBeGreaterThan(usage.atMs - 10 * 60_000);
      expect(value?.atMs).toBeLessThanOrEqual(usage.atMs + 1000);
    }
  });

  test('is the same when read from a snapshot', async () => {
    const kubelet = source({ clusterCa: target.ca });
    const whole = storageUsageOf(JSON.parse((await kubelet.summary(never)).toString()), 1);
    const streamed = await kubelet.usage(never);
    expect([...streamed.pods.keys()].sort()).toEqual([...whole.pods.keys()].sort());
    const volumesOf = ({ pods }: typeof whole) => [...(pods.get(target.pod.uid)?.volumes.keys() ?? [])];
    expect(volumesOf(streamed)).toEqual(volumesOf(whole));
    expect(streamed.dedicatedImageFs).toBe(whole.dedicatedImageFs);
  });
});

test("the thresholds are those of the kubelet's configuration", async () => {
  const thresholds = await source({ clusterCa: target.ca }).thresholds(never);
  const texts = Object.fromEntries([...thresholds].map(([signal, { text }]) => [signal, text]));
  expect(texts).toEqual(target.thresholds);
});

describe('authorization', () => {
  const denied = (message: RegExp) => {
    return { failure: 'denied', message: expect.stringMatching(message) as unknown };
  };

  test('an unknown token is denied', async () => {
    const usage = source({ clusterCa: target.ca, token: 'wrong' }).usage(never);
    await expect(usage).rejects.toMatchObject(denied(/does not accept these credentials \(401/));
  });

  test('an account without the rights is denied, and the right is named', async () => {
    const powerless = source({ clusterCa: target.ca, token: target.tokens.nothing });
    const right = (name: string) => denied(new RegExp(`\\(403\\).*needs the verb get on ${name}$`));
    await expect(powerless.usage(never)).rejects.toMatchObject(right('nodes/stats'));
    await expect(powerless.thresholds(never)).rejects.toMatchObject(right('nodes/configz'));
  });
});

describe('trust', () => {
  test.each([
    { name: "the cluster's CA", choice: () => ({ clusterCa: target.ca }) },
    { name: 'the CA of the flag', choice: () => ({ trust: { caFile: file('flag.crt', target.ca) } }) },
    {
      name: "the kubelet's own file, where the cluster's CA is another",
      choice: () => ({ clusterCa: certify(['DNS:x']).ca, trust: { ownFile: file('own.crt', target.ca) } }),
    },
    { name: 'anybody, when asked to', choice: () => ({ trust: { isInsecure: true } }) },
  ])('by $name', async ({ choice }) => {
    expect((await source(choice()).usage(never)).pods.has(target.pod.uid)).toBe(true);
  });

  const foreign = (): string => certify(['DNS:x']).ca;
  test.each<{ readonly name: string; readonly choice: () => Choice; readonly message: RegExp }>([
    {
      name: 'a foreign CA: the error names the tried files and the flag',
      choice: () => ({ clusterCa: foreign(), trust: { ownFile: file('other.crt', foreign()) } }),
      message:
        /^cannot trust the kubelet https:\/\/\S+: its certificate is not signed by a trusted CA \(tried the cluster's CA and \/.*other\.crt\); --kubelet-certificate-authority/,
    },
    {
      name: 'the CA of the cluster when the flag names another',
      choice: () => ({ clusterCa: target.ca, trust: { caFile: file('flag-other.crt', foreign()) } }),
      message: /\(tried \S+flag-other\.crt\)/,
    },
    {
      name: 'a certificate of another node',
      // Connect by name: some certificates are also valid for the address.
      choice: () => ({
        clusterCa: target.ca,
        nodeName: 'another-node',
        endpoint: target.endpoint.replace(/\/\/[^:]+:/, '//localhost:'),
      }),
      message: /its certificate is for another name \(expected another-node or localhost\)/,
    },
    {
      name: 'the CA of the cluster when the file of the flag is missing',
      choice: () => ({ clusterCa: target.ca, trust: { caFile: '/nowhere/ca.crt' } }),
      message: /reading the CA that --kubelet-certificate-authority names/,
    },
    {
      name: 'anything without a CA',
      choice: () => ({}),
      message: /cannot trust.*missing\.crt \(which cannot be read/,
    },
  ])('not of $name', async ({ choice, message }) => {
    await expect(source(choice()).usage(never)).rejects.toMatchObject({
      failure: 'untrusted',
      message: expect.stringMatching(message) as unknown,
    });
  });
});
