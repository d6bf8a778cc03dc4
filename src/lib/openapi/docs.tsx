import { createHash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { html } from 'hono/html';
import type { Described, DescribedAnswer, Document } from './openapi.ts';
import type { Schema } from './operation.ts';

/** The look of the documentation page; it follows the browser's colour scheme. */
const style = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1c2330, #e4e8ef);
  --soft: light-dark(#566074, #a2adbf);
  --paper: light-dark(#ffffff, #12161d);
  --side: light-dark(#f5f7fa, #171c25);
  --line: light-dark(#dfe4ec, #2a3240);
  --block: light-dark(#f2f4f8, #1b212c);
  --link: light-dark(#1d55c4, #83aefc);
  --get: light-dark(#0a6a4a, #62d2a5);
  --post: light-dark(#1d55c4, #83aefc);
  --put: light-dark(#8a5300, #efb45c);
  --delete: light-dark(#b3261e, #ff938b);
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body {
  margin: 0; display: grid; grid-template-columns: 18rem minmax(0, 1fr);
  color: var(--ink); background: var(--paper);
  font: 16px/1.55 system-ui, sans-serif;
}
nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 3rem;
  background: var(--side); border-right: 1px solid var(--line); font-size: .875rem;
}
nav h2, .contents h2 { margin: 1.5rem 0 .35rem; font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); }
nav ul, .contents ul { list-style: none; margin: 0; padding: 0; }
nav li a, .contents li a { display: block; padding: .2rem .4rem; margin: 0 -.4rem; border-radius: .3rem; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
nav li a:hover, .contents li a:hover { background: var(--line); }
nav .home, .contents .home { font-weight: 700; font-size: 1.1rem; color: inherit; text-decoration: none; }
nav .method, .contents .method { font-size: .65rem; }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 62rem; }
.contents { display: none; margin-bottom: 1.5rem; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--side); }
.contents summary { font-weight: 600; cursor: pointer; }
h1 { margin: 0 0 1rem; font-size: 2rem; line-height: 1.2; }
main > section > h2 { margin: 4rem 0 .5rem; padding-bottom: .4rem; border-bottom: 2px solid var(--line); font-size: 1.5rem; }
h3, main > h2 { margin: 2rem 0 .3rem; font-size: 1.1rem; }
h4 { margin: 1.4rem 0 .4rem; font-size: .9rem; }
p { margin: .4rem 0 .8rem; }
a { color: var(--link); }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: .2rem; }
.plain { font-weight: 400; color: var(--soft); }
.operation { margin: 1.5rem 0 0; padding: 1px 0 1.5rem; border-bottom: 1px solid var(--line); }
.operation > h3 { display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
.summary { font-size: 1.05rem; }
.path { overflow-wrap: anywhere; font-weight: 600; }
.self { margin-left: auto; text-decoration: none; color: var(--soft); }
.method { font: 700 .75rem/1 ui-monospace, monospace; }
.get { color: var(--get); } .post { color: var(--post); } .put, .patch { color: var(--put); } .delete { color: var(--delete); }
.badge { margin-left: .6rem; padding: .1rem .5rem; border: 1px solid currentColor; border-radius: 1rem; font-size: .75rem; color: var(--put); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
p code, dd code { padding: .1em .3em; border-radius: .25rem; background: var(--block); }
pre { margin: .4rem 0; padding: .9rem 1rem; overflow-x: auto; max-height: 28rem; border-radius: .5rem; background: var(--block); font-size: .8125rem; line-height: 1.5; }
pre code { font-size: 1em; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .875rem; }
th, td { padding: .4rem .75rem .4rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; }
.kind { color: var(--soft); }
.must { color: var(--delete); font-size: .75rem; white-space: nowrap; }
dl { margin: .3rem 0; font-size: .875rem; }
dl > div { display: grid; grid-template-columns: 3.5rem 1fr; padding: .2rem 0; }
dl.headers > div { grid-template-columns: 15rem 1fr; }
dt { font-weight: 600; } dd { margin: 0; color: var(--soft); }
@media (max-width: 52rem) {
  body { display: block; }
  nav { display: none; }
  .contents { display: block; }
  dl.headers > div { grid-template-columns: 1fr; }
}
@media print { nav, .contents { display: none; } body { display: block; } pre { max-height: none; } }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** Everything the page needs is in it: no script, no font, no picture, nothing from anywhere else. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** In the page, so that the browser asks for no /favicon.ico. */
const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="#1d55c4"/></svg>')}`;

export const docsHeaders = {
  'Content-Type': 'text/html; charset=UTF-8',
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** The document as a page for people. Its lines to paste call the service at `origin`. */
export const renderDocs = (document: Document, origin: string) =>
  String(html`<!doctype html>${<Page document={document} origin={origin} />}`);
type Shown = { document: Document; origin: string };
type Entry = { method: string; path: string; of: Described };

const Page = ({ document, origin }: Shown) => {
  const entries = entriesOf(document);
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${document.info.title} API`}</title>
        <link rel="icon" href={icon} />
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <nav aria-label="Operations">
          <Contents document={document} entries={entries} />
        </nav>
        <main>
          <details class="contents">
            <summary>Contents</summary>
            <Contents document={document} entries={entries} />
          </details>
          <h1>
            {document.info.title} <span class="plain">API v{document.info.version}</span>
          </h1>
          <p>
            The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI{' '}
            {document.openapi}).
          </p>
          <Words text={document.info.description} />
          {sectionsOf(document, entries).map((tag) => (
            <section>
              <h2>{tag.name}</h2>
              <Words text={tag.description} />
              {entries
                .filter(({ of }) => of.tags.includes(tag.name))
                .map(({ of, method, path }) => (
                  <Operation
                    of={of}
                    at={{ method, path, origin, schemas: document.components.schemas }}
                  />
                ))}
            </section>
          ))}
          <Events document={document} />
        </main>
      </body>
    </html>
  );
};

/** All tags except "Events". */
const sectionsOf = (document: Document, entries: readonly Entry[]) =>
  document.tags.filter(({ name }) => entries.some(({ of }) => of.tags.includes(name)));

const Contents = ({ document, entries }: { document: Document; entries: Entry[] }) => (
  <>
    <a class="home" href="/docs">
      {document.info.title}
    </a>
    {sectionsOf(document, entries).map(({ name }) => (
      <>
        <h2>{name}</h2>
        <ul>
          {entries
            .filter(({ of }) => of.tags.includes(name))
            .map(({ of, method }) => (
              <li>
                <a href={`#${of.operationId}`}>
                  <Method of={method} /> {of.summary}
                </a>
              </li>
            ))}
        </ul>
      </>
    ))}
    <h2>Events</h2>
    <ul>
      {Object.keys(document.webhooks).map((type) => (
        <li>
          <a href={`#${type}`}>{type}</a>
        </li>
      ))}
    </ul>
  </>
);

const Events = ({ document: { webhooks, components } }: { document: Document }) => {
  const [first] = Object.values(webhooks);
  return (
    <section>
      <h2>Events</h2>
      <p>
        A webhook is sent these by POST. Check the signature over the raw body, answer 2xx within 10
        seconds, and ignore fields you do not know.
      </p>
      <h3>Headers of every delivery</h3>
      <dl class="headers">
        {first?.post.parameters.map(({ name, description }) => (
          <div>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
      {Object.entries(webhooks).map(([type, { post }]) => (
        <section class="operation" id={type}>
          <h3>
            <code class="path">{type}</code>
          </h3>
          <p class="summary">{post.description}</p>
          <Body of={post} name={type} schemas={components.schemas} />
          <Code text={JSON.stringify(examplePayload(post), null, 2)} />
        </section>
      ))}
    </section>
  );
};

const examplePayload = ({ requestBody }: Described): unknown =>
  requestBody?.content['application/json']?.example;

const entriesOf = ({ paths }: Document): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, of]) => ({ method, path, of })),
  );

type Place = { method: string; path: string; origin: string; schemas: Schemas };

/** One operation: what it takes, what it answers, and a line to paste. */
const Operation = ({ of, at }: { of: Described; at: Place }) => (
  <section class="operation" id={of.operationId}>
    <h3>
      <Method of={at.method} /> <code class="path">{at.path}</code>
      <a class="self" href={`#${of.operationId}`} aria-label={`Link to ${of.summary}`}>
        #
      </a>
    </h3>
    <p class="summary">
      {of.summary}
      {needsWrite(of) ? <span class="badge">write key</span> : null}
    </p>
    {of.description ? <Words text={of.description} /> : null}
    <Parameters of={of} at={at} />
    <Body of={of} name={of.summary} schemas={at.schemas} />
    <h4>Request</h4>
    <Code text={curl(of, at)} />
    {Object.entries(of.responses)
      .filter(([status]) => status < '400')
      .map(([status, answer]) => (
        <Success name={of.summary} status={status} answer={answer} schemas={at.schemas} />
      ))}
    <Refusals of={of} />
  </section>
);

const Method = ({ of }: { of: string }) => <span class={`method ${of}`}>{of.toUpperCase()}</span>;

const Code = ({ text }: { text: string }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);

const Parameters = ({ of, at }: { of: Described; at: Place }) =>
  of.parameters.length === 0 ? null : (
    <>
      <h4>Parameters</h4>
      <Table
        name={`Parameters of ${of.summary}`}
        rows={of.parameters.map(({ name, in: where, required, description = '', schema }) => ({
          path: where === 'path' ? `{${name}}` : name,
          words: where === 'header' ? 'header' : wordsOf(schema, at.schemas),
          required,
          about: description,
        }))}
      />
    </>
  );

const Body = ({ of, name, schemas }: { of: Described; name: string; schemas: Schemas }) => {
  const schema = of.requestBody?.content['application/json']?.schema;
  return schema ? (
    <>
      <h4>Body</h4>
      <Table name={`Body of ${name}`} rows={rowsOf(schema, schemas)} />
    </>
  ) : null;
};

type OperationProps = { name: string; status: string; answer: DescribedAnswer; schemas: Schemas };

const Success = ({ name, status, answer, schemas }: OperationProps) => {
  const { schema, example } = answer.content?.['application/json'] ?? {};
  return (
    <>
      <h4>
        {status} {STATUS_CODES[status]}: <span class="plain">{answer.description}</span>
      </h4>
      {schema ? (
        <Table
          name={`Answer ${status} of ${name}`}
          rows={rowsOf(schema, schemas).map((row) => ({ ...row, required: false }))}
        />
      ) : null}
      {example === undefined ? null : <Code text={JSON.stringify(example, null, 2)} />}
    </>
  );
};

const Refusals = ({ of }: { of: Described }) => (
  <>
    <h4>Refusals</h4>
    <dl class="refusals">
      {Object.entries(of.responses)
        .filter(([status]) => status >= '400')
        .map(([status, { description }]) => (
          <div>
            <dt>{status}</dt>
            <dd>{description}</dd>
          </div>
        ))}
    </dl>
  </>
);

const needsWrite = ({ security = [] }: Described) => security[0]?.['apiKey']?.[0] === 'write';

/** The operation as a line to paste, with the values of its examples. */
function curl({ parameters, requestBody, security = [] }: Described, at: Place) {
  const exampleOf = (name: string) => parameters.find((one) => one.name === name)?.example ?? name;
  const path = at.path.replace(/\{(\w+)\}/g, (_, name) => exampleOf(name));
  const { example } = requestBody?.content['application/json'] ?? {};
  const lines = [
    `curl${at.method === 'get' ? '' : ` -X ${at.method.toUpperCase()}`} '${at.origin}${path}'`,
    ...(security.length > 0 ? [`-H "X-API-Key: $API_KEY"`] : []),
    ...(example === undefined
      ? []
      : [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`,
        ]),
    ...(requestBody && 'message/rfc822' in requestBody.content
      ? [`-H 'Content-Type: message/rfc822'`, '--data-binary @message.eml']
      : []),
  ];
  return lines.join(' \\\n  ');
}

const deepest = 5;

type Row = { path: string; words: string; required: boolean; about: string };

const Table = ({ name, rows }: { name: string; rows: readonly Row[] }) =>
  rows.length === 0 ? null : (
    // Wider than a narrow screen: it scrolls by itself, also by the keys.
    <section class="scroll" tabindex={0} aria-label={name}>
      <table>
        <tbody>
          {rows.map(({ path, words, required, about }) => (
            <tr>
              <th scope="row">
                <code>{path}</code>
                {required ? <span class="must"> required</span> : null}
              </th>
              <td class="kind">{words}</td>
              <td>{about}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );

/** The fields of an object, also of those inside it, one a row under its whole path. */
export function rowsOf(schema: Schema, schemas: Schemas, prefix = ''): Row[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  if (prefix.split(/[.[]/).length > deepest) return [];
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = {
      path,
      words: wordsOf(field, schemas),
      required: required.includes(name),
      about: field.description ?? resolve(field, schemas).description ?? '',
    };
    const inner = innerOf(field, schemas);
    return [row, ...(inner ? rowsOf(inner.schema, schemas, `${path}${inner.joint}`) : [])];
  });
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

/** A schema in a few words: `integer, -100 to 100, or null`. */
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

type Schemas = Readonly<Record<string, Schema>>;

const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** Text in the few marks our own descriptions use: paragraphs, `## ` headings and `code`. */
const Words = ({ text }: { text: string }) => (
  <>
    {text.split(/\n\n+/).map((block) => {
      const [first = '', ...rest] = block.split('\n');
      if (!first.startsWith('## ')) return <Paragraph text={block} />;
      return (
        <>
          <h2>{first.slice(3)}</h2>
          <Paragraph text={rest.join('\n')} />
        </>
      );
    })}
  </>
);

const Paragraph = ({ text }: { text: string }) => (
  <p>{text.split('`').map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part))}</p>
);
