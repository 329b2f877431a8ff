/** Where the kubelet of a node listens unless it is told otherwise; `hostIp` is what the downward API says in `status.hostIP`. */
export function defaultKubeletEndpoint(hostIp: string | undefined): string {
  const host = hostIp === undefined || hostIp === '' ? '127.0.0.1' : hostIp;
  return `https://${host.includes(':') ? `[${host}]` : host}:10250`;
}
