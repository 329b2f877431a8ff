import type { ControllerConfig } from './config.ts';

/** Placeholder until the wiring is written. */
export function runController(config: ControllerConfig): Promise<number> {
  return Promise.reject(new Error(`not wired yet (lease ${config.leaderElection.name})`));
}
