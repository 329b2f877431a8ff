declare const __DUSTPAN_VERSION__: string;
declare const __DUSTPAN_REVISION__: string;

/** Set when the bundle is built. */
export const version: string = __DUSTPAN_VERSION__;

/** The commit that was built; 'unknown' outside a checkout. */
export const revision: string = __DUSTPAN_REVISION__;

const goNames: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', win32: 'windows' };

/** `linux/amd64`: as Kubernetes names platforms. */
export function platform({
  platform: os,
  arch,
}: Pick<NodeJS.Process, 'platform' | 'arch'> = process): string {
  return `${goNames[os] ?? os}/${goNames[arch] ?? arch}`;
}

/** What the API server's audit log shows of us. */
export const userAgent = (): string => `dustpan/${version} (${platform()}) ${revision}`;
