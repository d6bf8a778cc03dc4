import PostalMime from 'postal-mime';
import { mailFillings, type SurveyMail, surveyMail } from '../../../src/letters/letter.ts';
import { compose } from '../../../src/lib/smtp/message.ts';

type Own = {
  survey?: Partial<SurveyMail['survey']>;
  organization?: Partial<SurveyMail['organization']>;
  name?: string | null;
  properties?: Record<string, unknown>;
};

export const sendId = '0b6f8f0e-5a52-4c58-9f39-1f2f3a4b5c6d';

/** A survey's mail as Ada receives it, with changes by the test. */
export async function arrivedMail({
  survey,
  organization,
  name = 'Ada',
  properties = {},
}: Own = {}) {
  const mail: SurveyMail = {
    survey: {
      id: '5f0c7f64-1111-4222-8333-444455556666',
      type: 'nps',
      audience: null,
      question_text: 'How likely are you to recommend us?',
      subject: null,
      intro: null,
      language: 'en',
      from_name: 'Baker & Sons',
      from_email: 'hello@baker.example',
      reply_to: 'reply@baker.example',
      ...survey,
    },
    organization: {
      id: '9d3c7f64-1111-4222-8333-444455556666',
      name: 'Baker & Sons',
      color: '#2f6fed',
      ...organization,
    },
    publicUrl: 'https://ask.example',
  };
  const contact = { sendId, email: 'ada@example.com', name, token: 'tok_1', properties };
  const filling = mailFillings(mail)(contact, new Date('2026-03-01T08:09:10Z'));
  const raw = compose(surveyMail(mail))(filling);
  const { text = '', html = '', ...rest } = await PostalMime.parse(raw);
  return { ...rest, text, html, raw };
}
