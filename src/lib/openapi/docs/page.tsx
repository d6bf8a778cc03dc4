import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { Described } from '../document.ts';
import type { Document } from '../openapi.ts';
import { Words } from './markdown.tsx';
import { Body, Code, Method, Operation } from './operation.tsx';
import { style } from './style.ts';

const styleHash = createHash('sha256').update(style).digest('base64');

/** Everything the page needs is in it: no script, no font, no picture, nothing from anywhere else. */
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** In the page, so that the browser asks for no /favicon.ico. */
const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" rx="2" fill="#1d55c4"/></svg>')}`;

/** Headers of the page. */
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

/** Without that of the events, which are no operations and have a section of their own. */
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
