// Pages in the shapes of real help centres, in twelve languages, with every piece of text marked as content or as
// something around it. Made for measuring what is kept of a page; bench/extraction.ts compares other extractors on it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface CorpusPage {
  /** Its make and language, such as `zendesk de`. */
  readonly name: string;
  readonly html: string;
  readonly keep: readonly string[];
  readonly go: readonly string[];
}

interface Section {
  readonly title: string;
  readonly sentences: readonly string[];
}

interface Words {
  readonly menu: readonly [string, string, string];
  readonly cookie: string;
  readonly accept: string;
  readonly related: string;
  readonly helpful: string;
  readonly toc: string;
  readonly closing: string;
  readonly edit: string;
}

/** Marks text while a page is written. */
class Writer {
  readonly keep: string[] = [];
  readonly go: string[] = [];
  readonly words: Words;
  readonly sections: readonly Section[];
  readonly others: readonly Section[];
  readonly language: string;

  constructor(language: string, sections: readonly Section[], others: readonly Section[]) {
    this.language = language;
    this.words = words[language] ?? raise(language);
    this.sections = sections;
    this.others = others;
  }

  k = (text: string): string => {
    this.keep.push(text);
    return escaped(text);
  };
  g = (text: string): string => {
    this.go.push(text);
    return escaped(text);
  };
  /** The title of the page, which is its first section's. */
  get title(): string {
    return this.sections[0]?.title ?? '';
  }
  /** Every section but the first, made into one piece of markup each. */
  each(make: (section: Section, index: number) => string): string {
    return this.sections
      .slice(1)
      .map((section, index) => make(section, index))
      .join('\n');
  }
  paragraphs(section: Section | undefined): string {
    return (section?.sentences ?? []).map((sentence) => `<p>${this.k(sentence)}</p>`).join('');
  }
  menu(): string {
    return this.words.menu.map((label) => `<li><a href="/${label.length}">${this.g(label)}</a></li>`).join('');
  }
  links(): string {
    return this.others
      .map(({ title }, index) => `<li><a href="/articles/${index}-x">${this.g(title)}</a></li>`)
      .join('');
  }
  /** A table of contents. Its words are those of the headings, so only its own title shows whether it was taken. */
  contents(): string {
    return this.sections
      .slice(1)
      .map(({ title }, index) => `<li><a href="#s${index}">${escaped(title)}</a></li>`)
      .join('');
  }
}

