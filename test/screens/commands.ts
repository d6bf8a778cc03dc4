import { ago, ahead, id } from './scene/names.ts';
import { empty, full } from './scene/organizations.ts';

/** Stands for a folder that a command writes to. */
export const written = 'written';

/** A command that is kept. A word that names a file of `files` becomes its path. */
export type KeptCommand = {
  words: readonly string[];
  files?: Readonly<Record<string, string>>;
  /** It changes nothing that is worth looking for. */
  reads?: true;
};

const of = ['--org', full.id];
const ofEmpty = ['--org', empty.id];
const survey = (name: string) => ['--survey', id(`survey-${name}`)];
const the = (name: string) => ['--id', id(name)];
const day = (days: number) => ago(days).toISOString().slice(0, 10);

/** In words for people, and as JSON. */
const both = (...commands: string[][]): KeptCommand[] =>
  commands.flatMap((words) => [
    { words, reads: true },
    { words: [...words, '--json'], reads: true },
  ]);
const acts = (...commands: string[][]): KeptCommand[] => commands.map((words) => ({ words }));

const organizations: KeptCommand[] = [
  ...both(['org', 'list'], ['org', 'show', ...the('larkspur')], ['org', 'show', '--id', empty.id]),
  ...acts(
    ['org', 'show', ...the('nothing')],
    ['org', 'create', '--name', 'Kestrel', '--send-limit', '50', '--person', 'Jo', '--ai'],
    ['org', 'update', ...the('larkspur'), '--slug', 'larks', '--no-ai', '--keep-mails-days', '30'],
    ['org', 'update', ...the('larkspur'), '--no-logo', '--frequency-days', '0'],
    ['org', 'update', ...the('nothing'), '--name', 'x'],
  ),
  ...both(['member', 'list', ...of], ['member', 'list']),
  ...acts(
    ['member', 'role', ...of, '--email', 'VIKTOR@larkspur.example', '--role', 'editor'],
    ['member', 'role', ...of, '--email', 'hana@larkspur.example', '--role', 'viewer'],
    ['member', 'remove', ...of, '--email', 'lena@larkspur.example'],
    ['member', 'remove', ...of, '--email', 'lena@larkspur.example'],
    ['member', 'reset', '--email', 'hana@larkspur.example', '--codes'],
    ['member', 'reset', '--email', 'ines@larkspur.example', '--sso'],
    ['member', 'invite', '--email', 'new@larkspur.example', ...of, '--role', 'owner'],
    ['member', 'invite', '--email', 'ops@askback.example', '--operator'],
    ['member', 'invite', '--email', 'x@larkspur.example'],
  ),
  ...both(['key', 'list', ...of]),
  ...acts(
    ['key', 'list', '--org', id('nothing')],
    [
      'key',
      'create',
      ...of,
      '--name',
      'new',
      '--permission',
      'write',
      '--expires-at',
      '2027-01-01',
    ],
    ['key', 'revoke', ...the('key-1')],
    ['key', 'revoke', ...the('nothing')],
  ),
  ...both(['reporter', 'list']),
  ...both(['audit', 'list', ...of, '--limit', '5'], ['audit', 'list', ...of, '--actor', 'job']),
  ...acts(
    ['audit', 'list', ...of, '--act', 'key.created', '--from', day(30), '--to', day(0)],
    ['audit', 'export', ...of, '--actor', 'member'],
  ),
];

const sender = ['--from-name', 'Lark', '--from-email', 'ask@larkspur.example'];

