export interface SummaryPod {
  readonly uid: string;
  readonly namespace?: string;
  readonly name: string;
  readonly containers?: readonly { readonly name: string; readonly layer?: number; readonly logs?: number }[];
  readonly volumes?: Readonly<Record<string, number>>;
  /** Other usage in its total: etc-hosts. */
  readonly otherBytes?: number;
  /** Volumes in memory and claims, which are not in its total. */
  readonly uncounted?: readonly string[];
}

export interface SummaryNode {
  readonly name: string;
  readonly nodeFsBytes: number;
  readonly imageFsBytes: number;
  /** Default: half. */
  readonly nodeFsAvailableBytes?: number;
}

/** The document of `/stats/summary`, in the order and with the fields of a kubelet with CRI statistics. */
export function summaryOf(node: SummaryNode, pods: readonly SummaryPod[], time: string): object {
  const fs = (usedBytes: number | undefined, capacityBytes = node.nodeFsBytes): object => ({
    ...{ time, availableBytes: capacityBytes / 2, capacityBytes, usedBytes },
    ...{ inodesFree: 900_000, inodes: 1_000_000, inodesUsed: 100 },
  });
  const cpu = { time, usageNanoCores: 1_234_567, usageCoreNanoSeconds: 123_456_789_012 };
  const memory = { time, usageBytes: 12_345_678, workingSetBytes: 12_345_678, rssBytes: 1_234_567 };
  return {
    node: {
      nodeName: node.name,
      systemContainers: [{ name: 'pods', startTime: time, cpu, memory }],
      ...{ startTime: time, cpu, memory },
      fs: {
        ...fs(1_000_000),
        ...(node.nodeFsAvailableBytes !== undefined && { availableBytes: node.nodeFsAvailableBytes }),
      },
      runtime: { imageFs: fs(1_000_000, node.imageFsBytes), containerFs: fs(1_000_000, node.imageFsBytes) },
    },
    pods: pods.map(
      ({ uid, namespace = 'default', name, containers = [], volumes = {}, uncounted = [], ...pod }) => ({
        podRef: { name, namespace, uid },
        startTime: time,
        containers: containers.map((container) => ({
          ...{ name: container.name, startTime: time, cpu, memory },
          rootfs: fs(container.layer),
          logs: fs(container.logs),
        })),
        ...{ cpu, memory },
        volume: Object.entries(volumes).map(([volume, usedBytes]) => ({ ...fs(usedBytes), name: volume })),
        'ephemeral-storage': fs(
          [
            ...Object.entries(volumes).map(([volume, bytes]) => (uncounted.includes(volume) ? 0 : bytes)),
            ...containers.map(({ layer = 0, logs = 0 }) => layer + logs),
            pod.otherBytes ?? 0,
          ].reduce((sum, bytes) => sum + bytes, 0),
        ),
      }),
    ),
  };
}
