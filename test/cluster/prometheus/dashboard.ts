/** One query of a panel. */
interface DashboardQuery {
  readonly title: string;
  readonly legend: string;
  readonly expr: string;
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** The queries of a dashboard, in reading order. */
export function dashboardQueries(json: string): readonly DashboardQuery[] {
  const { panels } = JSON.parse(json) as { readonly panels: readonly Panel[] };
  return panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ title, legend: legendFormat, expr })),
  );
}

/** A query as Grafana sends it when everything is chosen, for samples that are a second apart. */
export function inGrafana(expr: string): string {
  return expr
    .replaceAll(/\$(namespace|node)\b/g, '.*')
    .replaceAll('$__rate_interval', '15s')
    .replaceAll('$__range', '5m');
}