const surveys: KeptCommand[] = [
  ...both(['survey', 'list', ...of], ['survey', 'list', ...ofEmpty]),
  ...both(['survey', 'show', ...the('survey-nps')], ['survey', 'show', ...the('survey-closed')]),
  ...acts(
    ['survey', 'show', ...the('nothing')],
    ['survey', 'create', ...of, '--name', 'New', '--question', 'And?', ...sender, '--type', 'ces'],
    [
      'survey',
      'create',
      ...of,
      '--name',
      'D',
      '--question',
      '{{',
      ...sender,
      '--reply-to',
      'a@b.c',
    ],
    ['survey', 'update', ...the('survey-csat'), '--name', 'Named again', '--intro', 'Hello'],
    ['survey', 'open', ...the('survey-draft')],
    ['survey', 'open', ...the('survey-csat')],
    ['survey', 'close', ...the('survey-ces')],
    ['survey', 'reopen', ...the('survey-answered')],
    ['survey', 'copy', ...the('survey-star5')],
    ['survey', 'delete', ...the('survey-thumbs')],
    ['survey', 'delete', ...the('survey-thumbs'), '--answers'],
  ),
  ...both(['tag', 'list', ...of]),
  ...acts(
    ['tag', 'create', ...of, '--name', 'VIP', '--color', '#123456'],
    ['tag', 'create', ...of, '--name', 'BILLING'],
    ['tag', 'update', ...the('tag-1'), '--name', 'invoices'],
    ['tag', 'delete', ...the('tag-2')],
    ['tag', 'delete', ...the('nothing')],
  ),
];

const people = 'email,name,plan\nada@people.example,Ada,pro\nnew@people.example,New,team\n';
const wrongPeople = 'email,name\nno address,No\nnew2@people.example,Two\n';

const preview = ['mail', 'preview', ...survey('nps'), '--out', written];

const sending: KeptCommand[] = [
  ...acts(
    preview,
    [...preview, '--language', 'en'],
    [...preview, '--language', 'de'],
    [...preview, '--language', 'fr'],
  ),
  {
    words: ['contact', 'import', ...survey('csat'), 'people.csv'],
    files: { 'people.csv': people },
  },
  {
    words: ['contact', 'import', ...survey('csat'), 'wrong.csv'],
    files: { 'wrong.csv': wrongPeople },
  },
  {
    words: ['survey', 'send', ...survey('nps'), 'people.csv', '--dry-run'],
    files: { 'people.csv': people },
  },
  {
    words: ['survey', 'send', ...survey('nps'), 'people.csv', '--dry-run', '--json'],
    files: { 'people.csv': people },
  },
  ...both(
    ['contact', 'why', ...of, '--email', 'ADA@people.example'],
    ['contact', 'why', ...of, '--email', 'eva@people.example'],
    ['contact', 'why', ...of, '--email', 'ben@people.example'],
    ['contact', 'why', ...of, '--email', 'unknown@people.example'],
    ['campaign', 'list', ...survey('nps')],
    ['campaign', 'list', ...survey('ces')],
    ['campaign', 'show', ...the('campaign-running')],
    ['campaign', 'results', ...the('campaign-running')],
    ['campaign', 'create', ...survey('star5'), '--dry-run'],
  ),
  ...acts(
    [
      'campaign',
      'create',
      ...survey('star5'),
      '--name',
      'May',
      '--send-at',
      ahead(2).toISOString(),
      '--per-hour',
      '60',
    ],
    ['campaign', 'create', ...survey('draft')],
    ['campaign', 'pause', ...the('campaign-running')],
    ['campaign', 'resume', ...the('campaign-paused')],
    ['campaign', 'stop', ...the('campaign-running')],
    ['campaign', 'stop', ...the('campaign-finished')],
    ['campaign', 'show', ...the('nothing')],
  ),
  ...both(
    ['suppression', 'list', ...of],
    ['suppression', 'list', ...of, '--kind', 'bounced'],
    ['suppression', 'list', ...of, '--email', 'FINN@people.example'],
    ['suppression', 'list', ...ofEmpty],
  ),
  ...acts(
    ['suppression', 'remove', ...the('suppression-finn')],
    ['suppression', 'remove', ...the('suppression-finn')],
  ),
];

const given =
  'score,created at,comment,email\n9,2026-05-01,Fine,ada@people.example\n2,2026-05-02,Bad,\n';
const wrongGiven = 'score,created at\n11,2026-05-01\n3,soon\n';

