import { healthPanels } from './dashboard-health.ts';
import { containersPanels, imagesPanels } from './dashboard-images.ts';
import type { Row } from './dashboard-panel.ts';
import { overviewPanels, podsPanels } from './dashboard-pods.ts';
import { diskPanels, pressurePanels, storagePanels } from './dashboard-storage.ts';

/** The rows of the dashboard, with their panels in reading order. */
export const dashboardRows: readonly Row[] = [
  { title: 'Overview', panels: overviewPanels },
  { title: 'Disks', panels: diskPanels },
  { title: 'Pods', panels: podsPanels },
  { title: 'Images', panels: imagesPanels },
  { title: 'Containers and logs', panels: containersPanels },
  { title: 'Local storage', panels: storagePanels },
  { title: 'Node pressure', panels: pressurePanels },
  { title: 'Health of controller and agents', panels: healthPanels },
];
