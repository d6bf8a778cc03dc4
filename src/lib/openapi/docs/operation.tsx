import { STATUS_CODES } from 'node:http';
import type { Described, DescribedAnswer } from '../document.ts';
import type { Schema } from '../json-schema.ts';
import { AnswerFields, Fields, Table, wordsOf } from './fields.tsx';
import { Words } from './markdown.tsx';
import { essential, type Schemas, sample } from './sample.ts';

export type Place = { method: string; path: string; origin: string; schemas: Schemas };

/** One operation: what it takes, what it answers, and a line to paste. */
export const Operation = ({ of, at }: { of: Described; at: Place }) => (
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
    <Body of={of} schemas={at.schemas} />
    <h4>Request</h4>
    <Code text={curl(of, at)} />
    {Object.entries(of.responses)
      .filter(([status]) => status < '400')
      .map(([status, answer]) => (
        <Success status={status} answer={answer} schemas={at.schemas} />
      ))}
    <Refusals of={of} />
  </section>
);

export const Method = ({ of }: { of: string }) => (
  <span class={`method ${of}`}>{of.toUpperCase()}</span>
);

export const Code = ({ text }: { text: string }) => (
  <pre tabindex={0}>
    <code>{text}</code>
  </pre>
);

const Parameters = ({ of, at }: { of: Described; at: Place }) =>
  of.parameters.length === 0 ? null : (
    <>
      <h4>Parameters</h4>
      <Table
        rows={of.parameters.map(({ name, in: where, required, description = '', schema }) => ({
          path: where === 'path' ? `{${name}}` : name,
          words: where === 'header' ? 'header' : wordsOf(schema, at.schemas),
          required,
          about: description,
        }))}
      />
    </>
  );

export const Body = ({ of, schemas }: { of: Described; schemas: Schemas }) => {
  const schema = of.requestBody?.content['application/json']?.schema;
  return schema ? (
    <>
      <h4>Body</h4>
      <Fields schema={schema} schemas={schemas} />
    </>
  ) : null;
};

type Shown = { status: string; answer: DescribedAnswer; schemas: Schemas };

const Success = ({ status, answer, schemas }: Shown) => {
  const schema: Schema | undefined = answer.content?.['application/json'].schema;
  return (
    <>
      <h4>
        {status} {STATUS_CODES[status]}: <span class="plain">{answer.description}</span>
      </h4>
      {schema ? <AnswerFields schema={schema} schemas={schemas} /> : null}
      {schema ? <Code text={JSON.stringify(sample(schema, schemas), null, 2)} /> : null}
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

function curl({ parameters, requestBody }: Described, { method, path, origin, schemas }: Place) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(sample({ type: 'string', format: 'uuid' }, schemas, name)),
  );
  const query = parameters
    .filter(({ in: where, required }) => where === 'query' && required)
    .map(({ name, schema }) => `${name}=${sample(schema, schemas, name)}`);
  const url = `${origin}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`;
  const schema = requestBody?.content['application/json']?.schema;
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${url}'`,
    `-H "X-API-Key: $ASKBACK_KEY"`,
    ...(schema
      ? [
          `-H 'Content-Type: application/json'`,
          `-d '${JSON.stringify(sample(essential(schema, schemas), schemas)).replaceAll("'", "'\\''")}'`,
        ]
      : []),
    ...(requestBody && 'message/rfc822' in requestBody.content
      ? [`-H 'Content-Type: message/rfc822'`, '--data-binary @message.eml']
      : []),
  ];
  return lines.join(' \\\n  ');
}
