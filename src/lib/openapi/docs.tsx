import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { html } from 'hono/html';
import type { Described, Document } from './openapi.ts';
import type { Schema } from './operation.ts';

const style = `
:root { color-scheme: light dark; --soft: light-dark(#566074, #a2adbf); --line: light-dark(#dfe4ec, #2a3240); color: light-dark(#12151d, #eceef3); background: light-dark(#fff, #0d1015); }
a { color: light-dark(#3a4ce0, #98a6ff); }
:is(nav, h3) a { color: inherit; text-decoration: none; }
a:hover { text-decoration: underline; }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 62rem; font: .9375rem/1.55 system-ui, sans-serif; }
h1, h2, h3 { line-height: 1.3; letter-spacing: -.02em; }
h2 { margin-top: 3rem; padding-bottom: .375rem; border-bottom: 1px solid var(--line); }
ul { padding-left: 1.25rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; overflow-wrap: anywhere; }
pre { padding: 1rem; max-height: 28rem; overflow: auto; border-radius: .5rem; background: light-dark(#f3f4f7, #171b23); overflow-wrap: normal; }
.operation { padding-bottom: 1rem; border-bottom: 1px solid var(--line); }
.soft, dd { color: var(--soft); font-weight: 400; }
.scroll { overflow-x: auto; }
.scroll code { overflow-wrap: break-word; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; }
th, td { padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
dt { font-weight: 600; }
dd { margin: 0 0 .4rem; }
.method { display: inline-block; min-width: 3.5rem; font: 700 .75rem ui-monospace, monospace; text-transform: uppercase; }
.get { color: light-dark(#1b5e9c, #8ec5ff); }
.post { color: light-dark(#1a6b34, #7ddc9a); }
.put, .patch { color: light-dark(#8a4b00, #ffc078); }
.delete { color: light-dark(#b3261e, #ff9d96); }
nav li { display: flex; gap: .25rem; align-items: baseline; }
nav ul { padding: 0; }
@media (max-width: 40rem) {
  thead { position: absolute; clip-path: inset(50%); }
  tbody, tr, th, td { display: block; }
  tr { padding: .5rem 0; border-top: 1px solid var(--line); }
  th, td { padding: 0; border: 0; overflow-wrap: anywhere; }
  th code, td:first-child code { font-weight: 600; }
}
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 20rem minmax(0, 1fr); gap: 2.5rem; max-width: 86rem; }
  nav { position: sticky; top: 0; max-height: 100vh; overflow: auto; font-size: .875rem; }
  @supports selector(::details-content) {
    nav summary { display: none; }
    nav details::details-content { content-visibility: visible; }
  }
}
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** The page loads nothing. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="#1d55c4"/></svg>')}`;

export const docsHeaders = {
  'Content-Type': 'text/html; charset=UTF-8',
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Renders the API document as HTML. Its curl examples call `origin`. */
export const renderDocs = (document: Document, origin: string) =>
  String(html`<!doctype html>${<Page document={document} origin={origin} />}`);

type Entry = { method: string; path: string; of: Described };
type Schemas = Readonly<Record<string, Schema>>;

const Page = ({ document, origin }: { document: Document; origin: string }) => {
  const { info, components, webhooks } = document;
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]): Entry => ({ method, path, of })),
  );
  const entriesOf = (tag: string) => entries.filter(({ of }) => of.tags.includes(tag));
  const tags = document.tags.filter(({ name }) => entriesOf(name).length > 0);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>{`${info.title} API`}</title>
        <link rel="icon" href={icon} />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        {/* Collapsed on small screens, always open next to the page on wide ones. */}
        <nav aria-label="Contents">
          <details>
            <summary>Contents</summary>
            {tags.map(({ name }) => (
              <>
                <b>{name}</b>
                <ul>
                  {entriesOf(name).map(({ method, of }) => (
                    <li>
                      <Method name={method} />
                      <a href={`#${of.operationId}`}>{of.summary}</a>
                    </li>
                  ))}
                </ul>
              </>
            ))}
            <b>Events</b>
            <ul>
              {Object.keys(webhooks).map((type) => (
                <li>
                  <a href={`#${type}`}>{type}</a>
                </li>
              ))}
            </ul>
          </details>
        </nav>
        <main>
          <h1>
            {info.title} <span class="soft">API v{info.version}</span>
          </h1>
          <p>
            Machine-readable: <a href="/openapi.json">openapi.json</a> (OpenAPI {document.openapi}).
          </p>
          <Words text={info.description} />
          {tags.map(({ name, description }) => (
            <section>
              <h2>{name}</h2>
              <Words text={description} />
              {entriesOf(name).map((entry) => (
                <Operation {...entry} origin={origin} schemas={components.schemas} />
              ))}
            </section>
          ))}
          <Events document={document} />
        </main>
      </body>
    </html>
  );
};

