// The parts that handlers use beside the engine, all made in http/serve.ts.

import type { Directory } from '../engine/directory/directory.ts';
import type { RetrievalPorts } from '../engine/knowledge/retrieval.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Engine } from '../engine/runtime/engine.ts';
import type { Ids } from '../engine/runtime/ids.ts';
import type { Log } from '../engine/runtime/log.ts';
import type { Turns } from '../engine/runtime/turns.ts';
import type { ImageSource } from '../workers/files/image-source.ts';
import type { Crawler } from '../workers/knowledge/crawler.ts';
import type { NumberingPlan } from '../workers/numbering-plan.ts';
import type { BillingProvider } from '../workers/providers/billing.ts';
import type { Carrier } from '../workers/providers/carrier.ts';
import type { Commerce } from '../workers/providers/commerce.ts';
import type { EmailDomainProvider } from '../workers/providers/email-domain.ts';
import type { ObjectStore } from '../workers/providers/objects.ts';
import type { WebhookSender } from '../workers/providers/webhook-sender.ts';
import type { Reader } from '../workers/reader/reader.ts';
import type { AccessTokens } from '../workers/secrets/access-tokens.ts';
import type { Passkeys } from '../workers/secrets/passkeys.ts';
import type { PasswordHasher } from '../workers/secrets/password-hasher.ts';
import type { PasswordStrength } from '../workers/secrets/password-strength.ts';
import type { SecretBox } from '../workers/secrets/secret-box.ts';
import type { Totp } from '../workers/secrets/totp.ts';
import type { PageFiles } from './browser/page-files.ts';
import type { WidgetFiles } from './browser/widget-files.ts';
import type { InboundMail } from './delivery/mail-in.ts';
import type { SignInGuard } from './limits/sign-in-guard.ts';
import type { Config } from './process/config.ts';
import type { DiskReserve } from './process/disk-reserve.ts';
import type { ExportLinks } from './signed/export-links.ts';
import type { RegistrationCodes } from './signed/registration-codes.ts';
import type { SignInSteps } from './signed/sign-in-steps.ts';
import type { UploadLinks } from './signed/upload-links.ts';
import type { VisitorTokens } from './signed/visitor-tokens.ts';
import type { VisitorPlaces } from './visitor-places.ts';

export interface Services extends RetrievalPorts {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly engine: Engine;
  readonly directory: Directory;
  readonly hasher: PasswordHasher;
  readonly strength: PasswordStrength;
  readonly signInGuard: SignInGuard;
  readonly signInSteps: SignInSteps;
  /** Undefined where the service is reached at an address without a name, for which there are none. */
  readonly passkeys: Passkeys | undefined;
  readonly accessTokens: AccessTokens;
  readonly visitorTokens: VisitorTokens;
  readonly exportLinks: ExportLinks;
  readonly registrationCodes: RegistrationCodes;
  readonly commerce: Commerce;
  readonly secrets: SecretBox;
  readonly carrier: Carrier;
  readonly numberingPlan: NumberingPlan;
  readonly reader: Reader;
  readonly inboundMail: InboundMail;
  /** Undefined when the service has none. */
  readonly emailDomains: EmailDomainProvider | undefined;
  /** An apex domain in the form of DNS; undefined for what is none. */
  apexDomain(text: string): Promise<string | undefined>;
  readonly crawler: Crawler;
  /** Undefined when there is no storage. */
  readonly objects: ObjectStore | undefined;
  readonly disk: DiskReserve;
  readonly uploadLinks: UploadLinks;
  readonly imageSource: ImageSource;
  /** The media type of what begins with these bytes; undefined when nothing is recognised. */
  recognise(head: Uint8Array): Promise<string | undefined>;
  readonly webhookSender: WebhookSender;
  /** Undefined: the local provider, which moves no money. */
  readonly billing: BillingProvider | undefined;
  /** By the provider's name for a subscription, or by workspace. */
  readonly billingTurns: Turns;
  readonly totp: Totp;
  readonly visitorPlaces: VisitorPlaces;
  readonly widgetFiles: WidgetFiles;
  readonly pageFiles: PageFiles;
  /** Closes the sockets of a visitor that was blocked. */
  dropVisitor(workspaceId: string, visitorId: string): void;
  /** Closes the sockets of an agent whose sign-in was ended. */
  dropEnded(workspaceId: string, agentId: string): void;
}
