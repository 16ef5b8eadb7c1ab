// What an operator should know of settings that are sound and may still not be what was meant. Said at start and by
// `config check`.

import { type Config, isForThisMachine, isLoopback } from '../process/config.ts';

export function warningsOf(config: Config): string[] {
  return [
    ...(isForThisMachine(config) || config.registration !== 'open'
      ? []
      : [
          'REGISTRATION=open: whoever reaches this address may make a workspace, and send mail from here; invite or off keeps strangers out',
        ]),
    ...(config.carrier.provider === 'twilio' && isLoopback(new URL(config.baseUrl).hostname)
      ? [
          `BASE_URL=${config.baseUrl}: Twilio cannot reach it, so no call and no text arrives; it must be where the internet finds this server`,
        ]
      : []),
    ...(config.carrier.provider === 'twilio' && config.verifyCountries !== undefined
      ? [`VERIFY_COUNTRIES: codes by phone go to ${config.verifyCountries.join(', ')} alone`]
      : []),
    ...(config.rateLimits ? [] : ['RATE_LIMITS=off: no call is counted against a cap']),
    ...(config.allowPrivateWebhooks
      ? ['ALLOW_PRIVATE_WEBHOOKS: webhooks and shops may be at addresses that are not public']
      : []),
    ...(config.allowPrivateCrawl
      ? ['ALLOW_PRIVATE_CRAWL: crawls, imports and attachments may come from addresses that are not public']
      : []),
  ];
}
