import { UsageError } from '../../process/exit.ts';
import { progressOf } from '../../process/progress.ts';
import type { System } from '../../process/system.ts';
import { listedOf, shownPods } from '../../evaluation/plan/filter.ts';
import { planOf, readFacts } from '../../evaluation/plan/plan.ts';
import type { ReportConfig } from './command.ts';
import { reportData } from './data.ts';
import { reportHtml } from './html.ts';
import { reportMarkdown } from './markdown.ts';

export async function runReport(config: ReportConfig, { stdout, stderr }: System): Promise<number> {
  const { output, kept } = config;
  if (output === 'html' && process.stdout.isTTY)
    throw new UsageError([
      'report: the page is HTML for a browser; write it to a file: dustpan report > report.html, or add -o markdown',
    ]);
  const progress = progressOf(config.progress, stderr);
  try {
    const facts = await readFacts(config, progress);
    progress.phase('planning');
    const plan = planOf(facts, { ...config, kept: true });
    const data = reportData(plan, facts, shownPods(config.filter, facts));
    const shown = { ...plan, decisions: listedOf(plan.decisions, kept) };
    if (output === 'markdown') stdout(reportMarkdown(shown, data));
    else for (const piece of reportHtml(shown, data)) stdout(piece);
    return 0;
  } finally {
    progress.end();
  }
}
