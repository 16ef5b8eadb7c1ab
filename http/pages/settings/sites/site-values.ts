// The values that a site's form edits.

import type { Site } from '../../records.ts';

export interface SiteValues {
  readonly name: string;
  readonly domain: string;
  readonly primaryColor: string;
  readonly launcherPosition: Site['launcherPosition'];
  readonly welcomeMessage: string;
  readonly allowedOrigins: readonly string[];
  readonly businessHoursOverride: Site['businessHoursOverride'];
}
