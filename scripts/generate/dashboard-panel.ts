/** A panel of the dashboard. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  /** Default: timeseries. */
  readonly type?: 'stat' | 'state-timeline' | 'timeseries';
  /** One of Grafana's units; default `short`. */
  readonly unit?: string;
  readonly stacked?: true;
  /** By their legends, in which `{{label}}` is replaced by the label's value. */
  readonly queries: Readonly<Record<string, string>>;
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** Selectors: the job labels of the chart's monitors, and the variables of the dashboard. */
export const controller = 'job="dustpan-controller",namespace=~"$namespace"';
export const agent = 'job="dustpan-agent",namespace=~"$namespace",node=~"$node"';
export const both = 'job=~"dustpan-(controller|agent)",namespace=~"$namespace"';

export const rate = (series: string): string => `rate(${series}[$__rate_interval])`;
/** For rare events. */
export const increase = (series: string): string => `increase(${series}[$__rate_interval])`;
/** The 99th percentile of a histogram. */
export const p99 = (labels: string, series: string): string =>
  `histogram_quantile(0.99, sum by (le, ${labels}) (${rate(series)}))`;
