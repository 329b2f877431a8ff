import { commandsOf } from '../../src/commands/cli/program.ts';
import { realSystem } from '../../src/process/system.ts';
import { cliPage } from './cli-page.ts';
import { dashboardJson } from './dashboard.ts';
import { metricsPage } from './metrics-page.ts';
import { reasonsPage } from './reasons-page.ts';

/** The pages and the dashboard that are generated from the program, by path. */
export const pages = async (): Promise<Readonly<Record<string, string>>> => ({
  'docs/reference/cli.md': cliPage(commandsOf(realSystem({}, 'dustpan'))),
  'docs/reference/metrics.md': await metricsPage(),
  'docs/reference/reasons.md': reasonsPage(),
  'helm/dustpan/files/dashboard.json': dashboardJson(),
});
