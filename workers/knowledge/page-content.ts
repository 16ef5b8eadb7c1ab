// Takes the main content out of a page: everything a reader came for, without what surrounds it on every page. It removes
// what is known to be something else (menus, banners, lists of related pages, feedback forms) and keeps the rest, because
// an answer that is lost is never found. The only importer of parse5 and linkedom. It runs no script and loads nothing.

import { parseHTML } from 'linkedom';
import { parse, serialize } from 'parse5';
import { isClosingWord, isStamp, isSurroundingHeading } from './page-phrases.ts';

export type PageDocument = ReturnType<typeof parseHTML>['document'];
export type PageElement = NonNullable<ReturnType<PageDocument['querySelector']>>;

/** Parsed as browsers do, with missing or crossed tags repaired; linkedom takes them literally. */
export function documentOf(html: string): PageDocument {
  return parseHTML(serialize(parse(html))).document;
}

/** Never text. */
const silent =
  'script, style, noscript, template, svg, math annotation, iframe, object, embed, canvas, audio, video, map, select, textarea, input, datalist, progress, meter, link, meta';
/** Around the content, whatever it holds. */
const around =
  'nav, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [role=dialog], [role=alertdialog], [role=menu], [role=menubar], [role=toolbar], [role=tree], [role=tooltip], [role=status], [role=alert][aria-live], dialog, menu, [aria-label=breadcrumb i], [aria-label=breadcrumbs i], [aria-label=pagination i], [data-nosnippet], [data-elementor-type=header], [data-elementor-type=footer]';
/** Where the content is, if a page says so. The first that has most of the text of its kind is taken. */
const roots = [
  'main, [role=main]',
  '[itemprop=articleBody], [itemprop=mainEntity]',
  'article',
  '#main-content, #content, #main, #mw-content-text, #bodyContent, .main-content, .page-content, .entry-content, .article-body, .article__body, .wiki-content, .document .body, .md-content',
];
/** Share of a page's text, without what is around it, that a root must hold; otherwise it is one part of several. */
const rootShare = 0.4;
/** A parent with a heading and little more than the root's text belongs to it. */
const mostBeside = 1.35;
const panels =
  '[role=tabpanel], [role=region], details, dd, [class*=accordion], [class*=collaps], [class*=expand], [class*=toggle], [class*=faq], [class*=answer], [class*=panel], [class*=tab], [class*=drop]';
const blocks =
  'address, article, aside, blockquote, details, dialog, dd, div, dl, dt, fieldset, figcaption, figure, footer, form, h1, h2, h3, h4, h5, h6, header, hr, li, main, nav, ol, p, pre, section, table, ul';

/** Names of classes and ids that are around the content, whatever they hold. */
const aroundName =
  /(?:^|[\s_-])(?:breadcrumbs?|crumbs|toc|table-?of-?contents|on-?this-?page|page-?toc|contents-?list|skip-?(?:link|to-\w+|nav\w*)|screen-reader-shortcut|headerlink|header-?anchor|anchor-?link|hash-?link|heading-?anchor|permalink|edit-?(?:this-?)?(?:page|link)|mw-editsection|pagination|pager|prev-?next|page-?nav\w*|doc-?nav|navbar|nav|nav-?(?:links|header|footer|bar)|navigation|navigation-\w+|site-?(?:header|footer|nav\w*|info)|main-?menu|top-?menu|footer-?(?:menu|links|nav)|masthead|colophon|cookie-?(?:banner|bar|notice|consent|law|message|popup)|cc-window|onetrust\S*|gdpr\S*|consent-?(?:banner|bar|popup|manager)|share-?(?:buttons?|links?|bar)|social-?(?:share|links?|icons?|media)|sharedaddy|addtoany\S*|related-?(?:articles?|posts?|topics?|links?|content|products?)|recent(?:ly)?-?(?:viewed-?)?(?:articles?|posts?)|recommended-?\w+|article-?(?:votes?|vote|relatives|return-to-top|more-questions|subscribe|footer|meta|comments|rating|feedback)|jp-relatedposts|comments-?(?:area|list|section)|comment-?(?:list|form|respond)|respond|disqus\S*|newsletter\S*|helpful|was-?this-?helpful|did-?this-?\S+|intercom-reaction-\w+|feedback-?(?:form|widget|box|buttons?|section)|vote-?(?:up|down|buttons?)|last-?(?:updated|modified)|page-?(?:metadata|info)|byline|author-?(?:box|info|bio|card)|avatar|post-?meta|entry-?meta|printfriendly|back-?to-?top|return-?to-?top|copy-?(?:button|btn|code\S*)|clipboard\S*|linenos|line-?numbers(?:-rows)?|gutter|lineno|sidebar\S*|side-?nav\w*|widget-?area|announcement-?bar|promo\S*|advert\S*|ad-?slot|adsbygoogle|banner-?ad|login-?form|signup-?form|search-?(?:box|form|bar|field|input|results?-?empty)|searchbox|language-?(?:switcher|selector|picker|list)|locale-?\w+|printfooter|catlinks|siteSub|likes-?(?:section|and-labels\S*)?|labels-section\S*|mw-jump-link|mw-indicators|sphinxsidebar\S*|rst-versions|wy-nav-side|wy-breadcrumbs\S*|rst-footer-buttons|sphinxfooter|md-source-file|md-sidebar|md-footer|md-header|theme-doc-footer\S*|theme-doc-toc\S*|theme-doc-breadcrumbs|theme-doc-version-\w+|theme-edit-this-page|tocCollapsible\S*)(?:$|[\s_-])/i;
