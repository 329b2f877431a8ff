/** The oldest Node that dustpan runs on, as `engines` of package.json has it. The other modules may not even load on an older one. */
const oldest = { major: 22, minor: 21 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < oldest.major || (major === oldest.major && minor < oldest.minor)) {
  process.stderr.write(
    `dustpan: Node ${process.version} is too old: install Node ${oldest.major}.${oldest.minor} or newer\n`,
  );
  process.exit(1);
}
// Before the first use of the pool. A read of a file on a mount that hangs occupies a thread for ever: of each disk (3), of logs, orphaned
// resources, snapshots, of the state file, of the token and CAs (5), of images of a node. The default is 4.
process.env['UV_THREADPOOL_SIZE'] ??= '16';
await import('./dustpan.ts');
