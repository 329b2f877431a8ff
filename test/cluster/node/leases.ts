import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { CriConnection } from '../../../src/cri/connection.ts';

interface Leased {
  /** Such as `content` or `snapshots/overlayfs`. */
  readonly type: string;
  readonly id: string;
}

/** Adds a resource to a lease, for which ctr has no command. */
export async function addToLease(lease: string, { type, id }: Leased, namespace = 'k8s.io'): Promise<void> {
  const encode = () => {
    const request = new BinaryWriter().uint32(10).string(lease);
    return request.uint32(18).fork().uint32(10).string(id).uint32(18).string(type).join();
  };
  const method = { name: 'AddResource', requestType: { encode }, responseType: { decode: () => ({}) } };
  const connection = new CriConnection('/run/containerd/containerd.sock', () => undefined);
  const sent = { request: {}, deadlineMs: 10_000, headers: { 'containerd-namespace': namespace } };
  const service = { fullName: 'containerd.services.leases.v1.Leases' };
  await connection.stream([service, method, () => []], sent, new AbortController().signal);
  connection.close();
}