/** Names that are around the content if it is short or consists of links and fields. */
const doubtfulName =
  /(?:^|[\s_-])(?:menu|footer|header|topbar|bottom|cookies?|consent|banner|share|social|related|recent|search|login|sign-?in|subscribe|feedback|vote|rating|comments?|tags?|meta|tools?|actions?|buttons?|modal|popup|overlay|toast|links|copyright|legal|contact-?us|cta|cta-\w+)(?:$|[\s_-])/i;
/** Remarks beside the text that belong to it. */
const remarkName =
  /note|admonition|callout|tip|warning|caution|info|hint|danger|important|alert|success|starlight-aside|pullquote/i;

/**
 * The element with a page's main content, cleaned. Modifies the document. Headings, questions and answers are kept where
 * they are, in whatever element the page writes them.
 */
export function mainContent(document: PageDocument): PageElement | undefined {
  const { body } = document;
  if (body === null) return undefined;
  for (const element of body.querySelectorAll(silent)) element.remove();
  removeHidden(document);
  for (const element of body.querySelectorAll(around)) removeUnlessTop(element, body);
  removeNamed(body);
  const root = rootOf(body);
  removeInside(root, body);
  return root;
}

function textOf(element: PageElement): string {
  return (element.textContent ?? '').replace(/\s+/g, ' ').trim();
}

const length = (element: PageElement): number => textOf(element).length;

/** Not if it holds nearly the whole page: some templates name everything a menu. */
function removeUnlessTop(element: PageElement, body: PageElement): void {
  if (element.parentNode === null || element === body || element.matches('main, body, html')) return;
  if (element.querySelector('main, [role=main]') !== null) return;
  element.remove();
}

