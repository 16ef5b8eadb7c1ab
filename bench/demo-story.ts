// The content of the demo as data: an outdoor shop and its bicycle workshop, the agents, and what customers wrote.
// demo.ts creates it through the public API.

import type { Invitation } from './scenario.ts';

export const shop = { name: 'Nordlicht Outdoor', timezone: 'Europe/Berlin', locale: 'de-DE' } as const;

/** The owner registers. The others are invited and join, except the last, whose invitation stays open. */
export const owner = { key: 'mara', name: 'Mara Lindqvist' } as const;
export const team = [
  {
    key: 'jonas',
    name: 'Jonas Weber',
    role: 'supervisor',
    channels: ['chats', 'tickets', 'calls'],
    departments: ['Sales', 'Returns'],
    status: 'available',
  },
  {
    key: 'aylin',
    name: 'Aylin Kaya',
    role: 'agent',
    channels: ['chats', 'tickets'],
    departments: ['Sales'],
    status: 'available',
  },
  {
    key: 'tom',
    name: 'Tom Okafor',
    role: 'agent',
    channels: ['chats'],
    departments: ['Returns', 'Workshop'],
    status: 'away',
  },
  { key: 'eva', name: 'Eva Brandt', role: 'agent', channels: ['tickets'], departments: ['Sales'], status: 'invited' },
] as const satisfies readonly (Omit<Invitation, 'email' | 'groupIds'> & {
  key: string;
  departments: readonly string[];
  status: 'available' | 'away' | 'invited';
})[];

export type AgentKey = 'mara' | 'jonas' | 'aylin' | 'tom';
export type Department = 'Sales' | 'Returns' | 'Workshop';
export const departments: readonly Department[] = ['Sales', 'Returns', 'Workshop'];

/** The first is created when the owner registers. Hosts get a new suffix in every demo. */
export const sites = {
  shop: {
    name: 'Nordlicht Outdoor',
    primaryColor: '#0f766e',
    launcherPosition: 'right',
    welcomeMessage: 'Hello! Ask us about gear, sizes and orders.',
  },
  workshop: {
    name: 'Nordlicht Workshop',
    primaryColor: '#b45309',
    launcherPosition: 'left',
    welcomeMessage: 'Hello from the workshop. What is wrong with your bicycle?',
  },
} as const;

const weekdays = (opens: string, closes: string) => [1, 2, 3, 4, 5].map((weekday) => ({ weekday, opens, closes }));
export const businessHours = [
  {
    name: 'Shop',
    days: [...weekdays('09:00', '18:00'), { weekday: 6, opens: '10:00', closes: '14:00' }],
    holidays: ['2026-12-25', '2026-12-26', '2027-01-01'],
    site: null,
  },
  { name: 'Workshop', days: weekdays('08:00', '16:30'), holidays: [], site: 'workshop' },
] as const;

export const savedReplies = [
  {
    by: 'mara',
    shortcut: '/hello',
    title: 'Greeting',
    body: 'Hello {{visitor.firstName}}, this is {{agent.name}} from {{workspace.name}}. How can I help?',
  },
  {
    by: 'mara',
    shortcut: '/returns',
    title: 'How to return',
    body: 'You can send anything back within 30 days. The label is in your parcel; without it, write to us here and we send a new one to {{visitor.email}}.',
  },
  {
    by: 'jonas',
    shortcut: '/size',
    title: 'Sizes',
    body: 'Our sizes run true. Between two, take the larger one for jackets and the smaller one for trousers.',
    scope: 'workspace',
  },
  {
    by: 'jonas',
    shortcut: '/late',
    title: 'A late parcel',
    body: 'I am sorry, {{visitor.firstName}}. I have asked the carrier where your parcel is and write to you as soon as they answer.',
    scope: 'workspace',
  },
  { by: 'aylin', shortcut: '/bye', title: 'My goodbye', body: 'You are welcome! Have a good time outside. Aylin' },
] as const satisfies readonly { by: AgentKey; shortcut: string; title: string; body: string; scope?: 'workspace' }[];

