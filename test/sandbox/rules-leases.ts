import { cause, type StatusCause } from './failure.ts';
import { asObject, type JsonObject, type KubeObject } from './json.ts';
import { checkMicroTime } from './micro-time.ts';
import { plainRules } from './rules-plain.ts';
import type { Rules } from './rules.ts';

/** A Lease is only ever written by someone who has read it; its times have microseconds. */
export const leaseRules: Rules = {
  ...plainRules({ generation: false }),
  unconditionalUpdate: false,
  createOnUpdate: true,
  decode: (lease) => {
    const spec = asObject(lease['spec']);
    checkMicroTime('Lease', spec['acquireTime']);
    checkMicroTime('Lease', spec['renewTime']);
  },
  admit: (object: KubeObject) => ({ object, causes: specCauses(asObject(object['spec'])) }),
};

function specCauses(spec: JsonObject): readonly StatusCause[] {
  const duration = spec['leaseDurationSeconds'];
  const transitions = spec['leaseTransitions'];
  const causes: StatusCause[] = [];
  if (typeof duration === 'number' && duration <= 0) {
    causes.push(cause.invalid('spec.leaseDurationSeconds', 'must be greater than 0', duration));
  }
  if (typeof transitions === 'number' && transitions < 0) {
    causes.push(cause.invalid('spec.leaseTransitions', 'must be greater than or equal to 0', transitions));
  }
  return causes;
}
