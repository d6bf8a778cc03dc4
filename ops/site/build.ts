import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { apiPages } from './api.ts';

/**
 * Builds the documentation site from README.md, ops/*.md, .github/*.md and ops/openapi.json into dist/site with VitePress,
 * and fails if a link or an anchor is broken. The site is static and loads nothing from other servers.
 */
const here = 'ops/site';
const staged = '.cache/site';
const pages = `${staged}/pages`;
const output = 'dist/site';

const sources = [
  'README.md',
  ...globSync(['ops/*.md', 'ops/{decisions,guides}/*.md', '.github/*.md']).sort(),
].filter((path) => !path.includes('PULL_REQUEST'));
const addresses = new Map(sources.map((path) => [path, addressOf(path)]));

/** Pages grouped by reader. All other pages go to the last group. */
const groups: [reader: string, ...names: string[]][] = [
  ['Evaluate', 'overview', 'benchmarks', 'changelog', 'project/ROADMAP', 'project/GOVERNANCE'],
  ['Install', 'install', 'configuration', 'proxy', 'mail', 'members', 'scaling'],
  ['Operate', 'operations', 'runbook', 'metrics', 'logs', 'traces', 'limits', 'privacy'],
  ['Integrate', 'integrations', 'webhooks', 'errors', 'mcp'],
  ['Ask', 'surveys', 'people', 'notifications'],
  ['Read', 'numbers', 'analysis', 'reports', 'glossary'],
  [
    'Migrate',
    'moving',
    ...[...addresses.values()].filter((name) => /^(guides|moving-)/.test(name)),
  ],
  ['Contribute', 'project/CONTRIBUTING', 'architecture'],
];

rmSync(staged, { recursive: true, force: true });
rmSync(output, { recursive: true, force: true });
const titles = new Map<string, string>();
for (const [path, address] of addresses) {
  const text = withSiteLinks(readFileSync(path, 'utf8'), path);
  titles.set(address, /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? address);
  write(`${address}.md`, text);
}
const api = apiPages();
for (const { name, title, text } of api) write(`api/${name}.md`, `# ${title}\n\n${text}`);
write('index.md', homePage());
cpSync('src/web/assets/icon.svg', `${pages}/public/icon.svg`);
writeFileSync(
  `${staged}/site.json`,
  JSON.stringify({ version: manifest.version, sidebar: sidebar() }),
);

execFileSync(`${here}/node_modules/.bin/vitepress`, ['build', here], { stdio: 'inherit' });
const checked = [
  '--recurse',
  '--check-fragments',
  '--verbosity',
  'error',
  '--skip',
  '^https?://(?!localhost|127)',
];
execFileSync(`${here}/node_modules/.bin/linkinator`, [output, ...checked], { stdio: 'inherit' });
console.log(`${output}: ${titles.size + api.length + 1} pages, no broken link`);

function addressOf(path: string): string {
  if (path === 'README.md') return 'overview';
  return path
    .replace(/\.md$/, '')
    .replace(/^ops\//, '')
    .replace(/^\.github\//, 'project/');
}

function sidebar() {
  const named = new Set(groups.flat());
  const others = [...addresses.values()].filter((name) => !named.has(name));
  const link = (name: string) => ({
    text: name === 'overview' ? 'Overview' : titles.get(name),
    link: `/${name}`,
  });
  return groups.map(([reader, ...names], place) => ({
    text: reader,
    collapsed: place > 1,
    items: [
      ...[...names, ...(place === groups.length - 1 ? others : [])]
        .filter((name) => titles.has(name))
        .map(link),
      ...(reader === 'Integrate'
        ? [
            {
              text: 'API reference',
              collapsed: true,
              items: api.map(({ name, title }) => ({ text: title, link: `/api/${name}` })),
            },
          ]
        : []),
    ],
  }));
}

/** Pages link to each other by file name. Other files of the repository are copied, so that their links work offline. */
function withSiteLinks(text: string, from: string): string {
  const replace = (target: string) => {
    const [, file = '', anchor = ''] = /^([^#]*)(.*)$/.exec(target) ?? [];
    if (file === '' || /^[a-z]+:/.test(file)) return target;
    const path = relative('.', resolve(dirname(from), file));
    const address = addresses.get(path);
    if (address) return `/${address}.md${anchor}`;
    if (path === 'ops/decisions' && addresses.size > 0) return '/architecture.md';
    if (!existsSync(path)) throw new Error(`${from} links to ${target}, which does not exist`);
    return copied(path);
  };
  return text
    .replace(/(?<=\]\()[^)\s]+(?=\))/g, replace)
    .replace(/(?<=<(?:img|a|source)\b[^>]*\s(?:src|href|srcset)=")[^"]+(?=")/g, replace);
}

function copied(path: string): string {
  // VitePress treats a name with one of these extensions as a file, not as a page.
  const copy = /\.(png|svg|jpe?g|webp|gif|json|ya?ml)$/.test(path) ? path : `${path}.txt`;
  cpSync(path, `${pages}/public/files/${copy}`, { recursive: true });
  return `/files/${copy}`;
}

function homePage(): string {
  const features = [
    ['Install', 'In a minute, on your own server', '/install'],
    ['Ask', 'Surveys by email, link or on your website', '/surveys'],
    ['Read', 'Scores with their margin, comments by theme', '/analysis'],
    ['Integrate', 'An API, webhooks, SQL views and tools for models', '/integrations'],
    ['Operate', 'Backups, metrics, alerts with a runbook', '/operations'],
    ['Migrate', 'From Delighted, AskNicely and others', '/moving'],
  ].map(([title, details, link]) => ({ title, details, link }));
  const hero = {
    name: 'askback',
    text: 'Ask your customers. Own the answers.',
    tagline: manifest.description,
    actions: [
      { text: 'Install', link: '/install' },
      { theme: 'alt', text: 'Overview', link: '/overview' },
    ],
    image: {
      light: copied('ops/pictures/home.webp'),
      dark: copied('ops/pictures/home-dark.webp'),
      alt: 'Home, with the score and its trend',
    },
  };
  return `---\n${JSON.stringify({ layout: 'home', hero, features })}\n---\n`;
}

function write(name: string, text: string) {
  mkdirSync(dirname(join(pages, name)), { recursive: true });
  writeFileSync(join(pages, name), text);
}
