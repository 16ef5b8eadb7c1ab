// Voice profiles: a phone number's greetings and their voice. Decisions 4.18.

import {
  countVoiceProfiles,
  insertVoiceProfile,
  newestVoiceProfiles,
  type VoiceProfileRecord,
} from '../../store/calls/voice-profiles.ts';
import { refuse } from '../errors.ts';
import { command } from '../runtime/command.ts';
import type { View } from '../runtime/context.ts';
import { requireAdmin } from '../workspace/access.ts';
import { requireFeature } from '../workspace/entitlements.ts';

/** The list is not paged; 200 greetings are enough for any workspace. */
const maxVoiceProfiles = 200;
const defaultVoice = 'alice';

/** Refuses admin_required, feature_locked, semantic_error at the limit. */
export const createVoiceProfile = command(
  'voiceProfile.create',
  (ctx, fields: { name: string; greetingText: string; voice?: string | undefined }): VoiceProfileRecord => {
    requireAdmin(ctx);
    requireFeature(ctx, 'calls');
    if (countVoiceProfiles(ctx.db) >= maxVoiceProfiles)
      refuse('semantic_error', { message: `A workspace may have at most ${maxVoiceProfiles} voice profiles.` });
    const profile: VoiceProfileRecord = {
      id: ctx.ids.uuid(),
      name: fields.name,
      greetingText: fields.greetingText,
      voice: fields.voice ?? defaultVoice,
      createdAt: ctx.at,
    };
    insertVoiceProfile(ctx.db, profile);
    return profile;
  },
);

export function listVoiceProfiles(view: View): VoiceProfileRecord[] {
  return newestVoiceProfiles(view.db, maxVoiceProfiles);
}
