// Phrases that stand around the content of help pages in many languages: headings over lists of other pages, questions
// for feedback, closing lines. Compared in lower case, without punctuation at the end.

const surrounding = new Set(
  `
related articles|related topics|related content|related pages|related posts|related links|related questions|recently viewed articles|articles in this section|in this section|promoted articles|popular articles|more articles|more resources|other articles|you might also like|you may also like|read next|next article|previous article|on this page|in this article|in this page|page contents|table of contents|contents|quick links|share this article|share this page|share this|share|tags|categories|filed under|was this article helpful|was this page helpful|was this helpful|did this answer your question|did this page help you|is this page helpful|how can we improve this page|still need help|still have questions|have more questions? submit a request|can't find what you're looking for|need more help|need help|contact us|feedback|leave a comment|leave a reply|comments|subscribe to our newsletter|newsletter|follow us|about the author|0 comments
verwandte artikel|verwandte beiträge|ähnliche artikel|ähnliche beiträge|weitere artikel|zuletzt angesehene artikel|beiträge in diesem abschnitt|auf dieser seite|in diesem artikel|inhalt|inhaltsverzeichnis|war dieser artikel hilfreich|war dieser beitrag hilfreich|war diese seite hilfreich|wurde ihre frage beantwortet|hat das ihre frage beantwortet|noch fragen|haben sie fragen? anfrage einreichen|das könnte sie auch interessieren|das könnte dir auch gefallen|teilen|schlagwörter|kommentare|schreibe einen kommentar|folgen sie uns
articles connexes|articles associés|articles similaires|articles liés|autres articles|consultés récemment|articles dans cette section|sur cette page|dans cet article|sommaire|table des matières|cet article vous a-t-il été utile|cette page vous a-t-elle été utile|avez-vous trouvé la réponse à votre question|cela a-t-il répondu à votre question|vous avez d’autres questions? envoyer une demande|besoin d'aide|partager|commentaires|laisser un commentaire|suivez-nous
artículos relacionados|contenido relacionado|artículos vistos recientemente|artículos en esta sección|en esta página|en este artículo|contenido|índice|tabla de contenidos|¿fue útil este artículo|¿te resultó útil este artículo|¿le ha resultado útil este artículo|¿ha quedado contestada tu pregunta|¿tiene más preguntas? enviar una solicitud|¿necesitas más ayuda|compartir|comentarios|síguenos
artigos relacionados|artigos vistos recentemente|artigos nesta seção|nesta página|neste artigo|conteúdo|esse artigo foi útil|este artigo foi útil|isto respondeu à sua pergunta|ainda precisa de ajuda|compartilhar|comentários|siga-nos
articoli correlati|articoli visualizzati di recente|articoli in questa sezione|in questa pagina|in questo articolo|indice|sommario|questo articolo ti è stato utile|questo articolo è stato utile|hai ricevuto la risposta alla tua domanda|hai ancora bisogno di aiuto|condividi|commenti|seguici
gerelateerde artikelen|verwante artikelen|recent bekeken artikelen|artikelen in deze sectie|op deze pagina|in dit artikel|inhoud|inhoudsopgave|was dit artikel nuttig|was dit artikel behulpzaam|is je vraag hiermee beantwoord|was dit een antwoord op uw vraag|meer hulp nodig|delen|reacties|volg ons
powiązane artykuły|podobne artykuły|ostatnio przeglądane artykuły|artykuły w tej sekcji|na tej stronie|w tym artykule|spis treści|czy ten artykuł był pomocny|czy to rozwiązało twój problem|udostępnij|komentarze
похожие статьи|связанные статьи|статьи по теме|другие статьи|недавно просмотренные статьи|статьи в этом разделе|на этой странице|в этой статье|содержание|оглавление|эта статья была полезна|была ли эта статья полезной|была ли статья полезна|помогла ли вам эта статья|вы нашли ответ на свой вопрос|остались вопросы|поделиться|комментарии|подписывайтесь на нас
関連記事|関連ページ|関連トピック|最近表示した記事|このセクションの記事|このページの内容|この記事の内容|目次|この記事は役に立ちましたか|このページは役に立ちましたか|回答が得られましたか|お探しの答えは見つかりましたか|その他ご質問がございましたら、リクエストを送信してください|共有|シェア|コメント|フォローする
相关文章|相关内容|相关链接|最近查看的文章|此组别内的文章|本页内容|本文内容|目录|这篇文章有帮助吗|这篇文章对您有帮助吗|此页面对您有帮助吗|这是否解答了您的问题|还有其它问题? 提交请求|还有疑问|分享|评论|关注我们
相關文章|最近檢視的文章|本頁內容|目錄|這篇文章有幫助嗎|分享|評論
관련 문서|관련 글|관련 게시글|최근 조회한 문서|이 섹션의 문서|이 페이지에서|목차|도움이 되었습니까|이 문서가 도움이 되었습니까|답변이 되었나요|공유|댓글|팔로우
ilgili makaleler|ilgili yazılar|son görüntülenen makaleler|bu bölümdeki makaleler|bu sayfada|bu makalede|içindekiler|bu makale yardımcı oldu mu|bu makale faydalı oldu mu|sorunuza yanıt aldınız mı|paylaş|yorumlar|bizi takip edin
مقالات ذات صلة|مواضيع ذات صلة|المقالات التي تم عرضها مؤخرًا|المقالات في هذا القسم|في هذه الصفحة|في هذه المقالة|المحتويات|جدول المحتويات|هل كانت هذه المقالة مفيدة|هل كان هذا المقال مفيدا|هل أجاب هذا على سؤالك|شارك|مشاركة|تعليقات|تابعنا
संबंधित लेख|संबंधित विषय|इस पृष्ठ पर|विषय सूची|विषय-सूची|क्या यह लेख सहायक था|क्या यह लेख मददगार था|क्या इससे आपके सवाल का जवाब मिला|साझा करें|टिप्पणियाँ
bài viết liên quan|trên trang này|mục lục|bài viết này có hữu ích không|điều này có trả lời câu hỏi của bạn không|chia sẻ|bình luận
บทความที่เกี่ยวข้อง|ในหน้านี้|สารบัญ|บทความนี้มีประโยชน์หรือไม่|แชร์|ความคิดเห็น
relaterade artiklar|på denna sida|innehåll|var den här artikeln till hjälp|dela|kommentarer
relaterede artikler|på denne side|indhold|var denne artikel nyttig
relaterte artikler|på denne siden|innhold|var denne artikkelen nyttig
`
    .trim()
    .split(/[|\n]/)
    .map(bare),
);

