// The values that a site's form edits.

import type { Site } from '../../records.ts';

export interface SiteValues {
  readonly name: string;
  readonly domain: string;
  readonly primaryColor: string;
  readonly launcherPosition: Site['launcherPosition'];
  readonly welcomeMessage: string;
  readonly onlineMessage: string;
  readonly awayMessage: string;
  readonly closedMessage: string;
  readonly theme: Site['theme'];
  readonly logoUrl: string | null;
  /** As typed. */
  readonly launcherSidePx: string;
  readonly launcherBottomPx: string;
  readonly hiddenOnPhones: boolean;
  /** As typed. */
  readonly assistantTurns: string;
  readonly allowedOrigins: readonly string[];
  readonly businessHoursOverride: Site['businessHoursOverride'];
}
