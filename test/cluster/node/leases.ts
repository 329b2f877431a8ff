import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { CriConnection } from '../../../src/cri/connection.ts';

/** Adds a resource, such as `content` or `snapshots/overlayfs`, to a lease in the namespace of the kubelet, for which ctr has no command. */
export async function addToLease(lease: string, type: string, id: string): Promise<void> {
  const encode = () => {
    const request = new BinaryWriter().uint32(10).string(lease);
    return request.uint32(18).fork().uint32(10).string(id).uint32(18).string(type).join();
  };
  const method = { name: 'AddResource', requestType: { encode }, responseType: { decode: () => ({}) } };
  const connection = new CriConnection('/run/containerd/containerd.sock', () => undefined);
  const sent = { request: {}, deadlineMs: 10_000, headers: { 'containerd-namespace': 'k8s.io' } };
  const service = { fullName: 'containerd.services.leases.v1.Leases' };
  await connection.stream([service, method, () => []], sent, new AbortController().signal);
  connection.close();
}
