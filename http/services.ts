// What handlers may use beside the engine: everything is made in http/serve.ts and handed down.

import type { RetrievalPorts } from '../engine/retrieval.ts';
import type { Directory } from '../engine/directory.ts';
import type { Engine } from '../engine/runtime/engine.ts';
import type { Ids } from '../engine/runtime/ids.ts';
import type { Log } from '../engine/runtime/log.ts';
import type { Turns } from '../engine/runtime/turns.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { AccessTokens } from '../workers/access-tokens.ts';
import type { NumberingPlan } from '../workers/numbering-plan.ts';
import type { Passkeys } from '../workers/passkeys.ts';
import type { PasswordHasher } from '../workers/password-hasher.ts';
import type { PasswordStrength } from '../workers/password-strength.ts';
import type { BillingProvider } from '../workers/providers/billing.ts';
import type { Carrier } from '../workers/providers/carrier.ts';
import type { Commerce } from '../workers/providers/commerce.ts';
import type { EmailDomainProvider } from '../workers/providers/email-domain.ts';
import type { WebhookSender } from '../workers/providers/webhook-sender.ts';
import type { SecretBox } from '../workers/secret-box.ts';
import type { Reader } from '../workers/reader.ts';
import type { Crawler } from '../workers/crawler.ts';
import type { ImageSource } from '../workers/image-source.ts';
import type { ObjectStore } from '../workers/providers/objects.ts';
import type { Totp } from '../workers/totp.ts';
import type { Config } from './config.ts';
import type { DiskReserve } from './disk-reserve.ts';
import type { InboundMail } from './inbound-mail.ts';
import type { SignInGuard } from './sign-in-guard.ts';
import type { SignInSteps } from './sign-in-steps.ts';
import type { PageFiles } from './page-files.ts';
import type { RegistrationCodes } from './registration-codes.ts';
import type { UploadLinks } from './upload-links.ts';
import type { ExportLinks } from './export-links.ts';
import type { VisitorPlaces } from './visitor-places.ts';
import type { VisitorTokens } from './visitor-tokens.ts';
import type { WidgetFiles } from './widget-files.ts';

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
  /** Ends the visitor's open sockets: it was blocked. */
  dropVisitor(workspaceId: string, visitorId: string): void;
  /** Ends the agent's open sockets whose sign-in was ended. */
  dropEnded(workspaceId: string, agentId: string): void;
}
