import { serverFlags } from './controller-flags.ts';
import type { CommandLine } from './flags.ts';

/** How /metrics is protected. */
export interface MetricsSecurity {
  /** With tls.crt and tls.key; undefined = plain HTTP. */
  readonly certDirectory: string | undefined;
  /** Only who may get /metrics, as the API server says, gets it. */
  readonly isAuthorized: boolean;
}

/** Of the flags, which have no problems. */
export function metricsSecurity(line: CommandLine): MetricsSecurity {
  const isSecure = line.value(serverFlags.metricsSecure);
  return {
    certDirectory: isSecure ? line.value(serverFlags.metricsCertDir) : undefined,
    isAuthorized: line.value(serverFlags.metricsAuth),
  };
}

/** What is asked for and cannot be had together. */
export function metricsSecurityProblems(line: CommandLine): string[] {
  const isSecure = line.value(serverFlags.metricsSecure);
  const problems: string[] = [];
  if (isSecure && line.value(serverFlags.metricsCertDir) === '')
    problems.push('--metrics-secure needs --metrics-cert-dir');
  if (!isSecure && line.value(serverFlags.metricsAuth))
    problems.push('--metrics-auth needs --metrics-secure: tokens do not go over plain HTTP');
  return problems;
}