/** Hidden elements are waiting to be opened, such as the answers of an accordion, or not part of the page at all. */
function removeHidden(document: PageDocument): void {
  const opened = new Set<string>();
  for (const control of document.querySelectorAll(
    '[aria-controls], [data-target], [data-bs-target], a[href^="#"], [aria-labelledby]',
  ))
    for (const name of ['aria-controls', 'data-target', 'data-bs-target', 'href'])
      for (const id of (control.getAttribute(name) ?? '').split(/\s+/)) if (id !== '') opened.add(id.replace(/^#/, ''));
  for (const element of document.querySelectorAll(
    '[hidden], [aria-hidden=true], [style*="display"], [style*="visibility"]',
  )) {
    const isHidden =
      element.hasAttribute('hidden') ||
      element.getAttribute('aria-hidden') === 'true' ||
      /(?:display\s*:\s*none|visibility\s*:\s*hidden)/i.test(element.getAttribute('style') ?? '');
    if (!isHidden || element.matches('html, body, main')) continue;
    const isPanel =
      opened.has(element.id) ||
      element.matches(panels) ||
      element.parentElement?.matches(panels) === true ||
      isBelowQuestion(element);
    if (!isPanel || element.matches('span, i, b, em, img, a, button')) element.remove();
  }
}

/** Follows what looks like the control that opens it. */
function isBelowQuestion(element: PageElement): boolean {
  const before = element.previousElementSibling;
  return (
    before !== null &&
    (before.matches('button, [role=button], [aria-expanded], summary, dt, h2, h3, h4, h5, h6') ||
      before.querySelector('button[aria-expanded], [role=button]') !== null)
  );
}

const nameOf = (element: PageElement): string =>
  `${element.getAttribute('class') ?? ''} ${element.matches('section, h1, h2, h3, h4, h5, h6, dt, dd, p, li, a') ? '' : element.id} ${element.getAttribute('data-testid') ?? ''} ${element.getAttribute('data-component') ?? ''}`;

function removeNamed(body: PageElement): void {
  const whole = length(body);
  for (const element of body.querySelectorAll('[class], [id], [data-testid], [data-component]')) {
    if (element.parentNode === null || element.matches('main, article, h1, html, body')) continue;
    const name = nameOf(element);
    if (remarkName.test(name)) continue;
    if (aroundName.test(name)) {
      // A name on most of the page, or on its title, means something else there.
      if (element.matches('h2, h3, h4, h5, h6, p, table, tbody, tr, td')) continue;
      if (length(element) < whole / 2 && element.querySelector('main, [role=main], article') === null) element.remove();
    } else if (doubtfulName.test(name) && isDoubtful(element, whole)) element.remove();
  }
}

function isDoubtful(element: PageElement, whole: number): boolean {
  if (element.matches('h2, h3, h4, h5, h6, p, table, tbody, tr, td, li, dt, dd, summary, span, a, button, label'))
    return false;
  if (element.querySelector('main, [role=main], article, h1, dl, pre, [role=tabpanel]') !== null) return false;
  const text = length(element);
  if (text > whole / 3) return false;
  if (isCollapsible(element)) return false;
  return linkShare(element) > 0.5 || (text < 200 && element.querySelector('p, h2, h3, h4, table, ul, ol') === null);
}

const isCollapsible = (element: PageElement): boolean =>
  element.querySelector('[aria-expanded], [aria-controls], details, [data-toggle], [data-bs-toggle]') !== null;

function linkShare(element: PageElement): number {
  const text = length(element);
  if (text === 0) return 0;
  let linked = 0;
  for (const link of element.querySelectorAll('a[href]')) linked += length(link);
  return linked / text;
}

function rootOf(body: PageElement): PageElement {
  const whole = length(body);
  for (const selector of roots) {
    let best: PageElement | undefined;
    for (const element of body.querySelectorAll(selector))
      if (best === undefined || length(element) > length(best)) best = element;
    if (best !== undefined && length(best) > 0 && length(best) >= whole * rootShare) return withTitle(best, body);
  }
  return body;
}

/** With the page's heading, if that is beside the text. */
function withTitle(root: PageElement, body: PageElement): PageElement {
  if (root.querySelector('h1') !== null) return root;
  const { parentElement } = root;
  if (parentElement !== null && parentElement !== body && parentElement.querySelector('h1, h2') !== null)
    if (length(parentElement) < length(root) * mostBeside) return parentElement;
  const title = body.querySelector('h1');
  if (title === null) return root;
  let wider: PageElement = root;
  while (!wider.contains(title) && wider.parentElement !== null && wider !== body) wider = wider.parentElement;
  // A heading in the site's header names the site.
  return wider === body && title.closest('header, [class*=header], [class*=banner]') !== null ? root : wider;
}

/** What is around the content within its root: headers, footers, menus that are only recognised by their links. */
function removeInside(root: PageElement, body: PageElement): void {
  const title = root.querySelector('h1');
  for (const element of root.querySelectorAll('header')) {
    if (title !== null && element.contains(title)) keepTitle(element);
    else if (element.querySelector('h1, h2, h3') === null || linkShare(element) > 0.5 || root === body)
      element.remove();
  }
  for (const element of root.querySelectorAll('footer'))
    if (element.closest('blockquote, figure') === null) element.remove();
  for (const element of root.querySelectorAll('aside'))
    if (!remarkName.test(`${nameOf(element)} ${element.getAttribute('role') ?? ''}`)) element.remove();
  for (const element of root.querySelectorAll('button, [role=button]')) if (!isQuestion(element)) element.remove();
  for (const element of root.querySelectorAll('form'))
    if (length(element) < 300 && element.querySelector('h1, h2, table') === null) element.remove();
  for (const element of root.querySelectorAll('a'))
    if (/^[\s#¶§🔗]*$/u.test(element.textContent ?? '')) emptied(element);
  for (const element of root.querySelectorAll('sup'))
    if (
      /^\[?(?:\d+|edit)\]?$/.test(textOf(element)) &&
      element.querySelector('a[href^="#cite"], a[href*="#fn"]') !== null
    )
      element.remove();
  for (const element of root.querySelectorAll('p, div, span, small, time, li'))
    if (element.querySelector(blocks) === null && isStamp(textOf(element))) element.remove();
  removeSurroundingSections(root);
  removeLinksBefore(root, title);
  removeLinkLists(root);
  removeLast(root);
}

/** Its anchor's name stays, for links to the heading. */
function emptied(link: PageElement): void {
  if (link.id === '' && !link.hasAttribute('name')) link.remove();
  else link.textContent = '';
}

/** A header around the title keeps the title and what introduces the page. */
function keepTitle(header: PageElement): void {
  for (const element of header.querySelectorAll('time, address, ul, ol, form, figure')) element.remove();
}

/** A question or the name of a tab, not something to press. */
function isQuestion(button: PageElement): boolean {
  if (button.closest('h1, h2, h3, h4, h5, h6, dt, summary, [role=tab]') !== null) return length(button) > 0;
  if (button.matches('[aria-expanded], [aria-controls], [data-toggle=collapse], [data-bs-toggle=collapse], [role=tab]'))
    return length(button) > 0;
  return /accordion|collaps|faq|question|toggle|expand/i.test(nameOf(button)) && length(button) > 0;
}

/** "Related articles" and the like, with everything up to the next heading of that level. */
function removeSurroundingSections(root: PageElement): void {
  for (const heading of root.querySelectorAll('h2, h3, h4, h5, h6, p, div, strong, span')) {
    if (heading.parentNode === null || heading.children.length > 2 || !isSurroundingHeading(textOf(heading))) continue;
    const level = /^H[1-6]$/.test(heading.tagName) ? heading.tagName : 'H6';
    let next = heading.nextElementSibling;
    while (next !== null && !(/^H[1-6]$/.test(next.tagName) && next.tagName <= level)) {
      const following: PageElement | null = next.nextElementSibling;
      // Only what such a section holds: links, buttons and short remarks.
      if (length(next) > 300 && linkShare(next) < 0.5) break;
      next.remove();
      next = following;
    }
    const { parentElement } = heading;
    heading.remove();
    if (parentElement !== null && parentElement !== root && length(parentElement) === 0) parentElement.remove();
  }
}

/** Lines of links above the heading, with the site's name. */
function removeLinksBefore(root: PageElement, title: PageElement | null): void {
  if (title === null) return;
  for (const block of root.querySelectorAll('td, center, div, p, ul, ol, table')) {
    // Not behind the heading (4), and neither contains the other (8, 16).
    if (block.parentNode === null || (title.compareDocumentPosition(block) & (4 | 8 | 16)) !== 0) continue;
    if (block.querySelectorAll('a[href]').length < 2 || length(block) > 300) continue;
    if (linkShare(block) > 0.3) block.remove();
  }
}

/** Lists of links, such as tables of contents and menus without a name. Cards with headings are content. */
function removeLinkLists(root: PageElement): void {
  for (const list of root.querySelectorAll('ul, ol, dl, table, td, p, div, center')) {
    if (list.parentNode === null || list.querySelector('h1, h2, h3, h4, h5, h6, p p, pre') !== null) continue;
    const links = [...list.querySelectorAll('a[href]')];
    if (links.length < 3 || linkShare(list) < 0.8) continue;
    const inPage = links.filter((link) => (link.getAttribute('href') ?? '').includes('#')).length;
    const isNested = list.querySelector('ul, ol, dl') !== null;
    const rest = length(root) - length(list);
    if (inPage >= links.length * 0.8 || (isNested && links.length >= 6) || rest >= 200) list.remove();
  }
}

/** A closing line with the owner's name and the year, and lines of links beside it. */
function removeLast(root: PageElement): void {
  for (let count = 0; count < 6; count += 1) {
    const last = lastBlock(root);
    if (last === undefined || last === root) return;
    const text = textOf(last);
    const isLinks = last.querySelectorAll('a[href]').length >= 2 && linkShare(last) > 0.7;
    if (text !== '' && !(text.length < 300 && (isClosingWord(text) || (isLinks && length(root) - text.length >= 200))))
      return;
    last.remove();
  }
}

/** The innermost block at the end. */
function lastBlock(root: PageElement): PageElement | undefined {
  let last: PageElement | undefined;
  let next = root.lastElementChild;
  while (next !== null) {
    if (length(next) === 0) {
      const empty = next;
      next = next.previousElementSibling;
      empty.remove();
      continue;
    }
    // Text behind the last element is the end of the page itself.
    if (hasTextBehind(next)) return last;
    last = next;
    if (last.querySelector(blocks) === null) return last;
    next = last.lastElementChild;
  }
  return last;
}

function hasTextBehind(element: PageElement): boolean {
  for (let next = element.nextSibling; next !== null; next = next.nextSibling)
    if (next.nodeType === 3 && (next.textContent ?? '').trim() !== '') return true;
  return false;
}