function raise(language: string): never {
  throw new Error(`no words in ${language}`);
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const head = (w: Writer, site: string): string =>
  `<!doctype html><html lang="${w.language}"${w.language === 'ar' ? ' dir="rtl"' : ''}><head><meta charset="utf-8"><title>${escaped(w.title)} – ${site}</title><style>.x{color:red}</style><script>var tracked = "never text";</script></head>`;

const makes: Readonly<Record<string, (w: Writer) => string>> = {
  zendesk: (w) => `${head(w, 'Help Center')}<body class="">
<a class="skip-navigation" tabindex="1" href="#main-content">${w.g('Skip to main content')}</a>
<header class="header"><div class="logo"><a href="/hc">${w.g('Larch Help Center')}</a></div><nav class="user-nav"><ul>${w.menu()}</ul></nav></header>
<main role="main"><div class="container-divider"></div><div class="container">
<nav class="sub-nav"><ol class="breadcrumbs"><li><a href="/hc">${w.g('Larch')}</a></li><li><a href="/c">${w.g('FAQ and more')}</a></li></ol><form role="search" class="search"><input type="search" placeholder="Search"></form></nav>
<div class="article-container" id="article-container"><aside class="article-sidebar"><div class="collapsible-sidebar"><h3 class="collapsible-sidebar-title">${w.g(w.words.related)}</h3><ul>${w.links()}</ul></div></aside>
<article id="main-content" class="article"><header class="article-header"><h1 title="x" class="article-title">${w.k(w.title)}</h1><div class="article-author"><div class="avatar article-avatar"><img src="a.png" alt=""></div><div class="article-meta"><a href="/p">${w.g('Robin from Support')}</a><ul class="meta-group"><li class="meta-data"><time>${w.g('2 years ago')}</time></li></ul></div></div></header>
<section class="article-info"><div class="article-content"><div class="article-body">${w.paragraphs(w.sections[0])}${w.each((s, i) => `<h2 id="h_01${i}">${w.k(s.title)}</h2>${w.paragraphs(s)}`)}</div></div></section>
<footer><div class="article-footer"><div class="article-share">${w.g('Facebook')}</div></div><div class="article-votes"><span class="article-votes-question">${w.g(w.words.helpful)}</span><div class="article-votes-controls"><button type="button" class="button article-vote article-vote-up">${w.g('Yes, it was')}</button></div><small class="article-votes-count">${w.g('13 out of 27 found this helpful')}</small></div><div class="article-return-to-top"><a href="#article-container">${w.g('Return to top')}</a></div></footer>
<div class="article-relatives"><section class="related-articles"><h2 class="related-articles-title">${w.words.related}</h2><ul>${w.links()}</ul></section></div></article></div></div></main>
<footer class="footer"><div class="footer-inner"><a href="/">${w.g(w.words.closing)}</a></div></footer></body></html>`,

  intercom: (
    w,
  ) => `${head(w, 'Larch')}<body><div id="__next"><header class="header__container"><a href="/">${w.g('Larch home')}</a><div class="header__links"><a href="https://app">${w.g(w.words.menu[0])}</a></div><form action="/search"><input placeholder="Search for articles..."></form></header>
<div class="z-base"><section data-testid="main-content"><section data-testid="article-section" class="section section__article">
<div class="breadcrumb" tabindex="-1"><a href="/">${w.g('All Collections')}</a><div>${w.g(w.words.menu[1])}</div></div>
<div class="intercom-interblocks"><div class="mb-10"><header class="font-primary"><h1>${w.k(w.title)}</h1><div class="article_preview">${w.k(w.sections[0]?.sentences[0] ?? '')}</div></header><div class="avatar"><div class="avatar__info">${w.g('Written by Robin. Updated over a week ago')}</div></div></div>
<div class="jsx-table-of-contents"><div class="toc"><span>${w.g(w.words.toc)}</span><ul>${w.contents()}</ul></div></div>
<article dir="auto">${(w.sections[0]?.sentences ?? [])
    .slice(1)
    .map((s) => `<div class="intercom-interblocks-paragraph"><p>${w.k(s)}</p></div>`)
    .join(
      '',
    )}${w.each((s, i) => `<div class="intercom-interblocks-subheading"><h2 id="h_${i}ab">${w.k(s.title)}</h2></div><div class="intercom-interblocks-callout"><p>${s.sentences.map(w.k).join(' ')}</p></div>`)}</article></div>
<div class="intercom-reaction-picker"><div class="intercom-reaction-prompt">${w.g(w.words.helpful)}</div><button class="intercom-reaction">😃</button></div>
<section class="related_articles related-articles"><h3>${w.words.related}</h3><ul>${w.links()}</ul></section></section></section></div>
<footer class="footer">${w.g(w.words.closing)}</footer></div></body></html>`,

  notion: (
    w,
  ) => `<html lang="${w.language}"><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"/><title>${escaped(w.title)}</title><style>body{}</style></head><body><article id="9f" class="page sans"><header><div class="page-header-icon"><span class="icon">📦</span></div><h1 class="page-title">${w.k(w.title)}</h1><p class="page-description"></p></header><div class="page-body">
<nav id="t" class="block-color-gray table_of_contents">${w.sections
    .slice(1)
    .map(
      ({ title }) =>
        `<div class="table_of_contents-item"><a class="table_of_contents-link" href="#x">${escaped(title)}</a></div>`,
    )
    .join('')}</nav>
${w.paragraphs(w.sections[0])}${w.each((s, i) => (i % 2 === 0 ? `<ul class="toggle"><li><details open=""><summary>${w.k(s.title)}</summary>${w.paragraphs(s)}</details></li></ul>` : `<h3 id="n${i}">${w.k(s.title)}</h3><figure class="callout"><div>💡</div><div>${w.paragraphs(s)}</div></figure>`))}</div></article><span class="sans" style="font-size:14px;padding-top:2em"></span></body></html>`,

  docusaurus: (
    w,
  ) => `${head(w, 'Docs')}<body class="navigation-with-keyboard"><div id="__docusaurus"><div role="region" aria-label="Skip to main content"><a class="skipToContent_x" href="#c">${w.g('Skip to main content')}</a></div>
<nav aria-label="Main" class="navbar navbar--fixed-top"><div class="navbar__inner">${w.words.menu.map((m) => `<a class="navbar__item navbar__link" href="/x">${w.g(m)}</a>`).join('')}</div></nav>
<div id="c" class="main-wrapper"><div class="docsWrapper_x"><aside class="theme-doc-sidebar-container"><nav class="menu thin-scrollbar"><ul class="theme-doc-sidebar-menu menu__list">${w.links()}</ul></nav></aside>
<main class="docMainContainer_x"><div class="container"><div class="row"><div class="col docItemCol_x"><div class="docItemContainer_x"><article><nav class="theme-doc-breadcrumbs" aria-label="Breadcrumbs"><ul class="breadcrumbs"><li>${w.g('Guides home')}</li></ul></nav>
<div class="tocCollapsible_x theme-doc-toc-mobile"><button type="button">${w.g(w.words.toc)}</button></div>
<div class="theme-doc-markdown markdown"><header><h1>${w.k(w.title)}</h1></header>${w.paragraphs(w.sections[0])}${w.each((s, i) => `<h2 class="anchor anchorWithStickyNavbar_x" id="s${i}">${w.k(s.title)}<a href="#s${i}" class="hash-link" aria-label="Direct link" title="Direct link">​</a></h2><div class="theme-admonition theme-admonition-tip alert alert--success"><div class="admonitionHeading_x">tip</div><div class="admonitionContent_x">${w.paragraphs(s)}</div></div><div class="language-bash codeBlockContainer_x"><div class="codeBlockContent_x"><pre tabindex="0"><code>${w.k(`larch return --order ${i}`)}</code></pre><div class="buttonGroup_x"><button type="button" aria-label="Copy code to clipboard" class="clean-btn">${w.g('Copy this code')}</button></div></div></div>`)}</div>
<footer class="theme-doc-footer docusaurus-mt-lg"><a class="theme-edit-this-page" href="https://x">${w.g(w.words.edit)}</a></footer></article>
<nav class="pagination-nav docusaurus-mt-lg" aria-label="Docs pages"><a class="pagination-nav__link" href="/n"><div class="pagination-nav__sublabel">${w.g('Next page')}</div></a></nav></div></div>
<div class="col col--3"><div class="tableOfContents_x"><ul class="table-of-contents">${w.contents()}</ul></div></div></div></div></main></div></div>
<footer class="footer footer--dark"><div class="container">${w.g(w.words.closing)}</div></footer></div></body></html>`,

  mkdocs: (
    w,
  ) => `${head(w, 'Manual')}<body dir="ltr"><div data-md-component="skip"><a href="#x" class="md-skip">${w.g('Skip to content')}</a></div><header class="md-header"><nav class="md-header__inner"><div class="md-header__title">${w.g('Larch manual')}</div></nav></header>
<div class="md-container"><main class="md-main" data-md-component="main"><div class="md-main__inner md-grid"><div class="md-sidebar md-sidebar--primary"><nav class="md-nav md-nav--primary"><ul class="md-nav__list">${w.links()}</ul></nav></div><div class="md-sidebar md-sidebar--secondary"><nav class="md-nav md-nav--secondary"><label class="md-nav__title">${w.g(w.words.toc)}</label><ul class="md-nav__list">${w.contents()}</ul></nav></div>
<div class="md-content" data-md-component="content"><article class="md-content__inner md-typeset"><a href="https://e" title="${w.words.edit}" class="md-content__button md-icon"><svg></svg></a><h1 id="t">${w.k(w.title)}<a class="headerlink" href="#t" title="Permanent link">&para;</a></h1>${w.paragraphs(w.sections[0])}
${w.each((s, i) => `<h2 id="s${i}">${w.k(s.title)}<a class="headerlink" href="#s${i}">&para;</a></h2><div class="tabbed-set"><div class="tabbed-labels"><label>${w.k(`Variant ${i + 1}`)}</label></div><div class="tabbed-content"><div class="tabbed-block">${w.paragraphs(s)}</div></div></div>`)}
<aside class="md-source-file"><span class="md-source-file__fact">${w.g('Last update: May 2024')}</span></aside></article></div></div></main><footer class="md-footer"><nav class="md-footer__inner" aria-label="Footer"><a href="/n" class="md-footer__link">${w.g('Next chapter')}</a></nav><div class="md-copyright">${w.g(w.words.closing)}</div></footer></div></body></html>`,

  sphinx: (
    w,
  ) => `${head(w, 'documentation')}<body class="wy-body-for-nav"><div class="wy-grid-for-nav"><nav data-toggle="wy-nav-shift" class="wy-nav-side"><div class="wy-side-scroll"><div class="wy-menu wy-menu-vertical"><ul>${w.links()}</ul></div></div></nav>
<section data-toggle="wy-nav-shift" class="wy-nav-content-wrap"><nav class="wy-nav-top"><a href="i">${w.g('Larch docs')}</a></nav><div class="wy-nav-content"><div class="rst-content"><div role="navigation" aria-label="Page navigation"><ul class="wy-breadcrumbs"><li class="wy-breadcrumbs-aside"><a href="_s">${w.g('View page source')}</a></li></ul><hr/></div>
<div role="main" class="document" itemscope><div itemprop="articleBody"><section id="returns"><h1>${w.k(w.title)}<a class="headerlink" href="#returns" title="Link to this heading">¶</a></h1>${w.paragraphs(w.sections[0])}<div class="contents local topic" id="contents"><p class="topic-title">${w.g(w.words.toc)}</p><ul class="simple">${w.contents()}</ul></div>
${w.each((s, i) => `<section id="s${i}"><h2>${w.k(s.title)}<a class="headerlink" href="#s${i}">¶</a></h2><div class="admonition note"><p class="admonition-title">Note</p>${w.paragraphs(s)}</div><dl class="simple"><dt>${w.k(`--days-${i}`)}</dt><dd><p>${w.k(`The number of days, ${i + 10} at most.`)}</p></dd></dl></section>`)}</section></div></div>
<footer><div class="rst-footer-buttons" role="navigation"><a href="n" class="btn">${w.g('Next chapter')}</a></div><hr/><div role="contentinfo"><p>${w.g(w.words.closing)}</p></div></footer></div></div></section></div></body></html>`,

  'sphinx classic': (
    w,
  ) => `${head(w, 'documentation')}<body><div class="related" role="navigation"><h3>Navigation</h3><ul><li class="right"><a href="g">${w.g('general index')}</a></li></ul></div><div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main"><section id="q"><h1>${w.k(w.title)}<a class="headerlink" href="#q">¶</a></h1>${w.paragraphs(w.sections[0])}
<table class="docutils align-default"><thead><tr><th class="head"><p>${w.k('Option')}</p></th><th class="head"><p>${w.k('Meaning')}</p></th></tr></thead><tbody>${w.each((s) => `<tr><td><p>${w.k(s.title)}</p></td><td><p>${s.sentences.map(w.k).join(' ')}</p></td></tr>`)}</tbody></table></section><div class="clearer"></div></div></div></div>
<div class="sphinxsidebar" role="navigation"><div class="sphinxsidebarwrapper"><h3><a href="i">${w.g(w.words.toc)}</a></h3><ul>${w.contents()}</ul><h4>${w.g('Previous topic')}</h4></div></div></div><div class="footer" role="contentinfo">${w.g(w.words.closing)}</div></body></html>`,

  wordpress: (
    w,
  ) => `${head(w, 'Larch')}<body class="page-template-default page wp-embed-responsive"><a class="skip-link screen-reader-text" href="#p">${w.g('Skip to the content')}</a><div class="wp-site-blocks"><header class="wp-block-template-part"><div class="wp-block-group"><p class="wp-block-site-title"><a href="/">${w.g('Larch and Loam')}</a></p><nav class="wp-block-navigation"><ul>${w.menu()}</ul></nav></div></header>
<main class="wp-block-group" id="p"><h1 class="wp-block-post-title">${w.k(w.title)}</h1><div class="entry-content wp-block-post-content">${w.paragraphs(w.sections[0])}
${w.each((s, i) => (i % 3 === 2 ? `<div class="schema-faq wp-block-yoast-faq-block"><div class="schema-faq-section" id="faq-${i}"><strong class="schema-faq-question">${w.k(s.title)}</strong> <p class="schema-faq-answer">${s.sentences.map(w.k).join(' ')}</p></div></div>` : i % 3 === 1 ? `<details class="wp-block-details"><summary>${w.k(s.title)}</summary>${w.paragraphs(s)}</details>` : `<h2 class="wp-block-heading">${w.k(s.title)}</h2>${w.paragraphs(s)}`))}</div>
<div class="sharedaddy sd-sharing-enabled"><h3 class="sd-title">${w.g('Share this with your friends')}</h3><ul><li><a href="t">${w.g('Click to share')}</a></li></ul></div><div id="jp-relatedposts" class="jp-relatedposts"><h3>${w.words.related}</h3>${w.links()}</div>
<div id="comments" class="comments-area"><h2>${w.g('3 thoughts on this page')}</h2><p>${w.g('Great post, thank you so much!')}</p></div></main>
<footer class="wp-block-template-part"><p>${w.g(w.words.closing)}</p></footer></div><div id="cookie-notice" class="cookie-notice-hidden" role="dialog"><span>${w.g(w.words.cookie)}</span><a href="#">${w.g(w.words.accept)}</a></div></body></html>`,

  'faq plugin': (
    w,
  ) => `${head(w, 'FAQ')}<body><div id="page" class="site"><header id="masthead" class="site-header"><nav id="site-navigation" class="main-navigation"><ul>${w.menu()}</ul></nav></header><div id="content" class="site-content"><div id="primary"><article class="page"><header class="entry-header"><h1 class="entry-title">${w.k(w.title)}</h1></header><div class="entry-content">${w.paragraphs(w.sections[0])}
<div class="ewd-ufaq-faqs">${w.each((s, i) => `<div class="accordion-item"><h3 class="accordion-header"><button class="accordion-button collapsed" type="button" aria-expanded="false" aria-controls="a${i}">${w.k(s.title)}</button></h3><div id="a${i}" class="accordion-panel" hidden aria-hidden="true"><div class="accordion-body">${w.paragraphs(s)}</div></div></div>`)}</div></div><footer class="entry-footer"><span class="tags-links">${w.g('Tagged: shop, faq')}</span></footer></article></div>
<aside id="secondary" class="widget-area"><section class="widget widget_recent_entries"><h2>${w.g('Latest news')}</h2><ul>${w.links()}</ul></section></aside></div><footer id="colophon" class="site-footer"><div class="site-info">${w.g(w.words.closing)}</div></footer></div></body></html>`,

  shopify: (
    w,
  ) => `${head(w, 'Larch')}<body class="gradient"><a class="skip-to-content-link button visually-hidden" href="#MainContent">${w.g('Skip to content')}</a><div class="announcement-bar" role="region" aria-label="Announcement"><p class="announcement-bar__message">${w.g('Free gift with every tent this week')}</p></div><header class="header"><nav class="header__inline-menu"><ul>${w.menu()}</ul></nav><cart-notification><div class="cart-notification">${w.g('Item added to your cart')}</div></cart-notification></header>
<main id="MainContent" class="content-for-layout focus-none" role="main"><section class="shopify-section section"><div class="page-width"><h1 class="main-page-title page-title h0">${w.k(w.title)}</h1><div class="rte">${w.paragraphs(w.sections[0])}</div></div></section>
<section class="shopify-section"><div class="collapsible-content"><h2 class="collapsible-content__heading">${w.k('Larch FAQ')}</h2>${w.each((s) => `<div class="accordion"><details><summary><svg class="icon"></svg><h3 class="accordion__title h4">${w.k(s.title)}</h3></summary><div class="accordion__content rte">${w.paragraphs(s)}</div></details></div>`)}</div></section></main>
<footer class="footer"><div class="footer__newsletter"><h2>${w.g('Subscribe to our emails')}</h2></div><small class="copyright__content">${w.g(w.words.closing)}</small></footer></body></html>`,

  confluence: (
    w,
  ) => `${head(w, 'Confluence')}<body id="com-atlassian-confluence" class="theme-default"><div id="header-precursor"></div><header id="header" role="banner"><nav class="aui-header" role="navigation"><ul class="aui-nav">${w.menu()}</ul></nav></header><div class="ia-splitter"><div class="ia-fixed-sidebar" role="complementary"><div class="acs-side-bar"><ul>${w.links()}</ul></div></div>
<div id="main" class="aui-page-panel"><div id="main-header"><div id="navigation" class="content-navigation"><ul class="ajs-menu-bar"><li><a id="editPageLink" href="e">${w.g(w.words.edit)}</a></li></ul></div><h1 id="title-text" class="with-breadcrumbs"><a href="p">${w.k(w.title)}</a></h1></div><div id="content" class="page view"><div class="page-metadata"><ul><li class="page-metadata-modification-info">${w.g('Created by Robin Larch, last modified on May 03')}</li></ul></div>
<div id="main-content" class="wiki-content"><div class="toc-macro client-side-toc-macro"><ul>${w.contents()}</ul></div>${w.paragraphs(w.sections[0])}${w.each((s, i) => `<h2 id="id-${i}">${w.k(s.title)}</h2><div class="confluence-information-macro confluence-information-macro-information"><span class="aui-icon"></span><div class="confluence-information-macro-body">${w.paragraphs(s)}</div></div><div class="table-wrap"><table class="confluenceTable"><tbody><tr><th class="confluenceTh">${w.k(`Days ${i}`)}</th><td class="confluenceTd">${w.k(`${i + 3} in total`)}</td></tr></tbody></table></div>`)}</div>
<div id="likes-and-labels-container"><div id="likes-section" class="no-print"><span>${w.g('Be the first to like this')}</span></div><div class="labels-section-content"><span>${w.g('No labels added')}</span></div></div><div id="comments-section" class="comments-section"><h2>${w.g('1 Comment by a colleague')}</h2></div></div></div><div id="footer" role="contentinfo"><p>${w.g(w.words.closing)}</p></div></div></body></html>`,

  nineties: (
    w,
  ) => `<HTML><HEAD><TITLE>${escaped(w.title)}</TITLE></HEAD><BODY BGCOLOR="#FFFFFF"><TABLE WIDTH=780 BORDER=0 CELLPADDING=4><TR><TD COLSPAN=2 BGCOLOR="#003366"><FONT COLOR=white SIZE=2>${w.words.menu.map((m) => `<A HREF="/${m.length}.htm">${w.g(m)}</A>`).join(' | ')}</FONT></TD></TR>
<TR><TD WIDTH=150 VALIGN=top BGCOLOR="#CCCCCC"><FONT SIZE=2>${w.others.map(({ title }) => `<A HREF="x.htm">${w.g(title)}</A><BR>`).join('')}</FONT></TD><TD VALIGN=top><H1>${w.k(w.title)}</H1>${(w.sections[0]?.sentences ?? []).map((s) => `<P>${w.k(s)}`).join('')}
${w.each((s, i) => `<A NAME="s${i}"></A><H3>${w.k(s.title)}</H3>${s.sentences.map((one) => `<P>${w.k(one)}`).join('')}`)}
<TABLE BORDER=1><TR><TH>${w.k('Weight')}</TH><TH>${w.k('Postage')}</TH></TR><TR><TD>${w.k('up to 2 kg')}</TD><TD>${w.k('4.90 flat')}</TD></TR></TABLE></TD></TR>
<TR><TD COLSPAN=2><HR><CENTER><FONT SIZE=1>${w.g(w.words.closing)}<BR><A HREF="mailto:w@example.com">${w.g('Webmaster')}</A></FONT></CENTER></TD></TR></TABLE></BODY></HTML>`,

  freshdesk: (
    w,
  ) => `${head(w, 'Support')}<body><header class="banner"><div class="banner-wrapper"><h1 class="ellipsis heading">${w.g('Larch support portal')}</h1><nav class="banner-nav"><div class="welcome">${w.g('Welcome, log in')}</div></nav></div></header><nav class="page-tabs"><ul>${w.menu()}</ul></nav><section class="help-center-sc rounded-6"><div class="hc-search"><form class="hc-search-form"><input placeholder="Enter your search term here..."></form></div></section>
<div class="page"><section class="main content rounded-6 min-height-on-desktop fc-article-show" id="article-show-1"><div class="breadcrumb"><a href="s">${w.g('Solution home')}</a></div><b class="page-stamp page-stamp-article"></b><h2 class="heading">${w.k(w.title)} <a href="#" class="solution-print--icon print--remove" title="Print this Article"></a></h2><p>${w.g('Modified on: Fri, 3 May, 2024 at 9:00 AM')}</p><hr><article class="article-body" id="article-body" rel="image-enlarge">${w.paragraphs(w.sections[0])}${w.each((s) => `<p><strong>${w.k(s.title)}</strong></p><ol>${s.sentences.map((one) => `<li>${w.k(one)}</li>`).join('')}</ol>`)}</article><hr><div class="article-vote"><p class="helpful article-vote">${w.g(w.words.helpful)} <span class="vote-up"><a href="y">${w.g('Yes it did')}</a></span></p></div></section>
<section class="sidebar content rounded-6 fc-related-articles"><div id="related_articles"><h3 class="heading">${w.g(w.words.related)}</h3><ul class="article-list">${w.links()}</ul></div></section></div><footer class="footer rounded-6"><nav class="footer-links"><a href="/">${w.g(w.words.closing)}</a></nav></footer></body></html>`,

  helpscout: (
    w,
  ) => `${head(w, 'Knowledge Base')}<body><header id="mainNav" class="navbar"><div class="navbar-inner"><ul class="nav">${w.menu()}</ul></div></header><section id="contentArea" class="container-fluid"><div class="row-fluid"><section id="main-content" class="span9"><div class="contentWrapper"><article id="fullArticle"><h1 class="title">${w.k(w.title)}</h1><a href="javascript:window.print()" class="printArticle" title="Print this article"><i class="icon-print"></i></a>${w.paragraphs(w.sections[0])}${w.each((s, i) => `<h4 id="s${i}">${w.k(s.title)}</h4><div class="callout-yellow">${w.paragraphs(s)}</div>`)}</article><section class="articleRatings"><span>${w.g(w.words.helpful)}</span><button class="rateAction">${w.g('It was good')}</button></section>
<section class="related"><h3>${w.g(w.words.related)}</h3><ul>${w.links()}</ul></section></div></section><aside id="sidebar" class="span3"><form id="searchBar"><button>${w.g('Search now')}</button></form><ul class="nav nav-list">${w.contents()}</ul></aside></div></section><footer>${w.g(w.words.closing)}</footer></body></html>`,

  gitbook: (w) =>
    `${head(w, 'GitBook')}<body><div class="flex"><header id="site-header">${w.g('Larch handbook')}<button>${w.g('Ask or search')}</button></header><aside data-testid="table-of-contents"><ul>${w.links()}</ul></aside><div class="grow"><main class="relative flex-1"><header class="page-header"><nav><ol>${w.menu()}</ol></nav><h1>${w.k(w.title)}</h1><p>${w.k(w.sections[0]?.sentences[0] ?? '')}</p></header>${(
      w.sections[0]?.sentences ?? []
    )
      .slice(1)
      .map((s) => `<p>${w.k(s)}</p>`)
      .join(
        '',
      )}${w.each((s, i) => `<h2 id="s${i}"><div class="hash"><a href="#s${i}" aria-label="Direct link to heading">#</a></div><div class="flex-1">${w.k(s.title)}</div></h2><div class="hint"><div>${w.paragraphs(s)}</div></div>`)}<div class="pagination flex"><a href="n"><span>${w.g('Next')} </span></a></div><p class="last-updated">${w.g('Last updated 2 months ago')}</p></main></div><aside class="page-outline"><div>${w.g(w.words.toc)}</div><ul>${w.contents()}</ul></aside></div><div role="dialog" class="cookies-dialog">${w.g(w.words.cookie)}<button>${w.g(w.words.accept)}</button></div></body></html>`,

  bootstrap: (
    w,
  ) => `${head(w, 'FAQ')}<body><nav class="navbar navbar-expand-lg"><div class="container"><ul class="navbar-nav">${w.menu()}</ul></div></nav><div class="container my-5"><h1>${w.k(w.title)}</h1>${w.paragraphs(w.sections[0])}<div class="accordion" id="faq">${w.each((s, i) => `<div class="card"><div class="card-header" id="head${i}"><button class="btn btn-link btn-block text-left" type="button" data-toggle="collapse" data-target="#c${i}">${w.k(s.title)}</button></div><div id="c${i}" class="collapse" aria-labelledby="head${i}" data-parent="#faq"><div class="card-body">${s.sentences.map(w.k).join(' ')} <a href="/more">${w.k(`More ${i}`)}</a></div></div></div>`)}</div></div>
<div class="modal fade" id="login" tabindex="-1" role="dialog" aria-hidden="true"><div class="modal-dialog"><h5>${w.g('Sign in to your account')}</h5><form><input type="email"><button>${w.g('Sign in now')}</button></form></div></div><footer class="bg-dark"><div class="container"><p class="m-0">${w.g(w.words.closing)}</p></div></footer><div class="cookie-banner fixed-bottom">${w.g(w.words.cookie)} <button class="btn">${w.g(w.words.accept)}</button></div></body></html>`,

  tabs: (w) =>
    `${head(w, 'Help')}<body><div id="wrapper"><div id="header"><div id="logo">${w.g('Larch shop')}</div><ul id="nav">${w.menu()}</ul></div><div id="content"><h1>${w.k(w.title)}</h1>${w.paragraphs(w.sections[0])}<div id="tabs" class="ui-tabs"><ul role="tablist" class="ui-tabs-nav">${w.each((s, i) => `<li role="tab" aria-controls="tab-${i}"><a href="#tab-${i}">${escaped(s.title)}</a></li>`)}</ul>${w.each((s, i) => `<div id="tab-${i}" role="tabpanel" class="ui-tabs-panel" ${i > 0 ? 'aria-hidden="true" style="display: none;"' : ''}><h3>${w.k(s.title)}</h3>${w.paragraphs(s)}</div>`)}</div></div><div id="sidebar"><h3>${w.g('Bestsellers of the month')}</h3><ul>${w.links()}</ul></div><div id="footer"><p>${w.g(w.words.closing)}</p></div></div></body></html>`,

  definitions: (w) =>
    `${head(w, 'FAQ')}<body><div class="page"><div class="top"><a href="/">${w.g(w.words.menu[0])}</a> · <a href="/b">${w.g(w.words.menu[1])}</a> · <a href="/c">${w.g(w.words.menu[2])}</a></div><h1>${w.k(w.title)}</h1>${w.paragraphs(w.sections[0])}<ul class="index">${w.contents()}</ul><dl>${w.each((s, i) => `<dt id="s${i}">${w.k(`${s.title}?`)}</dt><dd>${s.sentences.map(w.k).join(' ')} <a href="/d">${w.k(`Details ${i}`)}</a></dd>`)}</dl><p><small>${w.g(w.words.closing)}</small></p></div></body></html>`,

  mediawiki: (w) =>
    `${head(w, 'Wiki')}<body class="mediawiki ltr"><div id="mw-page-base"></div><div id="content" class="mw-body" role="main"><h1 id="firstHeading" class="firstHeading">${w.k(w.title)}</h1><div id="bodyContent"><div id="siteSub">${w.g('From Larch Wiki')}</div><a class="mw-jump-link" href="#n">${w.g('Jump to navigation')}</a><div id="mw-content-text" class="mw-content-ltr"><div class="mw-parser-output">${w.paragraphs(w.sections[0])}<div id="toc" class="toc" role="navigation"><div class="toctitle"><h2>${w.g(w.words.toc)}</h2></div><ul>${w.contents()}</ul></div>${w.each((s, i) => `<h2><span class="mw-headline" id="s${i}">${w.k(s.title)}</span><span class="mw-editsection"><span class="mw-editsection-bracket">[</span><a href="e">${w.g(w.words.edit)}</a>]</span></h2>${w.paragraphs(s)}`)}<table class="wikitable"><tbody><tr><th>${w.k('Country code')}</th><th>${w.k('Days needed')}</th></tr><tr><td>${w.k('NO, SE, DK')}</td><td>${w.k('two or three')}</td></tr></tbody></table></div></div><div class="printfooter">${w.g('Retrieved from the wiki')}</div><div id="catlinks" class="catlinks">${w.g('Categories: Shop help')}</div></div></div><div id="mw-navigation"><div id="mw-panel"><nav class="vector-menu"><ul>${w.links()}</ul></nav></div></div><footer id="footer" role="contentinfo"><ul><li>${w.g(w.words.closing)}</li></ul></footer></body></html>`,

  divs: (w) =>
    `${head(w, 'Larch')}<body><div id="SITE_CONTAINER"><div id="SITE_HEADER"><div class="x1"><div class="x2">${w.words.menu.map((m) => `<div class="x3"><a href="/q">${w.g(m)}</a></div>`).join('')}</div></div></div><div id="PAGES_CONTAINER"><div class="x4"><div class="x5"><h1 class="font_0">${w.k(w.title)}</h1></div><div class="x5">${(w.sections[0]?.sentences ?? []).map((s) => `<p class="font_8">${w.k(s)}</p>`).join('')}</div>${w.each((s) => `<div class="x6"><div class="x7" role="button" aria-expanded="false"><span>${w.k(s.title)}</span></div><div class="x8" aria-hidden="true"><div>${w.paragraphs(s)}</div></div></div>`)}</div></div><div id="SITE_FOOTER"><div class="x9"><p>${w.g(w.words.closing)}</p></div></div></div></body></html>`,

  docbook: (w) =>
    `<html><head><meta http-equiv="Content-Type" content="text/html; charset=UTF-8"><title>${escaped(w.title)}</title></head><body><div class="navheader"><table width="100%" summary="Navigation header"><tr><th colspan="3" align="center">${w.g('Chapter of the manual')}</th></tr><tr><td width="20%" align="left"><a accesskey="p" href="p">${w.g(w.words.menu[0])}</a></td><td width="20%" align="right"><a accesskey="n" href="n">${w.g(w.words.menu[1])}</a></td></tr></table><hr></div><div class="chapter"><div class="titlepage"><div><div><h1 class="title"><a name="ret"></a>${w.k(w.title)}</h1></div></div></div><div class="toc"><p><b>${w.g(w.words.toc)}</b></p><dl class="toc">${w.sections
      .slice(1)
      .map(({ title }) => `<dt><span class="section"><a href="#z">${escaped(title)}</a></span></dt>`)
      .join(
        '',
      )}</dl></div>${w.paragraphs(w.sections[0])}${w.each((s, i) => `<div class="section"><div class="titlepage"><div><div><h2 class="title" style="clear: both"><a name="s${i}"></a>${w.k(s.title)}</h2></div></div></div>${w.paragraphs(s)}<div class="variablelist"><dl class="variablelist"><dt><span class="term">${w.k(`Term ${i}`)}</span></dt><dd><p>${w.k(`What term ${i} means here.`)}</p></dd></dl></div></div>`)}</div><div class="navfooter"><hr><table width="100%"><tr><td><a href="p">${w.g('Go back')}</a></td><td><a href="n">${w.g('Go on')}</a></td></tr></table></div></body></html>`,

  elementor: (w) =>
    `${head(w, 'Larch')}<body><header data-elementor-type="header" class="elementor elementor-location-header"><nav class="elementor-nav-menu--main"><ul>${w.menu()}</ul></nav></header><div data-elementor-type="wp-page" class="elementor"><section class="elementor-section"><h1 class="elementor-heading-title">${w.k(w.title)}</h1><div class="elementor-widget-text-editor">${w.paragraphs(w.sections[0])}</div></section><div class="elementor-toggle">${w.each((s, i) => `<div class="elementor-toggle-item"><div id="t${i}" class="elementor-tab-title" role="button" aria-controls="p${i}" aria-expanded="false"><a class="elementor-toggle-title" tabindex="0">${w.k(s.title)}</a></div><div id="p${i}" class="elementor-tab-content elementor-clearfix" role="region" aria-labelledby="t${i}" hidden="hidden">${w.paragraphs(s)}</div></div>`)}</div></div><footer data-elementor-type="footer" class="elementor elementor-location-footer"><p>${w.g(w.words.closing)}</p><a href="/i">${w.g('Imprint and terms')}</a></footer><div class="elementor-popup-modal" role="dialog">${w.g(w.words.cookie)}</div></body></html>`,

  'handmade faq': (w) =>
    `<html lang="${w.language}"><head><title>${escaped(w.title)}</title></head><body><center><b>${w.g('LARCH SHOP ONLINE')}</b><br>${w.words.menu.map((m) => `[<a href="a">${w.g(m)}</a>]`).join(' ')}</center><hr><h1>${w.k(w.title)}</h1>${w.paragraphs(w.sections[0])}${w.each((s) => `<p><b>${w.k(s.title)}</b><br>${s.sentences.map(w.k).join(' ')} <a href="/form">${w.k('Form')}</a></p>`)}<hr><center><font size="-1">${w.g(w.words.closing)}</font></center></body></html>`,
};

const words: Readonly<Record<string, Words>> = {
  en: {
    menu: ['Shop the range', 'About us', 'Log in here'],
    cookie: 'We use cookies to make this site better for you.',
    accept: 'Accept all',
    related: 'Related articles',
    helpful: 'Was this article helpful?',
    toc: 'On this page',
    closing: '© 2024 Larch and Loam. All rights reserved.',
    edit: 'Edit this page',
  },
  de: {
    menu: ['Zum Sortiment', 'Über uns', 'Hier einloggen'],
    cookie: 'Wir verwenden Cookies, um diese Seite zu verbessern.',
    accept: 'Alle akzeptieren',
    related: 'Verwandte Artikel',
    helpful: 'War dieser Artikel hilfreich?',
    toc: 'Auf dieser Seite',
    closing: '© 2024 Lärche und Lehm. Alle Rechte vorbehalten.',
    edit: 'Seite bearbeiten',
  },
  fr: {
    menu: ['Voir la gamme', 'Qui sommes-nous', 'Se connecter ici'],
    cookie: 'Nous utilisons des cookies pour améliorer ce site.',
    accept: 'Tout accepter',
    related: 'Articles associés',
    helpful: 'Cet article vous a-t-il été utile ?',
    toc: 'Sur cette page',
    closing: '© 2024 Mélèze et Terre. Tous droits réservés.',
    edit: 'Modifier cette page',
  },
  es: {
    menu: ['Ver la gama', 'Quiénes somos', 'Entrar aquí'],
    cookie: 'Usamos cookies para mejorar este sitio.',
    accept: 'Aceptar todo',
    related: 'Artículos relacionados',
    helpful: '¿Fue útil este artículo?',
    toc: 'En esta página',
    closing: '© 2024 Alerce y Tierra. Todos los derechos reservados.',
    edit: 'Editar esta página',
  },
  it: {
    menu: ['Vedi la gamma', 'Chi siamo', 'Accedi da qui'],
    cookie: 'Usiamo i cookie per migliorare questo sito.',
    accept: 'Accetta tutto',
    related: 'Articoli correlati',
    helpful: 'Questo articolo ti è stato utile?',
    toc: 'In questa pagina',
    closing: '© 2024 Larice e Terra. Tutti i diritti riservati.',
    edit: 'Modifica questa pagina',
  },
  pt: {
    menu: ['Ver a gama', 'Quem somos', 'Entrar por aqui'],
    cookie: 'Usamos cookies para melhorar este site.',
    accept: 'Aceitar tudo',
    related: 'Artigos relacionados',
    helpful: 'Este artigo foi útil?',
    toc: 'Nesta página',
    closing: '© 2024 Lariço e Terra. Todos os direitos reservados.',
    edit: 'Editar esta página',
  },
  ru: {
    menu: ['Весь каталог', 'О нашей фирме', 'Войти здесь'],
    cookie: 'Мы используем файлы cookie, чтобы улучшить сайт.',
    accept: 'Принять все',
    related: 'Похожие статьи',
    helpful: 'Была ли статья полезна?',
    toc: 'На этой странице',
    closing: '© 2024 Лиственница и глина. Все права защищены.',
    edit: 'Править страницу',
  },
  ja: {
    menu: ['商品一覧を見る', '会社案内', 'こちらからログイン'],
    cookie: '当サイトではクッキーを使用しています。',
    accept: 'すべて同意',
    related: '関連記事',
    helpful: 'この記事は役に立ちましたか？',
    toc: 'このページの内容',
    closing: '© 2024 唐松と土 無断転載を禁じます',
    edit: 'このページを編集',
  },
  zh: {
    menu: ['全部商品一览', '关于我们', '由此登录网站'],
    cookie: '本网站使用Cookie以改进服务。',
    accept: '全部接受',
    related: '相关文章',
    helpful: '这篇文章有帮助吗？',
    toc: '本页内容',
    closing: '© 2024 落叶松与土 版权所有',
    edit: '编辑此页',
  },
  ko: {
    menu: ['모든 상품 보기', '회사 소개', '여기서 로그인'],
    cookie: '이 사이트는 쿠키를 사용합니다.',
    accept: '모두 동의',
    related: '관련 문서',
    helpful: '도움이 되었습니까?',
    toc: '이 페이지에서',
    closing: '© 2024 낙엽송과 흙. 모든 권리 보유.',
    edit: '이 페이지 편집',
  },
  ar: {
    menu: ['كل المعروضات', 'من نحن', 'الدخول من هنا'],
    cookie: 'نستعمل ملفات تعريف الارتباط لتحسين الموقع.',
    accept: 'قبول الكل',
    related: 'مقالات ذات صلة',
    helpful: 'هل كانت هذه المقالة مفيدة؟',
    toc: 'في هذه الصفحة',
    closing: '© 2024 الأرز والتراب. جميع الحقوق محفوظة.',
    edit: 'تحرير هذه الصفحة',
  },
  hi: {
    menu: ['सारा सामान देखें', 'हमारे बारे में', 'यहाँ लॉग इन करें'],
    cookie: 'हम इस साइट को बेहतर बनाने के लिए कुकी का उपयोग करते हैं।',
    accept: 'सब स्वीकार करें',
    related: 'संबंधित लेख',
    helpful: 'क्या यह लेख सहायक था?',
    toc: 'इस पृष्ठ पर',
    closing: '© 2024 लार्च और मिट्टी। सर्वाधिकार सुरक्षित।',
    edit: 'यह पृष्ठ संपादित करें',
  },
};

const languages = Object.keys(words);
const sectionsPerPage = 4;
const languagesPerMake = 3;

/** The texts of a shop's help in a language, without their questions. */
export function shopSections(language: string): Section[] {
  return readFileSync(join(import.meta.dirname, '..', 'fixtures', 'shops', `${language}.md`), 'utf8')
    .split(/^# /m)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [title = '', ...lines] = part.trim().split('\n');
      const text = lines.filter((line) => !/^[?!]/.test(line)).join(' ');
      return {
        title,
        sentences:
          text
            .match(/.+?(?:[.!?。！？।](?:\s|$)|[。！？।]|$)/gu)
            ?.map((one) => one.trim())
            .filter((one) => one !== '') ?? [],
      };
    });
}

