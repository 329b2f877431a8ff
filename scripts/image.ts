// npm run image -- --out=FILE [--ref=NAME:TAG]: dustpan's image as an OCI archive, without a container engine.
// It contains this machine's Node, so use it only for trials on this architecture; a release is built from the Dockerfile.
import { scriptOptions } from './arguments.ts';
import { image } from '../test/cluster/node/image.ts';
import { repositoryRoot } from '../test/cluster/repository.ts';
import { dustpanImage } from './image/dustpan-image.ts';

const { out, ref } = scriptOptions({ options: { out: { type: 'string' }, ref: { type: 'string' } } }).values;
if (out === undefined) {
  process.stderr.write('usage: npm run image -- --out=FILE [--ref=NAME:TAG]\n');
  process.exit(2);
}
if (process.platform !== 'linux') {
  process.stderr.write('only on Linux: the image contains this machine’s Node and its libraries\n');
  process.exit(1);
}
const spec = dustpanImage({ root: repositoryRoot(), ...(ref !== undefined && { ref }) });
const built = await image(spec, out);
process.stdout.write(`${built.digest}  ${out}\n`);
const megabytes = (built.packedBytes / 1e6).toFixed(0);
process.stderr.write(`${built.ref}, ${megabytes} MB; on a node: ctr -n k8s.io images import ${out}\n`);