/** Whether it heads something that is not the page's own content. */
export function isSurroundingHeading(text: string): boolean {
  return text.length <= 80 && surrounding.has(bare(text));
}

const stamp =
  /^(?:(?:last |article )?(?:updated|modified|edited|changed)(?: on| by|:| over| about| \d| a\b)|(?:zuletzt )?(?:aktualisiert|geändert|bearbeitet)(?: am|:| vor)|(?:dernière mise à jour|mis à jour le|modifié le)|(?:última actualización|actualizado|modificado el)|(?:última atualização|atualizado)|(?:ultimo aggiornamento|aggiornato|modificato il)|(?:laatst bijgewerkt|bijgewerkt op|gewijzigd op)|(?:ostatnia aktualizacja|zaktualizowano)|(?:последнее обновление|обновлено|изменено)|(?:最終更新|更新日|更新日時)|(?:最后更新|上次更新|更新时间|更新於|更新于)|(?:마지막 업데이트|업데이트됨|수정일)|(?:son güncelleme|güncellendi)|(?:آخر تحديث|تم التحديث)|(?:अंतिम अपडेट|अपडेट किया गया))/i;
const maxStampChars = 80;

/** A line that says when the page was changed. */
export function isStamp(text: string): boolean {
  return text.length <= maxStampChars && /\p{N}|\b(?:week|month|year|yesterday|today)/u.test(text) && stamp.test(text);
}

const closing =
  /©|&copy;|\(c\)\s*\d{4}|\bcopyright\b|all rights reserved|powered by|alle rechte vorbehalten|tous droits réservés|todos los derechos reservados|todos os direitos reservados|tutti i diritti riservati|alle rechten voorbehouden|wszelkie prawa zastrzeżone|все права защищены|無断転載|版权所有|版權所有|모든 권리 보유|tüm hakları saklıdır|جميع الحقوق محفوظة|सर्वाधिकार सुरक्षित|best viewed with|\bwebmaster\b|last (?:updated|modified|changed|edited)|zuletzt (?:aktualisiert|geändert)|dernière mise à jour|última (?:actualización|atualização)|ultimo aggiornamento|laatst (?:bijgewerkt|gewijzigd)|ostatnia aktualizacja|последнее обновление|обновлено:|最終更新|最后更新|上次更新|마지막 업데이트|son güncelleme|آخر تحديث/i;

/** A line that ends pages, such as the owner's name with a year. */
export function isClosingWord(text: string): boolean {
  return closing.test(text) || isSurroundingHeading(text);
}

function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/^[¿¡\s]+|[\s?!.:：？！…]+$/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