/** Each make in three languages, with other texts each time. */
export function pageCorpus(): CorpusPage[] {
  return Object.entries(makes).flatMap(([make, write], makeIndex) =>
    Array.from({ length: languagesPerMake }, (_, turn) => {
      const language = languages[(makeIndex * languagesPerMake + turn) % languages.length] ?? 'en';
      const all = shopSections(language);
      const from = makeIndex % Math.max(1, all.length - sectionsPerPage - 1);
      const others = all.filter((_, index) => index < from || index >= from + sectionsPerPage).slice(-2);
      const writer = new Writer(language, all.slice(from, from + sectionsPerPage), others);
      const html = write(writer);
      return { name: `${make} ${language}`, html, keep: writer.keep, go: writer.go };
    }),
  );
}

export interface Kept {
  /** Characters of content, and how many of them are in the text. */
  readonly content: number;
  readonly kept: number;
  /** Characters around the content, and how many of them are in the text. */
  readonly around: number;
  readonly taken: number;
  readonly lost: readonly string[];
  readonly wrong: readonly string[];
}

/** Which pieces of a page are in an extracted text, whatever its markup. */
export function keptOf(page: CorpusPage, text: string): Kept {
  const found = plain(text);
  const has = (piece: string): boolean => found.includes(plain(piece));
  const lost = page.keep.filter((piece) => !has(piece));
  const wrong = page.go.filter((piece) => has(piece) && !page.keep.some((kept) => plain(kept).includes(plain(piece))));
  const length = (pieces: readonly string[]): number => pieces.reduce((sum, piece) => sum + plain(piece).length, 0);
  return {
    content: length(page.keep),
    kept: length(page.keep) - length(lost),
    around: length(page.go),
    taken: length(wrong),
    lost,
    wrong,
  };
}

function plain(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]+/gu, '').toLowerCase();
}
