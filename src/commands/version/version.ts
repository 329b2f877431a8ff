declare const __DUSTPAN_VERSION__: string | undefined;
declare const __DUSTPAN_REVISION__: string | undefined;

/** Set when the bundle is built; 'source' when the sources run as they are. */
export const version: string = typeof __DUSTPAN_VERSION__ === 'undefined' ? 'source' : __DUSTPAN_VERSION__;

/** The commit that was built; 'unknown' outside a checkout. */
export const revision: string =
  typeof __DUSTPAN_REVISION__ === 'undefined' ? 'unknown' : __DUSTPAN_REVISION__;

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
