import { readFileSync } from 'node:fs';

const staged = new URL('../../../.cache/site/', import.meta.url);
const { version, sidebar } = JSON.parse(readFileSync(new URL('site.json', staged), 'utf8'));

/** Makes the anchors of GitHub, so that links work in both places. */
const slugify = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** VitePress expects a logo of 320 pixels, and the start page has a picture of Home. */
const wideHero = `
  .VPHero .image-container { width: auto !important; height: auto !important; transform: none !important; }
  .VPHero .image-src {
    position: static !important; transform: none !important;
    max-width: 100% !important; max-height: none !important;
    border: 1px solid var(--vp-c-divider); border-radius: 8px;
  }
  .VPHero .image { margin: 0 0 24px !important; }`;

// biome-ignore lint/style/noDefaultExport: VitePress reads the default export.
export default {
  title: 'askback',
  description: 'Self-hosted survey feedback: NPS, CSAT, CES, stars and thumbs',
  lang: 'en',
  srcDir: new URL('pages', staged).pathname,
  outDir: new URL('../../../dist/site', import.meta.url).pathname,
  cacheDir: new URL('cache', staged).pathname,
  cleanUrls: false,
  head: [
    ['link', { rel: 'icon', href: '/icon.svg', type: 'image/svg+xml' }],
    ['style', {}, wideHero],
  ],
  markdown: {
    anchor: { slugify },
    // Placeholders such as {{name}} are text, not expressions of Vue.
    config(md) {
      md.core.ruler.push('verbatim', ({ tokens }) => {
        for (const { children } of tokens) {
          for (const token of children ?? [])
            if (token.type === 'code_inline') token.attrSet('v-pre', '');
        }
      });
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [
      { text: 'Install', link: '/install' },
      { text: 'API', link: '/api/' },
      { text: version, link: '/changelog' },
    ],
    footer: { message: 'MIT licensed. This site loads nothing from other servers.' },
  },
};
