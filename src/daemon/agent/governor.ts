import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { Logger } from '../../runtime/logging/logger.ts';

/** Logs each change of the policy that governs the node. Use it only while node and policies are known. */
export class Governor {
  readonly #nodeName: string;
  readonly #log: Logger;
  #logged = '';

  constructor(nodeName: string, log: Logger) {
    this.#nodeName = nodeName;
    this.#log = log;
  }

  /** Whether the policy, or the reason why there is none, changed since the last call. */
  changed(now: NodeGovernance): boolean {
    const { uid, generation } = now.policy ?? {};
    const key = JSON.stringify([now.kind, now.kind === 'keep' && now.reason, uid, generation]);
    if (key === this.#logged) return false;
    this.#logged = key;
    this.#logChange(now);
    return true;
  }

  #logChange(now: NodeGovernance): void {
    const fields = { node: this.#nodeName, policy: now.policy?.name };
    if (now.kind === 'governed')
      this.#log.info({ ...fields, mode: now.policy.mode }, 'policy governs this node');
    else if (now.reason === 'NodeUnknown')
      this.#log.warn(fields, 'there is no such node, nothing is collected until it appears');
    else this.#log.info({ ...fields, reason: now.reason }, 'nothing is collected on this node');
  }
}
