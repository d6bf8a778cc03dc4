import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Refusal } from '../../errors.ts';
import { readerOf } from './reader.ts';
import { renderAlone, renderScreen } from './screen.tsx';
import { type ErrorText, errorTexts } from './screen-texts.ts';
import { SendAgain } from './send-again.tsx';

/**
 * A failed request as a screen, with the sentence of its refusal where that was written for the reader. Else a wrong
 * address shows which parameter is wrong: there is no field to show it at. In the frame of the organization where one
 * is open, so that every other place is one press away.
 */
export function showErrorScreen(c: Context, status: ContentfulStatusCode, refusal?: Refusal) {
  const { title, text, way } = textFor(status, refusal?.code);
  const reader = readerOf(c);
  const isSentence = refusal !== undefined && /[.]$/.test(refusal.message);
  const home = reader.organization ? `/o/${reader.organization.slug}` : '/';
  const body = (
    <div class="prose">
      <p>{isSentence ? refusal.message : text}</p>
      {status === 400 && refusal && !isSentence ? (
        <p class="soft">{errorTexts.wrong(refusal.message)}</p>
      ) : null}
      {refusal?.retryInSeconds === undefined ? null : (
        <p>{errorTexts.tryAgain(refusal.retryInSeconds)}</p>
      )}
      {refusal?.code === 'signed_out' || refusal?.code === 'proof_old' ? (
        <SendAgain c={c} after={refusal.code} />
      ) : (
        <p class="actions">
          <a class="button" href={way?.href ?? home}>
            {way?.text ?? errorTexts.toHome}
          </a>
        </p>
      )}
      <p class="small soft">
        {errorTexts.requestId} <code>{c.get('requestId')}</code>
      </p>
    </div>
  );
  if (!reader.member) return renderAlone(c, { title, body, status });
  return renderScreen(c, { title, section: null, body, status });
}

function textFor(status: number, code = ''): ErrorText {
  return (
    errorTexts.byCode[code] ??
    errorTexts.byStatus[status] ??
    errorTexts.byStatus[status < 500 ? 400 : 500]!
  );
}
