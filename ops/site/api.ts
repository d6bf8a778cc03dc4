import { STATUS_CODES } from 'node:http';
import { curl, rowsOf, wordsOf } from '../../src/lib/openapi/docs.tsx';
import type { Described, Document } from '../../src/lib/openapi/openapi.ts';
import { withoutReferences } from '../../src/lib/openapi/references.ts';
import document from '../openapi.json' with { type: 'json' };

const { info, tags, paths, webhooks, components } = withoutReferences(
  document as unknown as Document,
);
const { schemas } = components;
const origin = 'https://feedback.example.com';
type Row = ReturnType<typeof rowsOf>[number];

/** The API reference as Markdown: a page for each tag, one for events, and an introduction. */
export function apiPages(): { name: string; title: string; text: string }[] {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]) => ({ method, path, of })),
  );
  const pages = tags
    .map(({ name, description }) => ({
      name: name.toLowerCase().replaceAll(' ', '-'),
      title: name,
      operations: entries.filter(({ of }) => of.tags.includes(name)),
      description,
    }))
    .filter(({ operations }) => operations.length > 0)
    .map(({ operations, description, ...page }) => ({
      ...page,
      text: [description, ...operations.map(operationText)].join('\n\n'),
    }));
  const list = [...pages, { name: 'events', title: 'Events', text: eventsText() }];
  const contents = list.map(({ name, title }) => `- [${title}](/api/${name}.md)`).join('\n');
  const about = info.description.replaceAll('](/', `](${origin}/`);
  return [{ name: 'index', title: 'API reference', text: `${about}\n\n${contents}` }, ...list];
}

function operationText({ method, path, of }: { method: string; path: string; of: Described }) {
  const answers = Object.entries(of.responses);
  const parts = [
    `## ${of.summary} {#${of.operationId}}`,
    `\`${method.toUpperCase()} ${path}\`${needsWriteKey(of) ? ' requires a write key.' : ''}`,
    of.description ?? '',
    ...titled(
      'Parameters',
      table(
        of.parameters.map(({ name, in: where, required = false, description = '', schema }) => ({
          path: where === 'path' ? `{${name}}` : name,
          words: where === 'header' ? 'header' : wordsOf(schema, schemas),
          required,
          about: description,
        })),
      ),
    ),
    ...bodyText(of),
    ...titled('Request', fence('sh', curl(of, { method, url: origin + path }))),
    ...answers
      .filter(([status]) => status < '400')
      .flatMap(([status, { description, content }]) => {
        const { schema = {}, example } = content?.['application/json'] ?? {};
        const rows = rowsOf(schema, schemas).map((row) => ({ ...row, required: false }));
        return [
          `### ${status} ${STATUS_CODES[status]} {#${of.operationId}-${status}}`,
          description,
          table(rows),
          example === undefined ? '' : fence('json', JSON.stringify(example, null, 2)),
        ];
      }),
    ...titled(
      'Errors',
      answers
        .filter(([status]) => status >= '400')
        .map(([status, { description }]) => `- **${status}** ${description}`)
        .join('\n'),
    ),
  ];
  return parts.filter(Boolean).join('\n\n');
}

const needsWriteKey = ({ security }: Described) => security?.[0]?.['apiKey']?.[0] === 'write';

function eventsText(): string {
  return Object.entries(webhooks)
    .map(([type, { post }]) =>
      [
        `## \`${type}\` {#${type.replace('.', '-')}}`,
        post.description,
        ...bodyText(post),
        fence(
          'json',
          JSON.stringify(post.requestBody?.content['application/json']?.example, null, 2),
        ),
      ].join('\n\n'),
    )
    .join('\n\n');
}

function bodyText({ requestBody }: Pick<Described, 'requestBody'>): string[] {
  const schema = requestBody?.content['application/json']?.schema;
  return schema ? titled('Body', table(rowsOf(schema, schemas))) : [];
}

/** Bold instead of a heading, because headings of all operations would be the same. */
const titled = (title: string, text: string) => (text ? [`**${title}**`, text] : []);

const fence = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;

const cell = (text: string) =>
  text
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replaceAll('{{', '&#123;&#123;')
    .replaceAll('\n', ' ');

function table(rows: readonly Row[]): string {
  if (rows.length === 0) return '';
  const lines = rows.map(
    ({ path, words, required, about }) =>
      `| \`${path}\`${required ? ' required' : ''} | ${cell(words)} | ${cell(about)} |`,
  );
  return ['| Name | Type | Meaning |', '|---|---|---|', ...lines].join('\n');
}
