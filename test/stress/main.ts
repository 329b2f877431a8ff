// npm run stress -- --minutes 10 --seed 7: random load and faults on a real node; exits with 1 if an invariant does not hold.
import { scriptOptions } from '../../scripts/arguments.ts';
import { course } from '../bench/bench.ts';
import { inJail } from '../cluster/run.ts';
import { print, stress } from './run.ts';

const { values: options } = scriptOptions({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    'no-faults': { type: 'boolean', default: false },
    /** Without faults, beside a kubelet that collects too. */
    'two-collectors': { type: 'boolean', default: false },
  },
});
if (process.env['BED_DIR'] === undefined) {
  const parts = ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'] as const;
  process.exitCode = await inJail([process.execPath, ...process.argv.slice(1)], { imageFsMB: 512, parts });
} else {
  // Other runs have beds beside it.
  print(`the bed is ${process.env['BED_DIR']}`);
  const two = options['two-collectors'];
  const { violations, residentMiB } = await stress({
    ...{ minutes: Number(options.minutes), seed: Number(options.seed) },
    ...{ hasFaults: !two && !options['no-faults'], kubelet: two ? 'collecting' : 'idle' },
  });
  for (const [component, values] of Object.entries(residentMiB))
    print(`memory of the ${component} over time, MiB: ${course(values)}`);
  print(violations.length === 0 ? 'every invariant held' : `${violations.length} invariants did not hold`);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
