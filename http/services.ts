// The parts that handlers use, all made in http/composition.ts.

import type { Directory } from '../engine/directory/directory.ts';
import type { Imports } from '../engine/imports/running.ts';
import type { RetrievalPorts } from '../engine/knowledge/retrieval.ts';
import type { Mail } from '../engine/mail/outgoing.ts';
import type { Clock } from '../engine/runtime/clock.ts';
import type { Engine } from '../engine/runtime/engine.ts';
import type { Ids } from '../engine/runtime/ids.ts';
import type { Log } from '../engine/runtime/log.ts';
import type { Turns } from '../engine/runtime/turns.ts';
import type { MailPorts } from '../engine/tickets/mail-intake.ts';
import type { MailboxRecord } from '../store/mail/mailboxes.ts';
import type { ImageSource } from '../workers/files/image-source.ts';
import type { MailPictures } from '../workers/files/mail-pictures.ts';
import type { ForeignSources } from '../workers/imports/sources.ts';
import type { Crawler } from '../workers/knowledge/crawler.ts';
import type { ModelStore } from '../workers/knowledge/model-store.ts';
import type { ImportedMails } from '../workers/mail/imported-mails.ts';
import type { MailboxReader } from '../workers/mail/mailboxes.ts';
import type { NumberingPlan } from '../workers/numbering-plan.ts';
import type { BillingProvider } from '../workers/providers/billing.ts';
import type { Carrier } from '../workers/providers/carrier.ts';
import type { ChatModel } from '../workers/providers/chat-model.ts';
import type { Commerce } from '../workers/providers/commerce.ts';
import type { DiskTurns } from '../workers/providers/disk-turns.ts';
import type { EmailDomainProvider } from '../workers/providers/email-domain.ts';
import type { MailAccess } from '../workers/providers/mail-access.ts';
import type { MailUser, SendThrough } from '../workers/providers/mail-server.ts';
import type { ObjectStore } from '../workers/providers/objects.ts';
import type { NameResolver } from '../workers/providers/resolver.ts';
import type { PushSender } from '../workers/providers/web-push.ts';
import type { WebhookSender } from '../workers/providers/webhook-sender.ts';
import type { Reader } from '../workers/reader/reader.ts';
import type { AccessTokens } from '../workers/secrets/access-tokens.ts';
import type { Passkeys } from '../workers/secrets/passkeys.ts';
import type { PasswordHasher } from '../workers/secrets/password-hasher.ts';
import type { PasswordStrength } from '../workers/secrets/password-strength.ts';
import type { SecretBox } from '../workers/secrets/secret-box.ts';
import type { Totp } from '../workers/secrets/totp.ts';
import type { SenderTurns } from '../workers/sender-turns.ts';
import type { PageFiles } from './browser/page-files.ts';
import type { WidgetFiles } from './browser/widget-files.ts';
import type { SignInGuard } from './limits/sign-in-guard.ts';
import type { Config } from './process/config.ts';
import type { DiskReserve } from './process/disk-reserve.ts';
import type { ReplyTimes } from './reply-times.ts';
import type { ArticlePreviews } from './signed/article-previews.ts';
import type { ChatLinks } from './signed/chat-links.ts';
import type { ExportLinks } from './signed/export-links.ts';
import type { Identity } from './signed/identity.ts';
import type { MailboxGrants } from './signed/mailbox-grants.ts';
import type { NoticeLinks } from './signed/notice-links.ts';
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
  /** Undefined if BASE_URL has no host name: passkeys belong to one. */
  readonly passkeys: Passkeys | undefined;
  readonly accessTokens: AccessTokens;
  readonly visitorTokens: VisitorTokens;
  readonly chatLinks: ChatLinks;
  readonly noticeLinks: NoticeLinks;
  readonly identity: Identity;
  readonly exportLinks: ExportLinks;
  readonly articlePreviews: ArticlePreviews;
  readonly registrationCodes: RegistrationCodes;
  readonly commerce: Commerce;
  readonly foreignSources: ForeignSources;
  /** Reads the mails and texts of imports. */
  readonly importedMails: ImportedMails;
  /** Of batches of conversations, by workspace. */
  readonly importTurns: SenderTurns;
  /** Receives and reads the files of imports. */
  readonly imports: Imports;
  readonly chatModel: ChatModel;
  readonly secrets: SecretBox;
  readonly carrier: Carrier;
  readonly numberingPlan: NumberingPlan;
  readonly reader: Reader;
  /** Sends this mail of the workspace at once. Rejects with the errors of the sender. */
  sendMail(item: { workspaceId: string; id: string; mail: Mail }): Promise<string>;
  /** Sends through a server that a workspace named. */
  readonly sendThrough: SendThrough;
  readonly mailboxReader: MailboxReader;
  readonly mailAccess: MailAccess;
  readonly mailboxGrants: MailboxGrants;
  /** How a connected mailbox is signed in to. */
  mailboxUser(workspaceId: string, mailbox: MailboxRecord): Promise<MailUser>;
  /** For incoming mail. */
  readonly mailPorts: MailPorts;
  /** Undefined if none is configured. */
  readonly emailDomains: EmailDomainProvider | undefined;
  /** Looks up what a host's DNS says. */
  readonly names: NameResolver;
  /** An apex domain as in DNS; undefined for anything else. */
  apexDomain(text: string): Promise<string | undefined>;
  readonly crawler: Crawler;
  readonly models: ModelStore;
  /** Undefined without storage. */
  readonly objects: ObjectStore | undefined;
  readonly diskTurns: DiskTurns;
  readonly disk: DiskReserve;
  readonly uploadLinks: UploadLinks;
  readonly imageSource: ImageSource;
  readonly mailPictures: MailPictures;
  /** The media type of a file that begins with these bytes; undefined if unknown. */
  recognise(head: Uint8Array): Promise<string | undefined>;
  readonly webhookSender: WebhookSender;
  readonly pushSender: PushSender;
  /** Undefined: the local provider, which moves no money. */
  readonly billing: BillingProvider | undefined;
  /** By the provider's id of a subscription or a customer, or by workspace. */
  readonly billingTurns: Turns;
  readonly totp: Totp;
  readonly visitorPlaces: VisitorPlaces;
  readonly replyTimes: ReplyTimes;
  readonly widgetFiles: WidgetFiles;
  readonly pageFiles: PageFiles;
  /** Closes the sockets of a blocked visitor. */
  dropVisitor(workspaceId: string, visitorId: string): void;
  /** Closes the sockets of an agent's ended sign-ins. */
  dropEnded(workspaceId: string, agentId: string): void;
}
