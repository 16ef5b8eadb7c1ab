// The styles of the help centre in the panel, beside the widget's own.

export const articleStyles = `
.help { flex: none; max-height: 40%; overflow-y: auto; padding: 6px 12px; border-top: 1px solid var(--line); text-align: center; }
.help .state { margin: 2px 8px; text-align: start; }
.help .chat { padding: 6px 8px; }
.help .quiet { margin: 3px 0; }
/* Not below earlier chats, nor for who may not write. */
.panel:has(> .scroll ~ .scroll:not([hidden])) > .help, .panel:has(> .composer[hidden]):not(:has(> .away)) > .help { display: none; }
.panel:has(> .help-view:not([hidden])) > :not(.head, .help-view) { display: none; }
.help-view { flex: 1; min-height: 0; display: flex; flex-direction: column; }
.help-view > .quiet { align-self: flex-start; margin: 10px 12px 0; }
.help-view .scroll > :first-child { margin-top: 0; }
.help-view .state { margin: 8px 2px; }
.help-view .chat small { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; overflow: hidden; }
.help-view .field { font-size: 16px; }
.article { overflow-wrap: anywhere; }
.article h2 { margin: 0 0 10px; font-size: 20px; line-height: 1.25; }
.article h3, .article h4, .article h5, .article h6 { margin: 16px 0 6px; font-size: 16px; }
.article p, .article ul, .article ol, .article pre, .article blockquote, .article .table { margin: 0 0 10px; }
.article ul, .article ol { padding-inline-start: 22px; }
.article a { color: inherit; }
.article img { max-width: 100%; height: auto; border-radius: 8px; }
.article pre, .article .table { overflow-x: auto; }
.article code { font-size: 13px; background: var(--tint); border-radius: 4px; padding: 1px 4px; }
.article blockquote { padding-inline-start: 12px; border-inline-start: 3px solid var(--line); color: var(--soft); }
.article table { border-collapse: collapse; }
.article th, .article td { padding: 4px 8px; border: 1px solid var(--line); text-align: start; }
.article .vote { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin: 16px 0 8px; padding-top: 12px; border-top: 1px solid var(--line); }
`;
