import { STATUS_CODES } from 'node:http';
import type { Described, DescribedAnswer } from '../document.ts';
import { AnswerFields, Fields, Table, wordsOf } from './fields.tsx';
import { Words } from './markdown.tsx';
import type { Schemas } from './resolve.ts';

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

export const Body = ({ of, name, schemas }: { of: Described; name: string; schemas: Schemas }) => {
  const schema = of.requestBody?.content['application/json']?.schema;
  return schema ? (
    <>
      <h4>Body</h4>
      <Fields name={`Body of ${name}`} schema={schema} schemas={schemas} />
    </>
  ) : null;
};

type Shown = { name: string; status: string; answer: DescribedAnswer; schemas: Schemas };

const Success = ({ name, status, answer, schemas }: Shown) => {
  const { schema, example } = answer.content?.['application/json'] ?? {};
  return (
    <>
      <h4>
        {status} {STATUS_CODES[status]}: <span class="plain">{answer.description}</span>
      </h4>
      {schema ? (
        <AnswerFields name={`Answer ${status} of ${name}`} schema={schema} schemas={schemas} />
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
