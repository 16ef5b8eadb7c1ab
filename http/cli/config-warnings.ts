// Warnings about settings that are valid but possibly not intended. Printed at start and by `config check`.

import { type Config, isForThisMachine, isLoopback } from '../process/config.ts';

export function warningsOf(config: Config): string[] {
  return [
    ...(isForThisMachine(config) || config.registration !== 'open'
      ? []
      : [
          'REGISTRATION=open: anyone who reaches this address can register a workspace and send mail from here; set invite or off to prevent it',
        ]),
    ...(config.carrier.provider === 'twilio' && isLoopback(new URL(config.baseUrl).hostname)
      ? [
          `BASE_URL=${config.baseUrl}: Twilio cannot reach it, so no calls or texts arrive; set it to an address that the internet can reach`,
        ]
      : []),
    ...(config.carrier.provider === 'twilio' && config.verifyCountries !== undefined
      ? [`VERIFY_COUNTRIES: codes by phone are only sent to ${config.verifyCountries.join(', ')}`]
      : []),
    ...(config.cluster !== undefined && isLoopback(new URL(config.cluster.nodeUrl).hostname)
      ? [
          `CLUSTER_NODE_URL=${config.cluster.nodeUrl}: only nodes on this machine reach it; set it to an address that the others can reach`,
        ]
      : []),
    ...(config.rateLimits ? [] : ['RATE_LIMITS=off: no rate limits apply']),
    ...(config.allowPrivateWebhooks
      ? ['ALLOW_PRIVATE_WEBHOOKS: webhooks and shops may use addresses that are not public']
      : []),
    ...(config.allowPrivateCrawl
      ? ['ALLOW_PRIVATE_CRAWL: crawls, imports and attachments may use addresses that are not public']
      : []),
    ...(config.mail.provider === 'outbox'
      ? [
          'MAIL_PROVIDER=outbox: mail is kept in files under DATA_DIR/outbox and not sent, unless an admin sets a mail server under Settings, Email',
        ]
      : []),
  ];
}
