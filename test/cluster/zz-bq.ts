import { binaries } from './binaries.ts';
await binaries(['kubelet'], (line) => process.stderr.write(line + '\n'));
