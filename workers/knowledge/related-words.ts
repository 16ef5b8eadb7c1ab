// Words of customer service with nearly the same meaning, by language, one line per meaning: its name, then its words.
// The builtin embedding gives all words of a meaning a common feature, in whichever language they are, so that a
// question about a package finds the page about parcels. A phrase counts as its words together. A word may be in several
// lines. Languages without spaces, and those that join particles to words, are searched for the words as they are.

export const relatedWords: Readonly<Record<string, string>> = {
  en: `
parcel: parcel package box shipment consignment
delivery: delivery shipping ship deliver dispatch postage send post courier carrier freight
arrive: arrive arrival receive received come get here reach
track: track tracking trace follow status where
late: late delay delayed overdue slow
lost: lost missing disappeared vanished gone never arrived
stolen: stolen theft thief steal
damaged: damaged broken defective faulty cracked torn defect fault
return: return send back give back bring back
refund: refund reimburse reimbursement repay repayment money back give back cashback
exchange: exchange swap replace replacement change
cancel: cancel call off cancellation withdraw revoke stop
order: order purchase buy bought shopping
basket: basket cart bag checkout
out: out of stock sold out unavailable back in stock available availability
price: price cost fee charge how much expensive rate
free: free free of charge gratis no cost complimentary
pay: pay payment paid paying billing
card: card credit card debit card visa mastercard
declined: declined refused rejected failed fail denied go through
invoice: invoice receipt bill bills statement vat
tax: tax vat duty duties customs
discount: discount coupon voucher promo promotion code reduction rebate
gift: gift card voucher gift certificate credit
sale: sale clearance reduced discounted outlet
gift-2: gift present
instalment: instalment instalments monthly payment plan pay later rates
twice: twice double two times duplicate again
currency: currency euro euros dollar dollars pound pounds kroner
account: account profile user login
sign: sign up register create account registration join subscribe
sign-2: sign in log in login log on signin
log: log out sign out logout
password: password passphrase passcode pin
forgot: forgot forgotten remember lost reset
locked: locked blocked suspended disabled
two: two factor authenticator second factor 2fa mfa verification code backup codes
email: email mail e-mail inbox
phone: phone telephone mobile smartphone call number
address: address street location where
move: move moved moving relocate house
delete: delete remove erase close deactivate terminate
update: update change edit alter modify correct
add: add append include insert
show: show display see view
download: download export save copy
upload: upload attach attachment file
install: install setup set up configure configuration
start: start begin launch run open
stop: stop end quit shut down halt
fix: fix repair mend solve
error: error problem issue trouble bug wrong fails
work: work works working function
slow: slow slowly performance speed fast quick
connect: connect connection link integrate integration
notify: notify notification alert remind message
unsubscribe: unsubscribe newsletter marketing mailing emails letters
subscription: subscription plan membership member tier
renew: renew renewal expire expiry expires lapse valid
upgrade: upgrade downgrade switch
trial: trial demo test try
warranty: warranty guarantee covered coverage claim
privacy: privacy personal data personal information gdpr data protection
security: security secure safe safety protect
cookie: cookie cookies consent tracking
contact: contact reach talk speak support help customer service
person: person human agent representative somebody staff
complaint: complaint complain unhappy dissatisfied
open: open opening hours opening times closing closed
shop: shop store branch outlet showroom
hour: hour hours day days week weeks month time long
tomorrow: tomorrow next day overnight express
job: job jobs career careers vacancy position hire work
student: student students pupil school
company: company business organisation organization firm enterprise
team: team group people colleagues
size: size sizes sizing fit measure
colour: colour color shade
wash: wash washing clean cleaning laundry launder machine
waterproof: waterproof water repellent rain watertight repels
rent: rent rental hire lease borrow
wheelchair: wheelchair accessible accessibility disabled step steps
recycled: recycled recycle sustainable sustainability environment climate planet
points: points rewards reward loyalty bonus
refer: refer affiliate commission partner referral
wish: wish list wishlist favourites favorites save for later
maximum: maximum limit most at most cap
minimum: minimum least at least
allowed: allowed may permit permitted possible can
forbidden: forbidden not allowed prohibited banned refuse
required: required must need necessary mandatory
database: database store storage disk
server: server host machine computer
folder: folder directory path
setting: setting settings option options environment variable configuration
request: request call query
reply: reply answer response respond
visitor: visitor customer client shopper buyer
conversation: conversation chat ticket thread
plane: plane aeroplane airplane flight aircraft luggage
torch: torch lamp light headlamp
rucksack: rucksack backpack pack
mould: mould mold mildew
cooker: cooker stove burner
zip: zip zipper
shoe: shoe shoes boot boots footwear
house: house home flat apartment
kid: kid child children baby
buyer: buyer receiver recipient
throw: throw away discard retire dispose
wrong: wrong mistyped typo mistake incorrect
abroad: abroad foreign international countries overseas
country: country nation
image: image picture photo photograph
`,
  de: `
parcel: paket päckchen sendung lieferung ware
delivery: lieferung liefern geliefert versand versenden versandt zustellung zustellen schicken spedition
arrive: ankommen angekommen ankunft erhalten bekommen eintreffen
track: verfolgen sendungsverfolgung verfolgung verbleib status nachverfolgen
late: spät verspätet verspätung verzögerung überfällig
lost: verloren verschwunden verlust abhanden vermisst
damaged: beschädigt kaputt defekt schaden mangel gebrochen zerbrochen fehlerhaft
return: zurückgeben rückgabe zurücksenden rücksendung zurückschicken retoure retournieren widerruf zurück
refund: erstattung erstatten rückerstattung geld rückzahlung zurückbekommen zurückerhalten gutgeschrieben
exchange: umtausch umtauschen tauschen austausch ersetzen ersatz
cancel: stornieren storno stornierung kündigen kündigung abbestellen abbrechen widerrufen
order: bestellung bestellen bestellt kauf kaufen gekauft auftrag einkauf
price: preis kosten kostet gebühr teuer betrag versandkosten porto
free: kostenlos gratis umsonst kostenfrei versandkostenfrei
pay: zahlen bezahlen zahlung bezahlung zahlungsart zahlungsmittel bezahlt
card: karte kreditkarte ec-karte girokarte
declined: abgelehnt verweigert fehlgeschlagen scheitert zurückgewiesen
invoice: rechnung beleg quittung kassenbon
tax: steuer mehrwertsteuer zoll umsatzsteuer
discount: rabatt gutschein nachlass ermäßigung code aktionscode
gift: gutschein geschenkgutschein geschenkkarte geschenk
account: konto profil benutzer kundenkonto benutzerkonto
sign: anmelden anmeldung einloggen registrieren registrierung login
password: passwort kennwort zugangsdaten
forgot: vergessen verloren zurücksetzen
locked: gesperrt blockiert sperre deaktiviert
phone: telefon anruf anrufen handy rufnummer telefonisch
address: adresse anschrift straße lieferadresse ort
move: umziehen umgezogen umzug ziehe wohnung
delete: löschen entfernen schließen gelöscht löschung
update: ändern änderung bearbeiten aktualisieren anpassen wechseln
error: fehler problem störung klappt geht funktioniert
fix: reparieren reparatur beheben lösen
slow: langsam schnell geschwindigkeit dauert
unsubscribe: abmelden abbestellen newsletter werbung werbemails
subscription: abo abonnement mitgliedschaft vertrag tarif
renew: verlängern verlängerung ablauf abgelaufen laufzeit gültig
warranty: garantie gewährleistung reklamation
privacy: datenschutz daten personenbezogene dsgvo
contact: kontakt kontaktieren erreichen sprechen hilfe support kundendienst kundenservice
person: mensch mitarbeiter berater person
open: öffnungszeiten geöffnet öffnen offen geschlossen
shop: laden geschäft filiale shop
hour: stunde stunden tag tage woche wochen werktage monat frist lange dauer
size: größe größen passt passform zu klein zu groß
colour: farbe farben farbton
wash: waschen wäsche reinigen reinigung pflege waschmaschine
abroad: ausland international länder auslandsversand
out: ausverkauft verfügbar lieferbar vorrätig lager
points: punkte prämie treue bonus
download: herunterladen download exportieren speichern sichern
install: installieren installation einrichten einrichtung
`,
  fr: `
parcel: colis paquet envoi marchandise
delivery: livraison livrer livré expédition expédier envoyer envoi transporteur poste
arrive: arriver arrivé recevoir reçu réception parvenir
track: suivre suivi traçage où localiser
late: retard tardif tard délai retardé
lost: perdu perte disparu égaré manquant
damaged: abîmé cassé endommagé défectueux défaut brisé
return: retour retourner renvoyer rendre rétractation
refund: remboursement rembourser remboursé argent avoir
exchange: échange échanger remplacer remplacement
cancel: annuler annulation résilier résiliation rétracter
order: commande commander commandé achat acheter acheté
price: prix coût frais coûte tarif cher montant port
free: gratuit gratuitement offert
pay: payer paiement règlement régler moyens
card: carte bancaire bleue crédit
declined: refusé refus échoué échec rejeté
invoice: facture reçu justificatif
tax: taxe tva douane impôt
discount: remise réduction rabais code promo bon promotion
gift: cadeau chèque-cadeau carte-cadeau offrir
account: compte profil utilisateur espace
sign: connexion connecter inscription inscrire identifier créer
password: passe mot identifiant
forgot: oublié perdu réinitialiser
locked: bloqué verrouillé suspendu désactivé
phone: téléphone appeler appel numéro portable
address: adresse rue domicile
move: déménager déménagé déménagement
delete: supprimer effacer fermer suppression
update: modifier changer modification mettre jour
error: erreur problème panne bogue marche fonctionne
fix: réparer réparation résoudre
slow: lent rapide vitesse lenteur
unsubscribe: désabonner désinscrire newsletter publicité
subscription: abonnement formule adhésion
renew: renouveler renouvellement expirer échéance prolonger
warranty: garantie garanti conformité
privacy: confidentialité données personnelles rgpd
contact: contacter contact joindre parler aide assistance service
person: personne humain conseiller agent
open: ouverture horaires ouvert fermé
shop: magasin boutique
hour: heure heures jour jours semaine semaines mois délai temps combien
size: taille tailles pointure mesure
colour: couleur couleurs teinte
wash: laver lavage nettoyer nettoyage entretien
abroad: étranger international pays
out: rupture stock disponible épuisé
points: points fidélité bonus
download: télécharger téléchargement exporter enregistrer
install: installer installation configurer
`,
  es: `
parcel: paquete envío pedido mercancía
delivery: entrega entregar envío enviar enviado repartidor transportista correo
arrive: llegar llegado llegada recibir recibido
track: seguimiento rastrear localizar seguir dónde estado
late: tarde retraso retrasado demora
lost: perdido pérdida desaparecido extraviado
damaged: dañado roto defectuoso defecto estropeado
return: devolver devolución retornar desistimiento
refund: reembolso reembolsar dinero devolución reintegro
exchange: cambio cambiar cambiarlo sustituir reemplazo
cancel: cancelar cancelación anular baja
order: pedido pedir compra comprar comprado encargo
price: precio coste costo gastos cuesta tarifa cuánto
free: gratis gratuito
pay: pagar pago abonar métodos
card: tarjeta crédito débito
declined: rechazado rechazada denegado fallido
invoice: factura recibo comprobante
tax: impuesto iva aduana aranceles
discount: descuento cupón código promoción rebaja
gift: regalo tarjeta-regalo vale
account: cuenta perfil usuario
sign: iniciar sesión registrarse registro acceder entrar
password: contraseña clave
forgot: olvidé olvidado olvidar restablecer
locked: bloqueado bloqueada suspendido
phone: teléfono llamar llamada móvil número
address: dirección calle domicilio
move: mudar mudado mudanza mudarse
delete: eliminar borrar cerrar
update: cambiar modificar actualizar editar
error: error problema fallo funciona
fix: reparar arreglar reparación solucionar
slow: lento rápido velocidad
unsubscribe: darse baja boletín publicidad
subscription: suscripción membresía plan
renew: renovar renovación caducar vencer
warranty: garantía cobertura
privacy: privacidad datos personales
contact: contactar contacto hablar ayuda soporte atención
person: persona humano agente
open: horario abierto apertura abrir cerrado
shop: tienda local sucursal
hour: hora horas día días semana semanas mes plazo tiempo cuánto tarda
size: talla tallas tamaño medida
colour: color colores
wash: lavar lavado limpiar limpieza cuidado
abroad: extranjero internacional países
out: agotado disponible existencias stock
points: puntos fidelidad recompensa
download: descargar descarga exportar guardar
install: instalar instalación configurar
`,
  pt: `
parcel: pacote encomenda embrulho
delivery: entrega entregar envio enviar frete transportadora correio
arrive: chegar chegou chegada receber recebido
track: rastrear rastreamento acompanhar onde
late: atrasado atraso tarde demora
lost: perdido extraviado sumiu
damaged: danificado quebrado defeito estragado avariado
return: devolver devolução retornar arrependimento
refund: reembolso reembolsar dinheiro estorno
exchange: troca trocar substituir
cancel: cancelar cancelamento desistir
order: pedido compra comprar comprei encomendar
price: preço custo custa taxa valor quanto
free: grátis gratuito
pay: pagar pagamento formas boleto
card: cartão crédito débito
declined: recusado negado falhou
invoice: fatura nota recibo fiscal
tax: imposto alfândega iva
discount: desconto cupom código promoção
gift: presente vale cartão-presente
account: conta perfil usuário utilizador
sign: entrar login cadastro registrar
password: senha palavra-passe
forgot: esqueci esquecer esquecido redefinir
locked: bloqueado bloqueada suspensa
phone: telefone ligar telemóvel celular
address: endereço morada rua
move: mudar mudei mudança
delete: excluir apagar eliminar encerrar
update: alterar mudar atualizar editar
error: erro problema falha funciona
fix: consertar reparar reparo
subscription: assinatura plano mensalidade
warranty: garantia
privacy: privacidade dados pessoais
contact: contato contacto falar ajuda suporte atendimento
open: horário aberto funcionamento
shop: loja
hour: hora horas dia dias semana semanas mês prazo tempo demora
size: tamanho tamanhos medida
wash: lavar lavagem limpar
abroad: exterior estrangeiro internacional países
out: esgotado disponível estoque
`,
  it: `
parcel: pacco spedizione collo
delivery: consegna consegnare spedizione spedire corriere
arrive: arrivare arrivato arrivo ricevere ricevuto
track: tracciare tracciamento seguire dove
late: ritardo tardi
lost: perso smarrito scomparso
damaged: danneggiato rotto difettoso difetto
return: reso restituire restituzione rendere recesso
refund: rimborso rimborsare soldi denaro
exchange: cambio cambiare sostituire sostituzione
cancel: annullare annullamento disdire disdetta
order: ordine ordinare acquisto comprare acquistato
price: prezzo costo costa spese tariffa quanto
free: gratis gratuito
pay: pagare pagamento metodi
card: carta credito
declined: rifiutato rifiutata fallito
invoice: fattura ricevuta scontrino
tax: tassa iva dogana
discount: sconto coupon codice buono
account: account profilo utente
password: password parola
forgot: dimenticato dimenticata reimpostare
locked: bloccato sospeso
phone: telefono chiamare chiamata numero
address: indirizzo via domicilio
move: trasferirsi traslocato trasloco
delete: eliminare cancellare chiudere
update: modificare cambiare aggiornare
error: errore problema guasto funziona
fix: riparare riparazione
subscription: abbonamento piano
warranty: garanzia
contact: contattare contatto parlare aiuto assistenza
open: orari aperto apertura
shop: negozio
hour: ora ore giorno giorni settimana mese tempo quanto
size: taglia taglie misura
wash: lavare lavaggio pulire
abroad: estero internazionale paesi
out: esaurito disponibile magazzino
`,
  ru: `
parcel: посылка пакет бандероль отправление
delivery: доставка доставить доставляем отправка отправить курьер почта
arrive: прийти пришёл пришла получить получил прибыть
track: отследить отслеживание трек где статус
late: опоздание задержка опаздывает поздно
lost: потерялась потеряна пропала утеряна потерять
damaged: повреждён повреждена сломан сломался брак разбит дефект бракованный
return: вернуть возврат возвращать отослать
refund: возврат деньги возместить возмещение вернут
exchange: обмен обменять поменять замена заменить
cancel: отменить отмена отказаться аннулировать
order: заказ заказать покупка купить куплен
price: цена стоимость стоит плата сколько тариф
free: бесплатно бесплатный бесплатная даром
pay: оплата оплатить платить платёж
card: карта картой
declined: отклонён отклонена отказ отказано
invoice: счёт чек квитанция
tax: налог ндс пошлина таможня
discount: скидка купон промокод
gift: подарок подарочный сертификат
account: аккаунт учётная запись профиль кабинет
sign: войти вход регистрация зарегистрироваться логин
password: пароль
forgot: забыл забыла забыть восстановить сбросить
locked: заблокирован блокировка
phone: телефон позвонить звонок номер
address: адрес улица
move: переехать переехал переезд
delete: удалить удаление закрыть
update: изменить поменять обновить изменение
error: ошибка проблема сбой работает
fix: починить ремонт исправить
slow: медленно быстро скорость
unsubscribe: отписаться рассылка реклама
subscription: подписка тариф абонемент
renew: продлить продление истёк срок
warranty: гарантия гарантийный
privacy: конфиденциальность персональные данные
contact: связаться контакты поддержка помощь служба поговорить
person: человек оператор сотрудник
open: открыт открыто часы работы режим
shop: магазин
hour: час часы день дни недель неделя месяц срок долго сколько
size: размер размеры
colour: цвет
wash: стирать стирка чистить уход
abroad: границу зарубеж страны международная
out: наличии закончился склад
points: баллы бонусы
download: скачать загрузить сохранить экспорт
install: установить установка настроить
`,
  ja: `
parcel: 荷物 小包 商品 品物
delivery: 配送 発送 配達 送料 宅配 出荷 お届け 届け
arrive: 届く 届か 届い 到着 受け取 受取
track: 追跡 お問い合わせ番号 どこ 状況
late: 遅い 遅れ 遅延 まだ
lost: 紛失 なくなっ 失く 届きません
damaged: 破損 壊れ 不良 故障 傷 割れ 欠陥
return: 返品 返送 送り返 返したい 返却 返す
refund: 返金 払い戻し 払戻 お金 代金 戻って
exchange: 交換 取り替え 取替 換え
cancel: キャンセル 取り消 取消 解約 やめ
order: 注文 購入 買っ 買い 買う
price: 価格 値段 料金 いくら 費用 手数料
free: 無料 ただ
pay: 支払 払い 決済 払う
card: カード クレジット
declined: 拒否 使えない 通らない 失敗 承認
invoice: 請求書 領収書 レシート 明細
tax: 税 関税 消費税
discount: 割引 クーポン 値引 コード
gift: ギフト 贈り物 プレゼント 商品券
account: アカウント 会員 マイページ 登録
sign: ログイン サインイン 登録 入れない
password: パスワード 暗証
forgot: 忘れ 再設定 リセット
locked: ロック 停止 ブロック
phone: 電話
address: 住所 届け先 宛先
move: 引っ越し 引越 転居 引っ越
delete: 削除 消す 消し 退会
update: 変更 変え 更新 編集
error: エラー 不具合 問題 動かない
fix: 修理 直す 直し
slow: 遅い 速い 時間がかか
unsubscribe: 配信停止 メルマガ 購読解除
subscription: 定期 購読 プラン サブスク
renew: 更新 期限 有効期限
warranty: 保証
privacy: 個人情報 プライバシー
contact: 連絡 問い合わせ サポート 相談 話し
person: 担当者 人 オペレーター
open: 営業時間 開い 営業 何時
shop: 店舗 店 ショップ
hour: 時間 日 何日 いつ 期間 週間 以内
size: サイズ 大きさ 寸法 合わ
colour: 色 カラー
wash: 洗濯 洗う 洗え 手入れ
abroad: 海外 国際 外国
out: 在庫 品切れ 売り切れ 入荷
points: ポイント 特典
download: ダウンロード 保存
install: インストール 設定 取り付け
`,
  zh: `
parcel: 包裹 快递 商品 货物
delivery: 配送 发货 送货 运费 寄送 快递 物流
arrive: 到货 收到 到达 送到 签收
track: 追踪 跟踪 查询 物流 哪里
late: 延迟 延误 晚 迟
lost: 丢失 丢了 遗失 没收到
damaged: 损坏 破损 坏了 瑕疵 质量问题 有问题
return: 退货 退回 寄回 退换
refund: 退款 退钱 还钱 钱
exchange: 换货 更换 调换
cancel: 取消 撤销 终止
order: 订单 下单 购买 买
price: 价格 多少钱 费用 收费
free: 免费 包邮
pay: 支付 付款 结账
card: 信用卡 银行卡 卡
declined: 拒绝 失败 被拒
invoice: 发票 收据
tax: 税 关税 海关
discount: 折扣 优惠 优惠券 打折
gift: 礼品 礼物 礼品卡
account: 账户 账号 帐号 帐户 用户
sign: 登录 登陆 注册
password: 密码
forgot: 忘记 忘了 重置 找回
locked: 锁定 冻结 封禁
phone: 电话 手机
address: 地址
move: 搬家 搬了 迁居
delete: 删除 注销 关闭
update: 修改 更改 更新 变更
error: 错误 问题 故障 不能用
fix: 维修 修理 修
slow: 慢 快 速度
unsubscribe: 退订 邮件 广告
subscription: 订阅 会员 套餐
renew: 续订 续费 到期 过期
warranty: 保修 质保 保证
privacy: 隐私 个人信息 数据
contact: 联系 客服 咨询 帮助
person: 人工 真人 客服
open: 营业 营业时间 开门 几点
shop: 门店 商店 店
hour: 小时 天 多久 时间 几天 工作日 期限
size: 尺码 尺寸 大小 号码
colour: 颜色
wash: 洗 清洗 洗涤 保养
abroad: 国外 海外 国际
out: 缺货 有货 库存 售罄
points: 积分 奖励
download: 下载 导出 保存
install: 安装 设置
`,
  ar: `
parcel: طرد شحنة طلبية بضاعة
delivery: توصيل شحن إرسال تسليم ارسال
arrive: وصول وصل يصل استلام استلمت
track: تتبع متابعة أين
late: تأخر تأخير متأخر
lost: ضاع ضائع فقد مفقود
damaged: تالف مكسور معيب عيب تلف مكسورا
return: إرجاع أعيد إعادة ارجاع أرجع استرجاع
refund: استرداد استرجاع المال نقود أموال مبلغ
exchange: استبدال تبديل أستبدل
cancel: إلغاء الغاء ألغي
order: طلب أطلب شراء اشتريت طلبي
price: سعر ثمن تكلفة رسوم كم
free: مجاني مجانا
pay: دفع أدفع سداد
card: بطاقة ائتمان
declined: رفض مرفوضة رفضت فشل
invoice: فاتورة إيصال
tax: ضريبة جمارك
discount: خصم قسيمة كوبون تخفيض
gift: هدية هدايا
account: حساب حسابي ملف
sign: تسجيل دخول الدخول
password: كلمة مرور السر
forgot: نسيت نسيان
locked: مقفل محظور موقوف
phone: هاتف اتصال اتصل
address: عنوان عنواني شارع
move: انتقلت انتقال بيت منزل سكن
delete: حذف إغلاق مسح
update: تغيير تعديل تحديث غيرت
error: خطأ مشكلة عطل
fix: إصلاح تصليح
subscription: اشتراك باقة
warranty: ضمان كفالة
privacy: خصوصية بيانات شخصية
contact: اتصال تواصل التحدث مساعدة دعم
open: مفتوح ساعات العمل مواعيد
shop: متجر محل فرع
hour: ساعة يوم أيام أسبوع مدة وقت شهر
size: مقاس حجم مقاسات
colour: لون
wash: غسل غسيل تنظيف
abroad: الخارج دولي دول
out: نفد متوفر مخزون
`,
  hi: `
parcel: पार्सल पैकेट सामान
delivery: डिलीवरी डिलिवरी भेजना शिपिंग
arrive: पहुँचा पहुंचा मिला मिलेगा प्राप्त
track: ट्रैक ट्रैकिंग कहाँ कहां
late: देर देरी विलंब
lost: खो गया गुम
damaged: टूटा खराब टूटी क्षतिग्रस्त
return: वापस वापसी लौटाना लौटाने रिटर्न
refund: रिफंड पैसा पैसे वापस धनवापसी
exchange: बदलना बदलें एक्सचेंज
cancel: रद्द कैंसल
order: ऑर्डर आदेश खरीद खरीदा
price: कीमत शुल्क दाम कितना
free: मुफ्त निःशुल्क
pay: भुगतान पेमेंट
invoice: चालान बिल रसीद
account: खाता खाते अकाउंट
password: पासवर्ड
forgot: भूल भूला
phone: फोन कॉल नंबर
address: पता पते
delete: हटाना हटाएँ मिटाना
update: बदलना बदलें अपडेट
warranty: वारंटी गारंटी
contact: संपर्क बात मदद सहायता
open: खुला खुलता समय
hour: घंटे दिन दिनों समय हफ्ते
size: साइज आकार
`,
  ko: `
parcel: 소포 택배 상품 물건
delivery: 배송 배달 발송 배송비
arrive: 도착 받았 수령
track: 추적 조회 어디
late: 늦 지연
lost: 분실 잃어버
damaged: 파손 불량 고장 깨진 하자
return: 반품 돌려보내 반송
refund: 환불 돈
exchange: 교환 바꾸
cancel: 취소 해지
order: 주문 구매 샀
price: 가격 요금 얼마 비용
free: 무료
pay: 결제 지불 입금
card: 카드
invoice: 영수증 계산서
discount: 할인 쿠폰
account: 계정 회원
sign: 로그인 가입
password: 비밀번호
forgot: 잊어 잊었 재설정
phone: 전화
address: 주소
move: 이사
delete: 삭제 탈퇴
update: 변경 수정
error: 오류 문제 안돼
subscription: 구독 요금제
warranty: 보증
contact: 문의 연락 상담
open: 영업시간 영업
hour: 시간 며칠 언제 기간
size: 사이즈 크기
abroad: 해외 국제
out: 품절 재고
`,
  tr: `
parcel: paket kargo koli
delivery: teslimat kargo gönderim teslim
arrive: geldi ulaştı varmak
return: iade geri
refund: para iadesi geri ödeme
exchange: değişim değiştirmek
cancel: iptal
order: sipariş satın alma
price: fiyat ücret ne kadar
pay: ödeme ödemek
password: şifre parola
forgot: unuttum unutmak
account: hesap üyelik
address: adres
warranty: garanti
contact: iletişim destek yardım
damaged: hasarlı kırık bozuk
`,
  pl: `
parcel: paczka przesyłka
delivery: dostawa wysyłka kurier dostarczyć
arrive: dotrzeć dotarła otrzymać
return: zwrot zwrócić odesłać
refund: zwrot pieniądze pieniędzy
exchange: wymiana wymienić
cancel: anulować anulowanie zrezygnować
order: zamówienie zamówić zakup kupić
price: cena koszt kosztuje opłata
pay: płatność zapłacić płacić
password: hasło
forgot: zapomniałem zapomniane
account: konto profil
address: adres
warranty: gwarancja reklamacja
contact: kontakt pomoc
damaged: uszkodzony zepsuty
`,
  nl: `
parcel: pakket pakje zending
delivery: levering bezorging verzending bezorgen verzenden leveren
arrive: aankomen aangekomen ontvangen
track: volgen track waar
late: laat vertraging vertraagd
lost: kwijt verloren zoek
damaged: beschadigd kapot defect
return: retour retourneren terugsturen ruilen herroepen
refund: terugbetaling terugbetalen geld
exchange: ruilen omruilen vervangen
cancel: annuleren opzeggen
order: bestelling bestellen kopen aankoop
price: prijs kosten kost
free: gratis
pay: betalen betaling
invoice: factuur bon
discount: korting kortingscode
account: account profiel
password: wachtwoord
forgot: vergeten
phone: telefoon bellen
address: adres
move: verhuizen verhuisd
delete: verwijderen
update: wijzigen veranderen
subscription: abonnement
warranty: garantie
contact: contact helpen hulp
open: openingstijden open
`,
};
