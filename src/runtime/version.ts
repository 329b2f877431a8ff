declare const __DUSTPAN_VERSION__: string | undefined;
declare const __DUSTPAN_REVISION__: string | undefined;

/** Set by the build of the bundle; 'source' when the sources run directly. */
export const version: string = typeof __DUSTPAN_VERSION__ === 'undefined' ? 'source' : __DUSTPAN_VERSION__;

/** The commit that was built; 'unknown' outside a checkout. */
export const revision: string =
  typeof __DUSTPAN_REVISION__ === 'undefined' ? 'unknown' : __DUSTPAN_REVISION__;

const goNames: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', win32: 'windows' };

/** The platform as Kubernetes names it, such as `linux/amd64`. */
export const platform = (): string =>
  `${goNames[process.platform] ?? process.platform}/${goNames[process.arch] ?? process.arch}`;

/** The client name in the API server's audit log. */
export const userAgent = (): string => `dustpan/${version} (${platform()}) ${revision}`;
