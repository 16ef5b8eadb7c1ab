// Removes quoted history, the earlier mails that the client put below or above what a person wrote. Works line by line
// and never looks back more than a line or two, so it is linear. When in doubt it keeps the text: a forwarded mail,
// answers between quoted lines, and anything that would leave nothing stay as they are.

type Line = 'empty' | 'quoted' | 'forward' | 'divider' | 'text';

/** Lines of an attribution such as `On Friday Ann <ann@example.com> wrote:`, as clients wrap it. */
const maxAttributionLines = 4;
const maxAttributionChars = 500;
/** The lines within which `From:`, `Sent:`, `To:`, `Cc:`, `Subject:` and a few more fields are found. */
const headerBlockLines = 8;

const wrote =
  /wrote|writes|schrieb|geschrieben|a écrit|escribió|ha scritto|schreef|escreveu|napisał|napsal|napísal|skrev|kirjoitti|írta|a scris|yazdı|έγραψε|написал|пишет|пише|написа|写道|寫道|のメール|작성|כתב|كتب/iu;
const dateOrAddress =
  /@|\d{1,2}[:.h]\d{2}|\d{4}|\d{1,2}[/.-]\d{1,2}|[٠-٩]{4}|^on (?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b/i;

/** `-----Original Message-----` and its like, between at least two dashes, underscores, stars or equals signs. */
const dividerWords =
  /^(?:original (?:message|appointment)|reply message|ursprüngliche nachricht|originalnachricht|message d'origine|message original|mensaje original|messaggio originale|oorspronkelijk bericht|mensagem original|wiadomość oryginalna|oprindelig meddelelse|ursprungligt meddelande|opprinnelig melding|alkuperäinen viesti|původní zpráva|исходное сообщение|пересылаемое сообщение|原始邮件|原始郵件|original-nachricht|元のメッセージ|元のメール)$/iu;
const forwardWords =
  /^(?:forwarded message|begin forwarded message|forwarded by|weitergeleitete nachricht|anfang der weitergeleiteten (?:nachricht|e-mail)|message transféré|début du message (?:transféré|réexpédié)|mensaje reenviado|inicio del mensaje reenviado|messaggio inoltrato|inizio messaggio inoltrato|doorgestuurd bericht|begin doorgestuurd bericht|mensagem encaminhada|wiadomość przekazana|vidarebefordrat meddelande|videresendt (?:melding|meddelelse)|välitetty viesti|пересланное сообщение|转发的邮件|轉寄的郵件|転送メッセージ)/iu;

/** The first line of the header block that Outlook and others put above a quote, then its other lines. */
const fromField =
  /^(?:from|von|de|da|van|från|fra|od|от|lähettäjä|kimden|gönderen|feladó|发件人|寄件者|差出人|보낸 사람|מאת)\s*[:：]\s*\S/iu;
const otherField =
  /^(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado(?: el)?|fecha|para|asunto|inviato|data|a|oggetto|verzonden|aan|onderwerp|assunto|wysłano|do|temat|skickat|till|ämne|sendt|til|emne|lähetetty|vastaanottaja|aihe|odesláno|komu|předmět|отправлено|дата|кому|тема|gönderildi|kime|konu|发送时间|收件人|抄送|主题|寄件日期|收件者|主旨|送信日時|宛先|件名|보낸 날짜|받는 사람|제목)\s*[:：]/iu;

export interface Stripped {
  readonly text: string;
  /** False: nothing was removed. */
  readonly isShorter: boolean;
}

/** Removes the quoted history from a plain-text mail. What is left is lines of the text, in order. */
export function stripHistory(text: string): Stripped {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const kinds = lines.map(kindOf);
  const kept = keptLines(lines, kinds);
  if (kept === undefined || !kept.some((line) => line.trim() !== '')) return { text: trimmed(lines), isShorter: false };
  return { text: trimmed(kept), isShorter: true };
}

/** Undefined: keep everything. */
function keptLines(lines: readonly string[], kinds: readonly Line[]): readonly string[] | undefined {
  const start = historyStart(lines, kinds);
  const forward = kinds.indexOf('forward');
  // A forwarded mail is what this mail is about.
  if (start === undefined || (forward >= 0 && forward <= start.index)) return undefined;
  const before = lines.slice(0, start.index);
  const hasTextBefore = hasText(before, kinds);
  // Everything below a header block or a divider is the earlier mail. With nothing above, it is a forward without the
  // word.
  if (start.kind === 'block') return hasTextBefore ? before : undefined;
  const end = quoteEnd(kinds, start.quoteIndex);
  const after = lines.slice(end);
  if (!hasText(after, kinds.slice(end))) return hasTextBefore ? before : undefined;
  // An answer below one complete quote; any other is written between the quoted lines and needs them.
  const isBelow = !hasTextBefore && !kinds.slice(end).includes('quoted');
  return isBelow ? after : undefined;
}

type Start =
  | { readonly kind: 'block'; readonly index: number }
  | { readonly kind: 'quote'; readonly index: number; readonly quoteIndex: number };

/** Where the earlier mail begins: at its header block, its divider, or the attribution above its quoted lines. */
function historyStart(lines: readonly string[], kinds: readonly Line[]): Start | undefined {
  for (let index = 0; index < lines.length; index += 1) {
    const kind = kinds[index];
    if (kind === 'divider' || (kind === 'text' && isHeaderBlock(lines, index)))
      return { kind: 'block', index: aboveRule(lines, index) };
    if (kind !== 'quoted') continue;
    const attribution = attributionWithin(lines, kinds, index) ? index : attributionAbove(lines, kinds, index);
    if (attribution !== undefined) return { kind: 'quote', index: attribution, quoteIndex: index };
    // Quoted lines without an attribution may be a log, a diff, a poem.
    index = quoteEnd(kinds, index) - 1;
  }
  return undefined;
}

function kindOf(line: string): Line {
  const bare = line.trim();
  if (bare === '') return 'empty';
  if (bare.startsWith('>')) return 'quoted';
  const ruled = /^[-_*=–—]{2,}\s*(.{3,60}?)\s*[-_*=–—]{2,}$/u.exec(bare)?.[1];
  if (ruled !== undefined && dividerWords.test(ruled)) return 'divider';
  // Samsung's client writes the header fields after the divider.
  const [, begun = '', rest = ''] = /^[-_*=–—]{2,}\s*(.{3,60}?)\s*[-_*=–—]{2,}\s*(.*)$/u.exec(bare) ?? [];
  if (dividerWords.test(begun) && fromField.test(rest)) return 'divider';
  if (forwardWords.test(ruled ?? bare) && (ruled !== undefined || bare.endsWith(':'))) return 'forward';
  return 'text';
}

function isHeaderBlock(lines: readonly string[], index: number): boolean {
  if (!fromField.test(unbold(lines[index]))) return false;
  const others = new Set<string>();
  for (const line of lines.slice(index + 1, index + headerBlockLines)) {
    const field = otherField.exec(unbold(line))?.[0];
    if (field !== undefined) others.add(field.toLowerCase());
  }
  return others.size >= 2;
}

/** Plain-text parts mark the bold names of header fields with stars. */
function unbold(line = ''): string {
  return line.trim().replaceAll('*', '').slice(0, maxAttributionChars);
}

/** Outlook draws a line above its header block. */
function aboveRule(lines: readonly string[], index: number): number {
  let above = index - 1;
  while (above >= 0 && lines[above]?.trim() === '') above -= 1;
  return above >= 0 && /^[-_]{5,}$/.test(lines[above]?.trim() ?? '') ? above : index;
}

/** Some clients quote the attribution as well. */
function attributionWithin(lines: readonly string[], kinds: readonly Line[], quoteIndex: number): boolean {
  let joined = '';
  for (let index = quoteIndex; index < quoteIndex + maxAttributionLines && kinds[index] === 'quoted'; index += 1) {
    joined = `${joined} ${lines[index]?.replace(/^[\s>]+/, '').trim() ?? ''}`;
    if (joined.length > maxAttributionChars) return false;
    if (/[:：]$/.test(joined)) return isAttribution(joined);
  }
  return false;
}

/** The first line of the attribution that ends just above `quoteIndex`. */
function attributionAbove(lines: readonly string[], kinds: readonly Line[], quoteIndex: number): number | undefined {
  let last = quoteIndex - 1;
  while (last >= 0 && kinds[last] === 'empty') last -= 1;
  if (last < 0 || kinds[last] !== 'text' || !/[:：]$/.test(lines[last]?.trim() ?? '')) return undefined;
  let joined = '';
  for (let first = last; first >= 0 && first > last - maxAttributionLines && kinds[first] === 'text'; first -= 1) {
    joined = `${lines[first]?.trim() ?? ''} ${joined}`;
    if (joined.length > maxAttributionChars) return undefined;
    if (isAttribution(joined) && startsAttribution(lines, kinds, first)) return first;
  }
  return undefined;
}

/** Who and when: an address, or a verb of writing beside a date. */
function isAttribution(joined: string): boolean {
  return /<?[^\s<>@]+@[^\s<>@]+>?/.test(joined) || (wrote.test(joined) && dateOrAddress.test(joined.trim()));
}

/**
 * True if it is a paragraph's first line, or begins as attributions do; otherwise the attribution begins further up.
 */
function startsAttribution(lines: readonly string[], kinds: readonly Line[], first: number): boolean {
  if (first === 0 || kinds[first - 1] !== 'text') return true;
  return /^(?:(?:on|am|le|el|il|op|em|den|dne|dnia|w dniu|في)\s|\d{1,4}[-./年])/iu.test(lines[first]?.trim() ?? '');
}

/** Just past the run of quoted lines, with empty lines within and after it. */
function quoteEnd(kinds: readonly Line[], index: number): number {
  let end = index;
  while (end < kinds.length && (kinds[end] === 'quoted' || kinds[end] === 'empty')) end += 1;
  return end;
}

/** A signature by itself is not text: it may be below quotes as well as above them. */
function hasText(lines: readonly string[], kinds: readonly Line[]): boolean {
  for (let index = 0; index < lines.length; index += 1) {
    if (/^-- ?$/.test(lines[index] ?? '')) return false;
    if (kinds[index] !== 'empty') return true;
  }
  return false;
}

function trimmed(lines: readonly string[]): string {
  let first = 0;
  let last = lines.length;
  while (first < last && lines[first]?.trim() === '') first += 1;
  while (last > first && lines[last - 1]?.trim() === '') last -= 1;
  return lines.slice(first, last).join('\n');
}