export interface Story {
  readonly site: keyof typeof sites;
  /** The pages the customer visited; it wrote on the last. */
  readonly pages: readonly string[];
  readonly customer?: { readonly name: string; readonly email?: string };
  /** The assignee; undefined: it waits in the queue. */
  readonly agent?: AgentKey;
  readonly department?: Department;
  /** Customer and agent in turn, the customer first; a list is a run of messages by one of them. */
  readonly lines: readonly (string | readonly string[])[];
  readonly notes?: readonly { readonly by: AgentKey; readonly body: string }[];
  readonly tags?: readonly string[];
  readonly ends?: 'pending' | 'solved' | 'closed' | 'spam';
  readonly rating?: { readonly rating: 1 | 2 | 3 | 4 | 5; readonly comment?: string };
  /** The assignee offers it to this agent, who has not answered yet. */
  readonly offeredTo?: { readonly agent: AgentKey; readonly note: string };
}

export const stories: readonly Story[] = [
  // Waiting in the queue.
  {
    site: 'shop',
    pages: ['/', '/tents', '/tents/fjell-2'],
    customer: { name: 'Lena Hofmann', email: 'lena.hofmann@example.org' },
    lines: [['Hi, does the Fjell 2 come with a footprint?', 'And is it in stock in green?']],
    tags: ['tents'],
  },
  {
    site: 'shop',
    pages: ['/checkout'],
    lines: ['My card was refused twice, but my bank says everything is fine.'],
    tags: ['payment'],
  },
  {
    site: 'shop',
    pages: ['/orders/20417'],
    customer: { name: 'Piotr Nowak', email: 'piotr.nowak@example.org' },
    department: 'Returns',
    lines: ['The zip of my jacket broke on the first day. Order 20417.'],
    tags: ['warranty'],
  },
  { site: 'shop', pages: ['/', '/sale'], customer: { name: 'Yuki' }, lines: ['is the sale on until sunday?'] },
  {
    site: 'workshop',
    pages: ['/services/brakes'],
    customer: { name: 'Femke de Vries', email: 'femke@example.net' },
    department: 'Workshop',
    lines: [['My disc brakes squeal since I washed the bike.', 'Can I come by today?']],
  },
  {
    site: 'shop',
    pages: ['/stoves'],
    lines: ['Which gas cartridge fits the Glimt stove? The page says EN 417, is that the one with the screw?'],
  },
  {
    site: 'shop',
    pages: ['/gift-cards'],
    customer: { name: 'Anna Schubert', email: 'anna.schubert@example.com' },
    lines: ['I bought a gift card an hour ago and it has not come by mail. It is for tonight!'],
    tags: ['urgent', 'gift card'],
  },
  {
    site: 'workshop',
    pages: ['/booking'],
    customer: { name: 'Karl-Heinz Braun', email: 'kh.braun@example.org' },
    lines: ['The calendar shows no free date before June. Is that right?'],
  },

  // Being worked on.
  {
    site: 'shop',
    pages: ['/', '/boots/ridge-gtx'],
    customer: { name: 'Sofia Marino', email: 'sofia.marino@example.org' },
    agent: 'aylin',
    lines: [
      'I am between 41 and 42 in the Ridge GTX. Which one should I take?',
      'Do you wear thick socks in them?',
      'Yes, in winter.',
      'Then take the 42. If it is too large you can send it back for free.',
      'And the width? I have rather wide feet.',
    ],
    tags: ['sizes'],
  },
  {
    site: 'shop',
    pages: ['/orders/20388'],
    customer: { name: 'Ben Carter', email: 'ben.carter@example.com' },
    agent: 'aylin',
    lines: [
      'Where is my parcel? It says “in delivery” since Monday.',
      [
        'Let me look that up for you.',
        'The carrier tried on Tuesday and nobody was at home. It is at the shop in Hafenstrasse 12 until Saturday.',
      ],
      'There was no card in my mailbox!',
    ],
    notes: [{ by: 'aylin', body: 'Third complaint about this carrier in that street this week.' }],
    tags: ['delivery'],
  },
  {
    site: 'shop',
    pages: ['/backpacks/vandra-55'],
    customer: { name: 'Noor Haddad', email: 'noor.haddad@example.org' },
    agent: 'aylin',
    lines: [
      'Can the hip belt of the Vandra 55 be replaced by a smaller one?',
      'It can: size S is an accessory, 29 euros. Shall I put it in your cart?',
      'Yes please!',
    ],
    tags: ['backpacks'],
  },
  {
    site: 'shop',
    pages: ['/checkout'],
    customer: { name: 'Emil Larsen', email: 'emil.larsen@example.dk' },
    agent: 'jonas',
    lines: [
      'Do you deliver to the Faroe Islands?',
      'We do, by post. It takes about ten days and costs 24 euros. Where to, exactly?',
      'Tórshavn. Two tents and a stove.',
    ],
    notes: [{ by: 'jonas', body: 'The stove may go, the cartridges may not: dangerous goods.' }],
    offeredTo: { agent: 'aylin', note: 'You know the customs papers better than I do. Can you take this?' },
  },
  {
    site: 'shop',
    pages: ['/b2b'],
    customer: { name: 'Ines Ferreira', email: 'ines.ferreira@example.org' },
    agent: 'jonas',
    department: 'Sales',
    lines: [
      'We are a school and need 30 sleeping bags for May. Is there a price for that?',
      'There is. From 20 pieces on it is 18 % less. Which temperature do you need?',
      'It is in the Harz, so around five degrees at night.',
      'Then the Lomma is enough. I will write you an offer today. To this address?',
      'Yes, and please with delivery to the school.',
    ],
    tags: ['b2b', 'offer'],
    notes: [
      { by: 'jonas', body: 'Offer: 30 × Lomma, 18 %, delivery free. Ask Mara about 20 %.' },
      { by: 'mara', body: '20 % is fine if they order before the end of the month.' },
    ],
  },
  {
    site: 'workshop',
    pages: ['/', '/services/wheels'],
    customer: { name: 'Milan Novák', email: 'milan.novak@example.cz' },
    agent: 'tom',
    department: 'Workshop',
    lines: [
      'Do you build wheels with my own hub?',
      'Yes, if it is not older than about ten years. Which one is it?',
      'A dynamo hub, 32 holes, from 2019.',
      'That works. 85 euros plus spokes and rim. Bring it any day before four.',
      'I can come on Thursday at three.',
    ],
    tags: ['wheels'],
  },
  {
    site: 'shop',
    pages: ['/jackets/regn'],
    customer: { name: 'Clara Meunier', email: 'clara.meunier@example.fr' },
    agent: 'mara',
    lines: [
      'Is the Regn jacket made without PFAS?',
      'It is, since last autumn. All of our rain jackets are.',
      'Do you have a certificate? I write about outdoor clothes.',
      'Gladly. Our supplier’s test report is here: https://nordlicht.example/reports/regn-2026.pdf',
    ],
    tags: ['press'],
  },

  // Waiting for the customer or another party.
  {
    site: 'shop',
    pages: ['/orders/20311'],
    customer: { name: 'Hannah Vogel', email: 'hannah.vogel@example.org' },
    agent: 'aylin',
    department: 'Returns',
    lines: [
      'One of the poles of my tent is bent.',
      'I am sorry! Could you send me a picture of it and of the label inside the tent?',
      'I am not at home until Friday, then I will.',
      'No hurry. I will keep this open for you.',
    ],
    ends: 'pending',
    tags: ['warranty', 'tents'],
  },
  {
    site: 'shop',
    pages: ['/mats/tyst'],
    customer: { name: 'Oskar Lind', email: 'oskar.lind@example.se' },
    agent: 'tom',
    department: 'Returns',
    lines: [
      'My mat loses air overnight.',
      'Does it lose it at the valve? Press it under water, you will see bubbles.',
      'Bubbles at the valve, yes.',
      'Then it is a case for the maker. I have asked them for a new valve and will write to you when it is here.',
    ],
    ends: 'pending',
    notes: [{ by: 'tom', body: 'Maker asked on Monday, case 77120.' }],
    tags: ['warranty'],
  },
  {
    site: 'workshop',
    pages: ['/services/inspection'],
    customer: { name: 'Ruth Adler', email: 'ruth.adler@example.org' },
    agent: 'tom',
    department: 'Workshop',
    lines: ['Is my bike ready?', 'Nearly: the cassette is worn too and would be 38 euros more. Shall we change it?'],
    ends: 'pending',
  },
  {
    site: 'shop',
    pages: ['/orders/20402'],
    customer: { name: 'Jakub Zieliński', email: 'jakub.zielinski@example.pl' },
    agent: 'jonas',
    lines: [
      'I got two left gloves.',
      ['Oh no! That should not happen.', 'A new pair leaves today. Please keep the wrong ones until it is there.'],
      'ok, thanks',
    ],
    ends: 'pending',
    tags: ['wrong item'],
  },
  {
    site: 'shop',
    pages: ['/invoices'],
    customer: { name: 'Dr. Helga Stein', email: 'h.stein@example.org' },
    agent: 'mara',
    lines: [
      'I need the invoice of March made out to my practice.',
      'Of course. What is the exact address?',
      'Praxis Dr. Stein, Lindenallee 4, 24937 Flensburg.',
      'Thank you, our bookkeeping will send it this week.',
    ],
    ends: 'pending',
    tags: ['invoice'],
  },

  // Solved, with ratings.
  {
    site: 'shop',
    pages: ['/', '/socks'],
    customer: { name: 'Tiago Costa', email: 'tiago.costa@example.pt' },
    agent: 'aylin',
    lines: [
      'can the wool socks go in the dryer?',
      'Better not: they shrink by a size. Air them, they dry overnight.',
      'ok thx!',
    ],
    ends: 'solved',
    rating: { rating: 5 },
  },
  {
    site: 'shop',
    pages: ['/orders/20215'],
    customer: { name: 'Marta Ruiz', email: 'marta.ruiz@example.es' },
    agent: 'aylin',
    lines: [
      'I would like to change the address of order 20215.',
      'It has not left yet. Where should it go?',
      'Calle Mayor 8, 4B, 28013 Madrid.',
      'Done. You will get a new confirmation in a minute.',
      'Got it. That was quick!',
    ],
    ends: 'solved',
    rating: { rating: 5, comment: 'Two minutes. Fantastic.' },
    tags: ['delivery'],
  },
  {
    site: 'shop',
    pages: ['/stoves/glimt'],
    customer: { name: 'Finn Sørensen', email: 'finn.sorensen@example.dk' },
    agent: 'jonas',
    lines: [
      'How much gas does the Glimt use for a litre of water?',
      'About 12 grams without wind. A cartridge of 230 grams boils nineteen litres or so.',
      'Perfect, thanks.',
    ],
    ends: 'solved',
    rating: { rating: 5 },
  },
  {
    site: 'shop',
    pages: ['/orders/20177'],
    customer: { name: 'Olga Petrova', email: 'olga.petrova@example.org' },
    agent: 'tom',
    department: 'Returns',
    lines: [
      'I sent my trousers back three weeks ago and have no money yet.',
      'They are here since the 9th, I see. I am sorry, this was left lying.',
      'So when?',
      'Today. Your bank needs two days. There is a voucher of 10 euros in your mail for the trouble.',
      'Fine.',
    ],
    ends: 'solved',
    rating: { rating: 2, comment: 'Friendly, but three weeks is too long.' },
    tags: ['refund'],
  },
  {
    site: 'workshop',
    pages: ['/prices'],
    customer: { name: 'Luca Bianchi', email: 'luca.bianchi@example.it' },
    agent: 'tom',
    department: 'Workshop',
    lines: ['What does a new chain cost with work?', 'From 35 euros, depending on the speeds.', 'Grazie!'],
    ends: 'solved',
    rating: { rating: 4 },
  },
  {
    site: 'shop',
    pages: ['/tents/fjell-3'],
    customer: { name: 'Sarah Johansson', email: 'sarah.johansson@example.se' },
    agent: 'aylin',
    lines: [
      'Does the Fjell 3 stand without pegs?',
      'It does, the inner tent alone. The awning needs two pegs.',
      'Good to know for rock. I will take it.',
    ],
    ends: 'solved',
    tags: ['tents'],
  },
  {
    site: 'shop',
    pages: ['/login'],
    customer: { name: 'Gerd Pohl', email: 'gerd.pohl@example.org' },
    agent: 'mara',
    lines: [
      'I cannot sign in any more. I changed my phone.',
      'Did you use the code by SMS? Then I can switch it off for you once.',
      'Yes, please.',
      'It is off. Sign in with your password and set it up again.',
      'Works!',
    ],
    ends: 'solved',
    rating: { rating: 5 },
    notes: [{ by: 'mara', body: 'Checked by birthday and last order before switching it off.' }],
    tags: ['account'],
  },
  {
    site: 'shop',
    pages: ['/checkout'],
    customer: { name: 'Aino Virtanen', email: 'aino.virtanen@example.fi' },
    agent: 'jonas',
    lines: [
      'The code SPRING does not work.',
      'It is for orders from 80 euros on. You are at 74.',
      'Ah. Then socks it is.',
    ],
    ends: 'solved',
    rating: { rating: 4, comment: 'The page could have told me.' },
  },
  {
    site: 'shop',
    pages: ['/orders/20099'],
    customer: { name: 'Mohammed Al-Sayed', email: 'm.alsayed@example.org' },
    agent: 'aylin',
    department: 'Returns',
    lines: [
      'How do I return one of three items?',
      'Put it in the parcel with the label, and cross out the other two on the slip.',
      'I threw the slip away :(',
      'No problem, I have sent you a new one by mail.',
    ],
    ends: 'solved',
    tags: ['returns'],
  },
  {
    site: 'workshop',
    pages: ['/services/e-bike'],
    customer: { name: 'Ursula Klein', email: 'ursula.klein@example.org' },
    agent: 'tom',
    department: 'Workshop',
    lines: [
      'My e-bike shows error 503.',
      'That is the speed sensor. Look whether the magnet on the spoke still faces it.',
      'It had turned! Now it runs again. Thank you so much!',
    ],
    ends: 'solved',
    rating: { rating: 5, comment: 'Saved me a trip.' },
  },
  {
    site: 'shop',
    pages: ['/jobs'],
    customer: { name: 'Paul Richter', email: 'paul.richter@example.org' },
    agent: 'mara',
    lines: [
      'Do you need help on Saturdays?',
      'We do! Write to us at jobs@nordlicht.example with two lines about yourself.',
    ],
    ends: 'solved',
  },
  {
    site: 'shop',
    pages: ['/sleeping-bags/lomma'],
    customer: { name: 'Chloé Dubois', email: 'chloe.dubois@example.fr' },
    agent: 'jonas',
    lines: [
      'Is the Lomma warm enough for Scotland in September?',
      'For most people, with a hat and dry socks. Down to five degrees it is comfortable.',
      'I am always cold.',
      'Then take the Lomma Plus. Five degrees more and 200 grams heavier.',
      'Sold!',
    ],
    ends: 'solved',
    rating: { rating: 5 },
  },

  // Closed long ago.
  {
    site: 'shop',
    pages: ['/orders/19844'],
    customer: { name: 'Werner Haas', email: 'werner.haas@example.org' },
    agent: 'jonas',
    lines: [
      'The parcel was open when it came, one cup is missing.',
      'I am sorry. A new one is on its way.',
      'It came today. Thanks.',
    ],
    ends: 'closed',
    rating: { rating: 4 },
  },
  {
    site: 'shop',
    pages: ['/'],
    customer: { name: 'Ida Nilsson', email: 'ida.nilsson@example.se' },
    agent: 'aylin',
    lines: ['When do you open on Saturday?', 'At ten. See you!'],
    ends: 'closed',
  },
  {
    site: 'workshop',
    pages: ['/services'],
    customer: { name: 'Stefan Gruber', email: 'stefan.gruber@example.at' },
    agent: 'tom',
    department: 'Workshop',
    lines: ['Do you repair scooters?', 'Only their tyres, I am afraid.', 'That is all I need.'],
    ends: 'closed',
    rating: { rating: 5 },
  },
  {
    site: 'shop',
    pages: ['/orders/19790'],
    customer: { name: 'Nina Horvat', email: 'nina.horvat@example.hr' },
    agent: 'tom',
    department: 'Returns',
    lines: ['Money for order 19790?', 'It left us on the 3rd.', 'I see it now.'],
    ends: 'closed',
    tags: ['refund'],
  },

  // Spam.
  {
    site: 'shop',
    pages: ['/'],
    customer: { name: 'SEO Expert', email: 'rank1@example.biz' },
    agent: 'aylin',
    lines: [
      ['Hello dear, I have seen your website and can bring it to page 1 of search!!!', 'Only 99 USD, answer today'],
    ],
    ends: 'spam',
  },
  { site: 'shop', pages: ['/'], lines: ['Earn money at home, click https://example.biz/earn'], ends: 'spam' },
];