const responses: KeptCommand[] = [
  ...both(
    ['response', 'list', ...of, '--limit', '12'],
    ['response', 'list', ...of, '--held'],
    ['response', 'list', ...of, ...survey('csat'), '--category', 'detractor'],
  ),
  ...acts(
    ['response', 'release', ...the('response-held')],
    ['response', 'release', ...the('nothing')],
  ),
  { words: ['import', 'responses', ...survey('nps'), 'given.csv'], files: { 'given.csv': given } },
  {
    words: ['import', 'responses', ...survey('nps'), 'wrong.csv'],
    files: { 'wrong.csv': wrongGiven },
  },
  ...both(['theme', 'list', ...of], ['theme', 'list', ...ofEmpty]),
  ...acts(
    ['theme', 'add', ...of, '--name', 'queue', '--words', 'waiting, queue'],
    ['theme', 'remove', ...of, '--name', 'delivery'],
    ['theme', 'remove', ...of, '--name', 'delivery'],
  ),
  ...acts(
    ['summary', 'create', ...of, '--from', '2026-05-01', '--to', '2026-05-19', '--json'],
    ['summary', 'create', ...of, '--to', '2026-05-19'],
    ['summary', 'create', ...of],
    ['person', 'erase', ...of, '--email', 'ada@people.example'],
    ['person', 'erase', ...of, '--email', 'layla@people.example', '--scores', 'delete', '--json'],
    ['person', 'erase', ...of, '--email', 'unknown@people.example'],
  ),
  ...both(['erasure', 'list', ...of], ['erasure', 'list', ...of, '--limit', '1']),
  ...acts(['erasure', 'allow', ...the('receipt-first')], ['erasure', 'allow', ...the('nothing')]),
];

const contactNamesOf = ['ada', 'ben', 'cora', 'dan', 'eva', 'finn', 'gil', 'layla'];
const addresses = `Email\n${contactNamesOf.map((name) => `${name}@people.example\n`).join('')}`;
const formerResponses = [
  'Response ID,Score,Comment,Response Created At,Person Email,Person Name,Tags,Notes,Plan',
  '1,9,Good,2026-03-01 10:00:00,ada@people.example,Ada,"billing, new","Called, twice",pro',
  '2,3,,2026-03-02 11:00:00,moved@people.example,Moved Over,,,',
  '3,11,Odd,2026-03-03 12:00:00,,,,,',
  '4,5,,soon,,,,,',
  '',
].join('\n');
const formerPeople = [
  'Name,Email,Unsubscribed At,Bounced At,Team',
  'Ada,ada@people.example,,,blue',
  'Una,una@people.example,2026-02-01,,',
  'Bo,bo@people.example,,2026-02-02,red',
  'No,no address,,,',
  '',
].join('\n');

const moving: KeptCommand[] = [
  ...(['responses', 'people', 'unsubscribed', 'bounced'] as const).flatMap((kind) => {
    const lists = { responses: formerResponses, people: formerPeople };
    const text = kind === 'responses' || kind === 'people' ? lists[kind] : addresses;
    const words = ['import', 'delighted', ...survey('nps'), '--as', kind, `${kind}.csv`];
    const files = { [`${kind}.csv`]: text };
    return [
      { words: [...words, '--dry-run'], files },
      { words, files },
      { words: [...words, '--json'], files },
    ];
  }),
  {
    words: ['import', 'delighted', ...survey('nps'), '--time-zone', 'Asia/Tokyo', 'good.csv'],
    files: { 'good.csv': formerResponses.split('\n').slice(0, 3).join('\n') },
  },
  {
    words: ['import', 'asknicely', ...survey('nps'), 'answers.csv'],
    files: {
      'answers.csv': 'answer,comment,responded,email\n8,Fine,1772462800,ada@people.example\n',
    },
  },
];

const webhooks: KeptCommand[] = [
  ...both(['webhook', 'list', ...of], ['webhook', 'list', ...ofEmpty]),
  ...acts(
    ['webhook', 'create', ...of, '--url', 'http://127.0.0.1/x', '--events', 'response.received'],
    [
      'webhook',
      'create',
      ...of,
      '--url',
      'https://hooks.example.com/n',
      '--events',
      'response.gone',
    ],
    ['webhook', 'replay', ...the('webhook-well'), '--since', ago(10).toISOString()],
    ['webhook', 'replay', ...the('webhook-off'), '--since', ago(10).toISOString()],
    ['webhook', 'replay', ...the('nothing'), '--since', ago(10).toISOString()],
  ),
];

/** By folder, in the order in which they run: each finds what those before it left. */
export const keptCommands = { organizations, surveys, sending, responses, webhooks, moving };
