// npm run demo:recording: runs the demo and draws its output as docs/images/demo.svg.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { drawing } from './recording/drawing.ts';

const output = execFileSync(process.execPath, ['test/demo/main.ts'], {
  encoding: 'utf8',
  env: { ...process.env, FORCE_COLOR: '1' },
});
writeFileSync('docs/images/demo.svg', drawing('npm run demo', output));
