// Words of customer service with nearly the same meaning, one line per meaning. The builtin embedding gives the words
// of a line a common feature, so that a question about a package finds the page about parcels. English only; other
// languages match by their words. A phrase counts as its words together. A word may be in several lines.

export const relatedWords = `
parcel package box shipment consignment
delivery shipping ship deliver dispatch postage send post courier carrier freight
arrive arrival receive received come get here reach
track tracking trace follow status where
late delay delayed overdue slow
lost missing disappeared vanished gone never arrived
stolen theft thief steal
damaged broken defective faulty cracked torn defect fault
return send back give back bring back
refund reimburse reimbursement repay repayment money back give back cashback
exchange swap replace replacement change
cancel call off cancellation withdraw revoke stop
order purchase buy bought shopping
basket cart bag checkout
out of stock sold out unavailable back in stock available availability
price cost fee charge how much expensive rate
free free of charge gratis no cost complimentary
pay payment paid paying billing
card credit card debit card visa mastercard
declined refused rejected failed fail denied go through
invoice receipt bill bills statement vat
tax vat duty duties customs
discount coupon voucher promo promotion code reduction rebate
gift card voucher gift certificate credit
sale clearance reduced discounted outlet
gift present
instalment instalments monthly payment plan pay later rates
twice double two times duplicate again
currency euro euros dollar dollars pound pounds kroner
account profile user login
sign up register create account registration join subscribe
sign in log in login log on signin
log out sign out logout
password passphrase passcode pin
forgot forgotten remember lost reset
locked blocked suspended disabled
two factor authenticator second factor 2fa mfa verification code backup codes
email mail e-mail inbox
phone telephone mobile smartphone call number
address street location where
move moved moving relocate house
delete remove erase close deactivate terminate
update change edit alter modify correct
add append include insert
show display see view
download export save copy
upload attach attachment file
install setup set up configure configuration
start begin launch run open
stop end quit shut down halt
fix repair mend solve
error problem issue trouble bug wrong fails
work works working function
slow slowly performance speed fast quick
connect connection link integrate integration
notify notification alert remind message
unsubscribe newsletter marketing mailing emails letters
subscription plan membership member tier
renew renewal expire expiry expires lapse valid
upgrade downgrade switch
trial demo test try
warranty guarantee covered coverage claim
privacy personal data personal information gdpr data protection
security secure safe safety protect
cookie cookies consent tracking
contact reach talk speak support help customer service
person human agent representative somebody staff
complaint complain unhappy dissatisfied
open opening hours opening times closing closed
shop store branch outlet showroom
hour hours day days week weeks month time long
tomorrow next day overnight express
job jobs career careers vacancy position hire work
student students pupil school
company business organisation organization firm enterprise
team group people colleagues
size sizes sizing fit measure
colour color shade
wash washing clean cleaning laundry launder machine
waterproof water repellent rain watertight repels
rent rental hire lease borrow
wheelchair accessible accessibility disabled step steps
recycled recycle sustainable sustainability environment climate planet
points rewards reward loyalty bonus
refer affiliate commission partner referral
wish list wishlist favourites favorites save for later
maximum limit most at most cap
minimum least at least
allowed may permit permitted possible can
forbidden not allowed prohibited banned refuse
required must need necessary mandatory
database store storage disk
server host machine computer
folder directory path
setting settings option options environment variable configuration
request call query
reply answer response respond
visitor customer client shopper buyer
conversation chat ticket thread
plane aeroplane airplane flight aircraft luggage
torch lamp light headlamp
rucksack backpack pack
mould mold mildew
cooker stove burner
zip zipper
shoe shoes boot boots footwear
house home flat apartment
kid child children baby
buyer receiver recipient
throw away discard retire dispose
wrong mistyped typo mistake incorrect
abroad foreign international countries overseas
country nation
image picture photo photograph
`;
