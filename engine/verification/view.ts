// A verification as the API shows it.

import type { VerificationRecord, VerificationStatus } from '../../store/verification/verifications.ts';

export interface VerificationView {
  readonly id: string;
  readonly status: VerificationStatus;
  readonly channel: VerificationRecord['channel'];
  readonly to: string;
  readonly serviceId: string;
  readonly verified: boolean;
  readonly attempts: number;
  readonly consumedAt: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
}
