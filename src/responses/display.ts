import type { SurveyType } from '../survey-types.ts';
import type { CategoryName } from '../web/app/badges.tsx';
import type { FormState } from '../web/app/forms.tsx';
import type { FilterChoices, OtherResponse, ResponseOrigin } from './screens/paths.ts';

/** A response as the API gives it. */
export type ShownResponse = {
  id: string;
  survey_id: string;
  survey_name: string;
  survey_type: SurveyType;
  score: number;
  category: CategoryName;
  comment: string | null;
  ai_sentiment: string | null;
  ai_themes: string[];
  ai_churn_risk: string | null;
  ai_summary: string | null;
  held: boolean;
  created_at: string;
  contact_email: string | null;
  contact_name: string | null;
  language: string | null;
  properties: Record<string, unknown>;
  tags: { id: string; name: string; color: string }[];
  state: 'open' | 'done' | null;
  owner: string | null;
  notes?: { id: string; text: string; author: string; created_at: string }[];
};

export const personOf = ({ contact_name, contact_email }: ShownResponse) =>
  contact_name ?? contact_email ?? 'Anonymous';

/** The address of a response, and the filters of the list that it was found in. */
export type ResponsePlace = { path: string; query: string };

/** What the page of one response is made of. */
export type DetailProps = {
  response: ShownResponse;
  origin: ResponseOrigin;
  others: readonly OtherResponse[];
  choices: FilterChoices;
  /** The list. */
  path: string;
  /** Its filters, which lead back to it. */
  query: string;
  /** The address of the reader, if its role may change a response. */
  editor: string | null;
  note: FormState;
};
