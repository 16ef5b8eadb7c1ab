// The text of an agent's mail as it is sent: plain, or rendered from the small Markdown that agents write.

import { refuseField } from '../../engine/errors.ts';
import { isBlank } from '../../engine/lines.ts';
import type { RichText } from '../../store/mail/records.ts';
import type { Services } from '../services.ts';

type Ports = Pick<Services, 'mailPorts' | 'uploadLinks'>;

/** Refuses invalid_body for formatting of which nothing can be seen. */
export async function writtenText(
  ports: Ports,
  { body, format = 'plain' }: { body: string; format?: 'plain' | 'markdown' | undefined },
): Promise<{ text: string; html: string | null }> {
  if (format === 'plain') return { text: body, html: null };
  const rendered = await rendering(ports, body);
  return isBlank(rendered.text) ? refuseField('invalid_body', 'body', 'must not be empty') : rendered;
}

/** Null stays null; a text of which nothing can be seen becomes null. */
export async function richText(ports: Ports, markdown: string | null): Promise<RichText | null> {
  if (markdown === null || isBlank(markdown)) return null;
  const rendered = await rendering(ports, markdown);
  return isBlank(rendered.text) ? null : { markdown, ...rendered };
}

function rendering({ mailPorts, uploadLinks }: Ports, markdown: string): Promise<{ text: string; html: string }> {
  return mailPorts.reader.compose({ markdown, pictureBase: uploadLinks.publicUrl('') });
}