const Method = ({ name }: { name: string }) => <span class={`method ${name}`}>{name}</span>;

const Events = ({ document: { webhooks, components } }: { document: Document }) => (
  <section>
    <h2>Events</h2>
    <p>
      A webhook receives events by POST. Verify the signature over the raw body, respond with 2xx
      within 10 seconds, and ignore unknown fields.
    </p>
    <h3>Headers of every delivery</h3>
    <dl>
      {Object.values(webhooks)[0]?.post.parameters.map(({ name, description }) => (
        <>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <Line text={description} />
          </dd>
        </>
      ))}
    </dl>
    {Object.entries(webhooks).map(([type, { post }]) => (
      <section class="operation" id={type}>
        <h3>
          <code>{type}</code>
        </h3>
        <Paragraph text={post.description} />
        <Body of={post} schemas={components.schemas} />
        <Code
          text={JSON.stringify(post.requestBody?.content['application/json']?.example, null, 2)}
        />
      </section>
    ))}
  </section>
);

type OperationProps = Entry & { origin: string; schemas: Schemas };

/** Parameters, body, a curl example and answers of an operation. */
const Operation = ({ method, path, of, origin, schemas }: OperationProps) => {
  const responses = Object.entries(of.responses);
  return (
    <section class="operation" id={of.operationId}>
      <h3>
        <a href={`#${of.operationId}`}>{of.summary}</a>
      </h3>
      <p>
        <Method name={method} /> <code>{path}</code>
        {of.security?.[0]?.['apiKey']?.[0] === 'write' ? (
          <span class="soft"> requires a write key</span>
        ) : null}
      </p>
      {of.description ? <Words text={of.description} /> : null}
      <Table
        title="Parameters"
        name={`Parameters of ${of.summary}`}
        rows={of.parameters.map(({ name, in: where, required, description = '', schema }) => ({
          path: where === 'path' ? `{${name}}` : name,
          words: where === 'header' ? 'header' : wordsOf(schema, schemas),
          required,
          about: description,
        }))}
      />
      <Body of={of} schemas={schemas} />
      <h4>Request</h4>
      <Code text={curl(of, { method, url: `${origin}${path}` })} />
      {responses
        .filter(([status]) => status < '400')
        .map(([status, { description, content }]) => {
          const { schema = {}, example } = content?.['application/json'] ?? {};
          const rows = rowsOf(schema, schemas).map((row) => ({ ...row, required: false }));
          return (
            <>
              <h4>
                {status} {STATUS_CODES[status]}:{' '}
                <span class="soft">
                  <Line text={description} />
                </span>
              </h4>
              <Table name={`Response ${status} of ${of.summary}`} rows={rows} />
              {example === undefined ? null : <Code text={JSON.stringify(example, null, 2)} />}
            </>
          );
        })}
      <h4>Errors</h4>
      <dl>
        {responses
          .filter(([status]) => status >= '400')
          .map(([status, { description }]) => (
            <>
              <dt>{status}</dt>
              <dd>
                <Line text={description} />
              </dd>
            </>
          ))}
      </dl>
    </section>
  );
};

const Code = ({ text }: { text: string }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);

const Body = ({ of, schemas }: { of: Described; schemas: Schemas }) => {
  const { schema = {} } = of.requestBody?.content['application/json'] ?? {};
  return <Table title="Body" name={`Body of ${of.summary}`} rows={rowsOf(schema, schemas)} />;
};

/** A curl command with the example values. */
export function curl(
  { parameters, requestBody, security = [] }: Described,
  { method, url }: { method: string; url: string },
) {
  const exampleOf = (name: string) =>
    String(parameters.find((one) => one.name === name)?.example ?? name);
  const filled = url.replace(/\{(\w+)\}/g, (_, name) => exampleOf(name));
  const lines = [`curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${filled}'`];
  if (security.length > 0) lines.push(`-H "X-API-Key: $API_KEY"`);
  const { example } = requestBody?.content['application/json'] ?? {};
  if (example !== undefined) {
    const json = JSON.stringify(example).replaceAll("'", "'\\''");
    lines.push(`-H 'Content-Type: application/json'`, `-d '${json}'`);
  }
  if (requestBody && 'message/rfc822' in requestBody.content) {
    lines.push(`-H 'Content-Type: message/rfc822'`, '--data-binary @message.eml');
  }
  return lines.join(' \\\n  ');
}

const maxDepth = 5;

type Row = { path: string; words: string; required: boolean; about: string };

type TableProps = { title?: string; name: string; rows: readonly Row[] };

/** Scrolls on narrow screens, by keyboard too. */
const Table = ({ title, name, rows }: TableProps) =>
  rows.length === 0 ? null : (
    <>
      {title ? <h4>{title}</h4> : null}
      <section class="scroll" tabindex={0} aria-label={name}>
        <table>
          <tbody>
            {rows.map(({ path, words, required, about }) => (
              <tr>
                <th scope="row">
                  <code>{path}</code>
                  {required ? <span class="soft"> required</span> : null}
                </th>
                <td class="soft">{words}</td>
                <td>
                  <Line text={about} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );

/** One row for each field of an object and of nested objects, with its path. */
export function rowsOf(schema: Schema, schemas: Schemas, prefix = ''): Row[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  if (prefix.split(/[.[]/).length > maxDepth) return [];
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = {
      path,
      words: wordsOf(field, schemas),
      required: required.includes(name),
      about: aboutOf(field, schemas),
    };
    const inner = innerOf(field, schemas);
    return [row, ...(inner ? rowsOf(inner.schema, schemas, `${path}${inner.joint}`) : [])];
  });
}

/** A nullable field is described by its other kind. */
function aboutOf(field: Schema, schemas: Schemas): string {
  const { description, anyOf = [] } = { ...resolve(field, schemas), ...field };
  return description ?? anyOf.map((one) => aboutOf(one, schemas)).find((about) => about) ?? '';
}

function innerOf(field: Schema, schemas: Schemas) {
  const [first] = choices(field, schemas);
  if (first?.type === 'object') return { schema: first, joint: '.' };
  const items = first?.type === 'array' && first.items && choices(first.items, schemas)[0];
  return items && items.type === 'object' ? { schema: items, joint: '[].' } : undefined;
}

function choices(field: Schema, schemas: Schemas): Schema[] {
  const resolved = resolve(field, schemas);
  const several = resolved.anyOf ?? resolved.oneOf;
  return several ? several.flatMap((one) => choices(one, schemas)) : [resolved];
}

/** A short description: `integer, -100 to 100 or null`. */
export function wordsOf(field: Schema, schemas: Schemas): string {
  const kinds = choices(field, schemas).map((one) => kindOf(one, schemas));
  const fallback = field.default ?? null;
  const words = [...new Set(kinds)].join(' or ');
  return fallback === null || fallback === '' || typeof fallback === 'object'
    ? words
    : `${words}, default ${fallback}`;
}

function kindOf(schema: Schema, schemas: Schemas): string {
  if ('const' in schema) return String(schema.const);
  if (schema.enum) return schema.enum.join(' | ');
  if (schema.type === 'array') return `list of ${wordsOf(schema.items ?? {}, schemas)}`;
  const kind = schema.format ?? schema.type ?? 'anything';
  return [kind, rangeOf(schema)].filter(Boolean).join(', ');
}

function rangeOf({ minimum, maximum, maxLength }: Schema): string {
  if (maxLength !== undefined) return `at most ${maxLength} characters`;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return minimum === undefined ? '' : `${minimum} or more`;
}

const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** Renders the Markdown of our descriptions: paragraphs, `## ` headings, tables and `code`. */
const Words = ({ text }: { text: string }) => (
  <>
    {text.split(/\n\n+/).map((block) => {
      const [first = '', ...rest] = block.split('\n');
      if (!first.startsWith('## ')) return <Paragraph text={block} />;
      return (
        <>
          <h2>{first.slice(3)}</h2>
          {rest[0]?.startsWith('| ') ? (
            <MarkdownTable name={first.slice(3)} lines={rest} />
          ) : (
            <Paragraph text={rest.join('\n')} />
          )}
        </>
      );
    })}
  </>
);

const Paragraph = ({ text }: { text: string | undefined }) => (
  <p>
    <Line text={text} />
  </p>
);

const Line = ({ text = '' }: { text: string | undefined }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</>
);

/** The second line separates the heads from the rows. */
function MarkdownTable({ name, lines }: { name: string; lines: readonly string[] }) {
  const [heads = [], , ...rows] = lines.map((line) => line.slice(2, -2).split(' | '));
  return (
    <section class="scroll" tabindex={0} aria-label={name}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th scope="col">{head}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {cells.map((cell) => (
                <td>
                  <Line text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
